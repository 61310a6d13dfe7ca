/** What the reports of the switch on a call have in common. Pure. */
import type { CallDetails, OptionalHook } from '../source/optional-hooks.js'

/** One event of an optional hook, of the leg with the first of these ids that is open. */
export interface CallReport {
  readonly hook: OptionalHook
  readonly uuids: readonly string[]
  readonly details: CallDetails
  /** The time of a parking slot is over: the call goes on in the dial plan, and no event follows yet. */
  readonly isTimeOut?: true
}

/** Returns the ids that are known. */
export function idsOf(...ids: readonly (string | undefined)[]): readonly string[] {
  return ids.filter((id) => id !== undefined)
}

/** Reads a number of up to ten digits. */
export function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : undefined
}
