/** Stored codes of delivery states. */
import type { DeliveryState } from 'hookswitch/store'

/**
 * The stored codes of delivery states. Waiting deliveries have two codes, for first attempts and for retries: each kind
 * gets half of an endpoint's slots, and each has to be found by due time. The order is part of the schema.
 */
const STATES: readonly DeliveryState[] = [
  'waiting',
  'waiting',
  'in_flight',
  'delivered',
  'exhausted',
  'expired',
  'cancelled',
  'quarantined',
]

/** Waits for its first attempt. */
export const UNTRIED = 0
/** Waits for a retry. */
export const RETRY = 1
/** Higher codes are terminal states. */
export const IN_FLIGHT = 2

export function stateOfCode(code: number): DeliveryState {
  return STATES[code]!
}

/** @param attempts number of attempts recorded so far: 0 means that a waiting delivery is untried */
export function stateCode(state: DeliveryState, attempts: number): number {
  if (state === 'waiting') return attempts === 0 ? UNTRIED : RETRY
  return STATES.indexOf(state)
}
