import type { DeliveryState } from 'hookswitch/store'

/**
 * How the state of a delivery is stored. What waits is told apart by whether it was tried: of an endpoint's room half
 * goes to each kind, and each has to be found by due time. The order is part of the schema.
 */
const STORED: readonly DeliveryState[] = [
  'waiting',
  'waiting',
  'in_flight',
  'delivered',
  'exhausted',
  'expired',
  'cancelled',
  'quarantined',
]

/** Waits, and was never tried. */
export const UNTRIED = 0
/** Waits for another try. */
export const RETRY = 1
/** Above it: ended. */
export const IN_FLIGHT = 2

export function stateOf(stored: number): DeliveryState {
  return STORED[stored]!
}

/** @param attempts attempts recorded so far: what waits is untried while there are none */
export function storedState(state: DeliveryState, attempts: number): number {
  if (state === 'waiting') return attempts === 0 ? UNTRIED : RETRY
  return STORED.indexOf(state)
}
