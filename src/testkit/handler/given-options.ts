import { HookswitchError } from '../../errors.js'
import { type Check, invalid } from '../../option-checks.js'

/** From 0 to 1: a part of a whole. */
export const share: Check = (field, value) => {
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) {
    throw invalid(field, 'must be a number from 0 to 1')
  }
}
export const callable: Check = (field, value) => {
  if (typeof value !== 'function') throw invalid(field, 'must be a function')
}
export const text: Check = (field, value) => {
  if (typeof value !== 'string' || value === '') throw invalid(field, 'must be a text')
}
/** What `seededRandom` takes. */
export const seed: Check = (field, value) => {
  if (typeof value !== 'string' && !Number.isFinite(value)) throw invalid(field, 'must be a number or a text')
}

/**
 * Checks what a function of the testkit was given: nothing unknown, nothing missing, and each option by its check.
 *
 * @param who the function, for the sentence of the error
 * @throws `InvalidOption` naming the option
 */
export function checkGiven(
  who: string,
  given: unknown,
  checks: Readonly<Record<string, Check>>,
  required: readonly string[] = [],
): void {
  const wrong = (field: string, message: string) =>
    new HookswitchError('InvalidOption', `${who}: ${message}`, { field })
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw wrong('options', 'options must be an object')
  }
  const lacking = required.find((name) => (given as Record<string, unknown>)[name] === undefined)
  if (lacking !== undefined) throw wrong(lacking, `${lacking} is required`)
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    try {
      const check = Object.hasOwn(checks, name) ? checks[name] : undefined
      if (!check) throw invalid(name, `is not an option (known: ${Object.keys(checks).join(', ')})`)
      check(name, value)
    } catch (thrown) {
      const { message, field = name } = thrown as HookswitchError
      throw wrong(field, message)
    }
  }
}
