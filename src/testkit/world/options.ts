import type { Store } from '../../store/contract.js'
import type { SeededRandom } from '../random.js'
import type { Doctor } from './doctor.js'
import { drawKinds, FAULT_KINDS, type FaultKind } from './faults.js'

/** Options of `simulate`. */
export interface SimulationOptions {
  /** Simulated minutes of trouble; before it comes a warm-up, after it the healing. Default 10. */
  readonly minutes?: number
  /** Default: drawn, 1 to 5. */
  readonly nodes?: number
  /** `drawn`: a part of all, other ones for each seed. Default `drawn`. */
  readonly faults?: 'all' | 'none' | 'drawn' | readonly FaultKind[]
  /** How long leases of shards last. Default 30, as nodes ask for; a year of idle nodes is made of renewals alone. */
  readonly leaseSeconds?: number
  /** Mean of the calls that begin in a simulated day. Default 3,000. */
  readonly callsPerDay?: number
  /** Keeps what happened in words: for the story of a run that failed. Default false. */
  readonly keepsStory?: boolean
  /** Faults and calls that are left out, by number: how a failure is made smaller. */
  readonly without?: { readonly faults?: ReadonlySet<number>; readonly calls?: ReadonlySet<number> }
  /** Store operations, by number, before or after which their node dies. */
  readonly crashes?: ReadonlyMap<number, 'before' | 'after'>
  /** Most requests in flight of a node. Default: those of the service. */
  readonly caps?: Partial<SimulatedCaps>
  /**
   * Makes the store that the nodes work on, empty and not open, in which every promise settles without the event loop.
   * One that is not shared between nodes is worked on by a single one. Default: the memory store.
   */
  readonly store?: () => Store
  /** Puts something wrong behind a door: to see that it is noticed. */
  readonly doctor?: Doctor
}

/** Most requests in flight of a node: to one webhook, of one account, and in all. */
export interface SimulatedCaps {
  readonly perEndpoint: number
  readonly perAccount: number
  readonly inAll: number
}

/** The defaults of the service, in the oracle's own words. */
export const USUAL_CAPS: SimulatedCaps = { perEndpoint: 10, perAccount: 100, inAll: 500 }

/** What a seed decides besides what happens. */
export interface Shape {
  readonly nodes: number
  readonly isShared: boolean
  readonly kinds: readonly FaultKind[]
}

/**
 * Draws everything, also what an option decides: so an option changes nothing else.
 *
 * @param isAlone whether the store is worked on by one node alone
 */
export function drawShape(
  random: SeededRandom,
  { nodes, faults = 'drawn' }: SimulationOptions,
  isAlone: boolean,
): Shape {
  const drawnNodes = random.integer(1, 5)
  const drawnKinds = drawKinds(random)
  const count = isAlone ? 1 : (nodes ?? drawnNodes)
  const isShared = random.chance(0.5) || count > 1
  return { nodes: count, isShared, kinds: kindsOf(faults, drawnKinds) }
}

function kindsOf(
  wish: NonNullable<SimulationOptions['faults']>,
  drawn: readonly FaultKind[],
): readonly FaultKind[] {
  if (wish === 'all') return FAULT_KINDS
  if (wish === 'none') return []
  return wish === 'drawn' ? drawn : wish
}
