import type { SeededRandom } from '../random.js'
import type { FaultKind } from './faults.js'
import type { NetworkFate } from './network.js'
import type { Manner } from './receivers.js'
import type { StoreFate } from './store-door.js'

/** What may become of a request under `network bad`. */
export const NETWORK_FATES: readonly NetworkFate[] = [
  'refused',
  'reset',
  'answer lost',
  'dns',
  'tls',
  'own fault',
  'black hole',
]
/** What a receiver becomes, and how often. */
export const MANNERS: Readonly<Record<Manner, number>> = {
  healthy: 40,
  slow: 10,
  flapping: 15,
  dead: 12,
  malicious: 14,
  throttling: 8,
  failing: 8,
  gone: 4,
}
/** Wall clocks are moved by NTP and by people. */
export const JUMPS_MS = [1000, -1000, 60_000, -60_000, 3_600_000, -3_600_000]

const DAY_MS = 86_400_000
/** By a month: a battery was empty, or somebody mistook a field. */
export const LEAPS_MS = [30 * DAY_MS, -30 * DAY_MS]

type DrawFate = (draw: SeededRandom, isItsNode: boolean) => StoreFate | undefined

/** What becomes of a store operation while a fault is at work; `isItsNode`: it struck the node that asks. */
export const STORE_FATES: Readonly<Partial<Record<FaultKind, DrawFate>>> = {
  'store out': (draw) => ({ fails: 'before', afterMs: draw.exponential(20) }),
  'store unheard': (draw) =>
    draw.chance(0.3) ? { fails: 'after', afterMs: draw.exponential(20) } : undefined,
  'store slow': (draw) => ({ beforeMs: draw.exponential(150), afterMs: draw.exponential(150) }),
  'store busy': (draw) => (draw.chance(0.2) ? { fails: 'before', afterMs: draw.exponential(5) } : undefined),
  // Half-open: nothing is heard for a while, then the connection breaks; some of it had been carried out.
  'store cut off': (draw, isItsNode) =>
    isItsNode
      ? { fails: draw.pick(['before', 'after'] as const), afterMs: 5000 + draw.exponential(5000) }
      : undefined,
}
