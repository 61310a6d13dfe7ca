/** The options of a run, and what a seed draws where an option is absent. */

import type { Store } from 'hookswitch/store'
import type { SeededRandom } from '../testkit/random.js'
import type { FaultInjector } from './fault-injector.js'
import { drawKinds, FAULT_KINDS, type FaultKind } from './faults.js'

/** Options of `simulate`. */
export interface SimulationOptions {
  /** Simulated minutes of workload and faults, between warm-up and healing. Default 10. */
  readonly minutes?: number
  /** Number of nodes. Default: drawn from the seed, 1 to 5. */
  readonly nodes?: number
  /** Kinds of faults; `drawn`: a subset that the seed draws. Default `drawn`. */
  readonly faults?: 'all' | 'none' | 'drawn' | readonly FaultKind[]
  /** Length of shard leases, seconds. Default 30, as nodes request; longer ones save renewals in long, idle runs. */
  readonly leaseSeconds?: number
  /** Mean number of calls that begin per simulated day. Default 3,000. */
  readonly callsPerDay?: number
  /** Keeps every trace step in memory, for `SimulationResult.stepsOf`. Default false. */
  readonly keepsTrace?: boolean
  /** Faults and calls to leave out, by number: `minimise` uses it. */
  readonly without?: { readonly faults?: ReadonlySet<number>; readonly calls?: ReadonlySet<number> }
  /** Store operations, by number, before or after which their node crashes. */
  readonly crashes?: ReadonlyMap<number, 'before' | 'after'>
  /** Caps on requests in flight per node. Default: those of the service. */
  readonly caps?: Partial<SimulatedCaps>
  /**
   * Deliveries that may wait for one webhook. Default: drawn from the seed, in a third of all runs so few that some expire as
   * `queue_full`, otherwise that of the service.
   */
  readonly maxPendingPerWebhook?: number
  /**
   * Creates the store that all nodes share: empty, not open, and every promise of it settles without the event loop. A
   * store that is not shared between nodes gets a single node. Default: the memory store.
   */
  readonly store?: () => Store
  /** Breaks a dependency on purpose, to test that the checks notice. */
  readonly faultInjector?: FaultInjector
}

/** Caps on requests in flight per node. */
export interface SimulatedCaps {
  /** To one webhook. */
  readonly perEndpoint: number
  /** Of one account. */
  readonly perAccount: number
  /** In total. */
  readonly total: number
}

/** The defaults of the service, repeated here so that the oracle does not depend on it. */
export const DEFAULT_CAPS: SimulatedCaps = { perEndpoint: 10, perAccount: 100, total: 500 }

/** The default of the service, repeated here for the same reason. */
const DEFAULT_MAX_PENDING_PER_WEBHOOK = 50_000

/** Draws the deliveries that may wait for one webhook. */
export function drawMaxPendingPerWebhook(random: SeededRandom): number {
  const few = random.integer(5, 30)
  return random.chance(1 / 3) ? few : DEFAULT_MAX_PENDING_PER_WEBHOOK
}

/** The nodes and fault kinds of a run. */
export interface Shape {
  readonly nodes: number
  readonly isShared: boolean
  readonly kinds: readonly FaultKind[]
}

/**
 * Draws the shape. Draws every value, also those that an option overrides, so that an option changes nothing else.
 *
 * @param isSingleNode whether the store allows one node only
 */
export function drawShape(
  random: SeededRandom,
  { nodes, faults = 'drawn' }: SimulationOptions,
  isSingleNode: boolean,
): Shape {
  const drawnNodes = random.integer(1, 5)
  const drawnKinds = drawKinds(random)
  const count = isSingleNode ? 1 : (nodes ?? drawnNodes)
  const isShared = random.chance(0.5) || count > 1
  return { nodes: count, isShared, kinds: kindsOf(faults, drawnKinds) }
}

function kindsOf(
  selection: NonNullable<SimulationOptions['faults']>,
  drawn: readonly FaultKind[],
): readonly FaultKind[] {
  if (selection === 'all') return FAULT_KINDS
  if (selection === 'none') return []
  return selection === 'drawn' ? drawn : selection
}
