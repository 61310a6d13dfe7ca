// @ts-check
/** What the runs of `npm run …` are told by flags, and how they refuse it. */
import { parseArgs } from 'node:util'

/**
 * Says in one sentence why there is no run, and ends the process with 1.
 *
 * @param {string} sentence
 * @returns {never}
 */
export function refuse(sentence) {
  console.error(sentence)
  process.exit(1)
}

/**
 * The flags of this process. One that is not known, or has no value where it takes one, is refused with those that are
 * known.
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
    // Node adds advice for words that begin with a dash.
    const said = message.replace(/\.(\n| To specify ).*$/s, '')
    const known = Object.entries(options).map(
      ([name, { type }]) => `--${name}${type === 'string' ? ' …' : ''}`,
    )
    return refuse(`${said}; the flags are: ${known.join(', ')}`)
  }
}

/**
 * @param {string} name of the flag
 * @param {string} text
 * @param {number} [least]
 */
export function wholeFlag(name, text, least = 1) {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number >= least && text.trim() !== '') return number
  return refuse(`--${name} takes a whole number, at least ${least}`)
}
