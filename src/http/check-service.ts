/** Checks the argument of adapters: without the check, a wrong one would fail at the first request. */
import { HookswitchError } from '../errors.js'

/**
 * Checks that an adapter got a hookswitch instance.
 *
 * @param call name of the adapter's function, without parentheses
 * @param methods what the adapter calls
 * @throws `InvalidOption` naming the call, and saying what it got instead
 */
export function checkService(
  call: string,
  value: unknown,
  methods: readonly string[] = ['handle', 'handlesPath'],
): void {
  const object = Object(value) as Readonly<Record<string, unknown>>
  if (methods.every((name) => typeof object[name] === 'function')) return
  const sentence = `${call}(): the first argument must be a hookswitch instance, not ${kindOf(value, object)}`
  throw new HookswitchError('InvalidOption', sentence, { field: 'hs' })
}

function kindOf(value: unknown, object: Readonly<Record<string, unknown>>): string {
  if (value === undefined || value === null) return String(value)
  if (typeof object.then === 'function') return 'a promise: await it first'
  if (typeof value === 'function') return 'a function or class'
  if (typeof object.open === 'function' && object.deliveries) return 'a store'
  return typeof value === 'object' ? 'another object' : `a ${typeof value}`
}
