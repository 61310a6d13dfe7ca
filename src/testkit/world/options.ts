import type { SeededRandom } from '../random.js'
import type { Doctor } from './doctor.js'
import { drawKinds, type FaultKind, USUAL_KINDS } from './faults.js'

/** Options of `simulate`. */
export interface SimulationOptions {
  /** Simulated minutes of trouble; before it comes a warm-up, after it the healing. Default 10. */
  readonly minutes?: number
  /** Default: drawn, 1 to 5. */
  readonly nodes?: number
  /** `drawn`: a part of all, other ones for each seed. Default `drawn`. */
  readonly faults?: 'all' | 'none' | 'drawn' | readonly FaultKind[]
  /** Mean of the calls that begin in a simulated day. Default 3,000. */
  readonly callsPerDay?: number
  /** Keeps what happened in words: for the story of a run that failed. Default false. */
  readonly keepsStory?: boolean
  /** Faults and calls that are left out, by number: how a failure is made smaller. */
  readonly without?: { readonly faults?: ReadonlySet<number>; readonly calls?: ReadonlySet<number> }
  /** Store operations, by number, before or after which their node dies. */
  readonly crashes?: ReadonlyMap<number, 'before' | 'after'>
  /** Puts something wrong behind a door: to see that it is noticed. */
  readonly doctor?: Doctor
}

/** What a seed decides besides what happens. */
export interface Shape {
  readonly nodes: number
  readonly isShared: boolean
  readonly kinds: readonly FaultKind[]
}

/** Draws everything, also what an option decides: so an option changes nothing else. */
export function drawShape(random: SeededRandom, { nodes, faults = 'drawn' }: SimulationOptions): Shape {
  const drawnNodes = random.integer(1, 5)
  const drawnKinds = drawKinds(random)
  const count = nodes ?? drawnNodes
  const isShared = random.chance(0.5) || count > 1
  return { nodes: count, isShared, kinds: kindsOf(faults, drawnKinds) }
}

function kindsOf(
  wish: NonNullable<SimulationOptions['faults']>,
  drawn: readonly FaultKind[],
): readonly FaultKind[] {
  if (wish === 'all') return USUAL_KINDS
  if (wish === 'none') return []
  return wish === 'drawn' ? drawn : wish
}
