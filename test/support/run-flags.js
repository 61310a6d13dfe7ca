// @ts-check
/** Parses the flags of `npm run …` programs; ends the process with a sentence if they are invalid. */
import { parseArgs } from 'node:util'

/**
 * Prints a sentence and ends the process with 1.
 *
 * @param {string} sentence
 * @returns {never}
 */
export function exitWithMessage(sentence) {
  console.error(sentence)
  process.exit(1)
}

/**
 * The flags of this process. An unknown flag, or a missing value, ends the process; the message lists the known flags.
 *
 * @template {NonNullable<import('node:util').ParseArgsConfig['options']>} Flags
 * @param {Flags} options
 */
export function readRunFlags(options) {
  try {
    return parseArgs({ options }).values
  } catch (thrown) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (thrown)
    if (!code?.startsWith('ERR_PARSE_ARGS_')) throw thrown
    // Removes Node's advice about arguments that begin with a dash.
    const problem = message.replace(/\.(\n| To specify ).*$/s, '')
    const known = Object.entries(options).map(
      ([name, { type }]) => `--${name}${type === 'string' ? ' …' : ''}`,
    )
    return exitWithMessage(`${problem}; the flags are: ${known.join(', ')}`)
  }
}

/**
 * The whole number that a flag has as its value.
 *
 * @param {string} name of the flag
 * @param {string} text its value
 * @param {number} [min] default 1
 */
export function parseWholeNumber(name, text, min = 1) {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= min && text.trim() !== '') return number
  return exitWithMessage(`--${name} takes a whole number, at least ${min}`)
}
