/** Stored codes of delivery states. They are part of the schema; 1 and 2 are not used. */
import type { DeliveryState } from 'hookswitch/store'

const STATES: readonly (DeliveryState | undefined)[] = [
  'waiting',
  undefined,
  undefined,
  'delivered',
  'exhausted',
  'expired',
  'cancelled',
  'quarantined',
]

export const WAITING = 0
export const DELIVERED = 3
export const CANCELLED = 6

export function stateOfCode(code: number): DeliveryState {
  return STATES[code]!
}

/** The code of a state that is stored; -1 for `in_flight`, which is not. */
export function stateCode(state: DeliveryState): number {
  return STATES.indexOf(state)
}
