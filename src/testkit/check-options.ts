/** Validates options of the test kit's functions. An error names the function, the option and the rule. */
import { HookswitchError } from '../errors.js'
import { invalidOption, type Validator } from '../options/validators.js'

/** A fraction of a whole, 0 to 1. */
export const fraction: Validator = (field, value) => {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) {
    throw invalidOption(field, 'must be a number from 0 to 1')
  }
}
export const aFunction: Validator = (field, value) => {
  if (typeof value !== 'function') throw invalidOption(field, 'must be a function')
}
export const nonEmptyText: Validator = (field, value) => {
  if (typeof value !== 'string' || value === '') throw invalidOption(field, 'must be a non-empty string')
}
export const anArray: Validator = (field, value) => {
  if (!Array.isArray(value)) throw invalidOption(field, 'must be an array')
}
/** A seed of `seededRandom`. */
export const aSeed: Validator = (field, value) => {
  if (typeof value !== 'string' && !Number.isFinite(value))
    throw invalidOption(field, 'must be a number or a string')
}

/** The error of a wrong option or argument of a function. */
export const badOption = (functionName: string, field: string, rule: string) =>
  new HookswitchError('InvalidOption', `${functionName}: ${field} ${rule}`, { field })

/**
 * Checks options: none unknown, none of `required` missing, and each valid.
 *
 * @param functionName names the function in the error message
 * @throws `InvalidOption` naming the option
 */
export function checkOptions(
  functionName: string,
  options: unknown,
  validators: Readonly<Record<string, Validator>>,
  required: readonly string[] = [],
): void {
  const invalid = (field: string, message: string) =>
    new HookswitchError('InvalidOption', `${functionName}: ${message}`, { field })
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid('options', 'options must be an object')
  }
  const missing = required.find((name) => (options as Record<string, unknown>)[name] === undefined)
  if (missing !== undefined) throw invalid(missing, `${missing} is required`)
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    try {
      const validate = Object.hasOwn(validators, name) ? validators[name] : undefined
      if (!validate)
        throw invalidOption(name, `is not an option (known: ${Object.keys(validators).join(', ')})`)
      validate(name, value)
    } catch (thrown) {
      const { message, field = name } = thrown as HookswitchError
      throw invalid(field, message)
    }
  }
}
