/** Validates the options of the Node adapter; every error names the option. */
import { HookswitchError } from 'hookswitch'
import { checkOptionNames } from 'hookswitch/adapter'

/** Returns why a value is invalid, or `undefined` if it is valid. */
type Validator = (value: unknown) => string | undefined

const integerBetween =
  (minimum: number, maximum: number, description: string): Validator =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum
      ? undefined
      : `must be ${description} (an integer, ${minimum} to ${maximum})`

/** Maximum delay of a Node timer; a longer one fires at once. */
const MAX_TIMER_MS = 2_147_483_647

export const milliseconds: Validator = integerBetween(1, MAX_TIMER_MS, 'a time in milliseconds')
export const bytes: Validator = integerBetween(1_024, 1_048_576, 'a size in bytes')
export const totalBytes: Validator = integerBetween(1_048_576, Number.MAX_SAFE_INTEGER, 'a size in bytes')
export const count: Validator = integerBetween(1, MAX_TIMER_MS, 'a count')

/**
 * Returns the options with their defaults; `undefined` counts as omitted.
 *
 * @param call name of the function whose options they are
 * @throws HookswitchError `InvalidOption` for an unknown option or an invalid value
 */
export function checkOptions<T extends object, D extends Partial<T>>(
  call: string,
  given: T,
  defaults: D,
  validators: { readonly [K in keyof T]-?: Validator },
): T & D {
  checkOptionNames(call, given, Object.keys(validators))
  const options = { ...defaults } as Record<string, unknown>
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    const problem = validators[name as keyof T](value)
    if (problem !== undefined) throw invalidOption(name, problem)
    options[name] = value
  }
  return options as T & D
}

/** Creates an `InvalidOption` error; its message starts with the name of the option. */
export function invalidOption(name: string, problem: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${name} ${problem}`, { field: name })
}
