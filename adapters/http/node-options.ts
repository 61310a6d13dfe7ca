/** The options of the Node adapter: every one checked, an unknown one refused, each by its name. */
import { HookswitchError } from 'hookswitch'

/** Why a value does not fit; `undefined` where it does. */
export type Rule = (value: unknown) => string | undefined

const integerFrom =
  (least: number, most: number, what: string): Rule =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
      ? undefined
      : `must be ${what} (an integer, ${least} to ${most})`

/** Longest delay that a timer of Node takes; a longer one fires at once. */
const MAX_TIMER_MS = 2_147_483_647

export const milliseconds: Rule = integerFrom(1, MAX_TIMER_MS, 'a time in milliseconds')
export const bytes: Rule = integerFrom(1_024, 1_048_576, 'a size in bytes')
export const count: Rule = integerFrom(1, MAX_TIMER_MS, 'a count')

/**
 * The options given, completed by their defaults; `undefined` counts as left out.
 *
 * @throws HookswitchError `InvalidOption` for an unknown name or a value against its rule
 */
export function checkedOptions<T extends object, D extends Partial<T>>(
  given: T,
  defaults: D,
  rules: { readonly [K in keyof T]-?: Rule },
): T & D {
  if (typeof given !== 'object' || given === null) throw invalidOption('options', 'must be an object')
  const known = Object.keys(rules)
  const options = { ...defaults } as Record<string, unknown>
  for (const [name, value] of Object.entries(given)) {
    if (!known.includes(name)) throw invalidOption(name, `is unknown; known: ${known.join(', ')}`)
    if (value === undefined) continue
    const problem = rules[name as keyof T](value)
    if (problem !== undefined) throw invalidOption(name, problem)
    options[name] = value
  }
  return options as T & D
}

/** `InvalidOption`; the message starts with the name of the option. */
export function invalidOption(name: string, problem: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${name} ${problem}`, { field: name })
}
