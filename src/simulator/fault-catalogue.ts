/** What each fault does to requests, receivers, clocks and store operations. */

import type { SeededRandom } from '../testkit/random.js'
import type { FaultKind } from './faults.js'
import type { StoreEffect } from './faulty-store.js'
import type { NetworkEffect } from './network.js'
import type { Behaviour } from './receivers.js'

/** Effects on a request during `network bad`. */
export const NETWORK_EFFECTS: readonly NetworkEffect[] = [
  'refused',
  'closed',
  'reset',
  'answer lost',
  'dns',
  'tls',
  'own fault',
  'black hole',
]
/** Behaviours that a receiver can change to, with their weights. */
export const BEHAVIOUR_WEIGHTS: Readonly<Record<Behaviour, number>> = {
  healthy: 40,
  slow: 10,
  flapping: 15,
  dead: 12,
  malicious: 14,
  throttling: 8,
  failing: 8,
  gone: 4,
}
/** Wall clock jumps, ms: corrections by NTP or by an operator. */
export const JUMPS_MS = [1000, -1000, 60_000, -60_000, 3_600_000, -3_600_000]

const DAY_MS = 86_400_000
/** Wall clock leaps by a month, ms: an empty battery, or a wrong date. */
export const LEAPS_MS = [30 * DAY_MS, -30 * DAY_MS]

type DrawEffect = (random: SeededRandom, isOnItsNode: boolean) => StoreEffect | undefined

/** Effects on a store operation while a fault is active; `isOnItsNode`: the fault affects the calling node. */
export const STORE_EFFECTS: Readonly<Partial<Record<FaultKind, DrawEffect>>> = {
  'store out': (random) => ({ fails: 'before', afterMs: random.exponential(20) }),
  'store unheard': (random) =>
    random.chance(0.3) ? { fails: 'after', afterMs: random.exponential(20) } : undefined,
  'store slow': (random) => ({ beforeMs: random.exponential(150), afterMs: random.exponential(150) }),
  'store busy': (random) =>
    random.chance(0.2) ? { fails: 'before', afterMs: random.exponential(5) } : undefined,
  // A half-open connection: no answer for a while, then it breaks; some operations were executed.
  'store cut off': (random, isOnItsNode) =>
    isOnItsNode
      ? { fails: random.pick(['before', 'after'] as const), afterMs: 5000 + random.exponential(5000) }
      : undefined,
}
