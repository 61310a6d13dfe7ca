/** The kinds of faults, and the plan of a run's faults. `nemesis` carries them out. */

import type { SeededRandom } from '../testkit/random.js'

/** All kinds of faults. The names are part of the seed: each names a random stream. */
export const FAULT_KINDS = [
  'crash',
  'crash point',
  'restart',
  'pause',
  'suspend',
  'wall jump',
  'wall leap',
  'store out',
  'store unheard',
  'store slow',
  'store busy',
  'store cut off',
  'deaf',
  'network down',
  'network bad',
  'receivers change',
  'dns hostile',
] as const

/** A kind of fault. */
export type FaultKind = (typeof FAULT_KINDS)[number]

/** One fault of a run. All faults are planned before the run, so that a repetition can leave some out. */
export interface Fault {
  /** 1, 2, … in order of time. */
  readonly number: number
  /** What happens. */
  readonly kind: FaultKind
  /** Begin: true time, ms. */
  readonly atMs: number
  /** Length, ms. */
  readonly lastsMs: number
  /** Number of the node it affects, for faults of one node. */
  readonly node: number
  /** Its own random stream, so that leaving out another fault does not change it. */
  readonly random: SeededRandom
}

/** Mean gap between faults of a kind, and mean length of one; 0: instantaneous. */
const RATES: Readonly<Record<FaultKind, { readonly gapMs: number; readonly lastsMs: number }>> = {
  crash: { gapMs: 400_000, lastsMs: 20_000 },
  'crash point': { gapMs: 400_000, lastsMs: 20_000 },
  restart: { gapMs: 500_000, lastsMs: 3_000 },
  pause: { gapMs: 400_000, lastsMs: 25_000 },
  suspend: { gapMs: 900_000, lastsMs: 60_000 },
  'wall jump': { gapMs: 600_000, lastsMs: 0 },
  'wall leap': { gapMs: 900_000, lastsMs: 0 },
  'store out': { gapMs: 600_000, lastsMs: 15_000 },
  'store unheard': { gapMs: 400_000, lastsMs: 20_000 },
  'store slow': { gapMs: 400_000, lastsMs: 60_000 },
  'store busy': { gapMs: 400_000, lastsMs: 60_000 },
  'store cut off': { gapMs: 600_000, lastsMs: 25_000 },
  deaf: { gapMs: 500_000, lastsMs: 40_000 },
  'network down': { gapMs: 700_000, lastsMs: 60_000 },
  'network bad': { gapMs: 300_000, lastsMs: 90_000 },
  'receivers change': { gapMs: 200_000, lastsMs: 0 },
  'dns hostile': { gapMs: 400_000, lastsMs: 60_000 },
}

/**
 * Plans the faults of a run, in order of time. Each kind is a Poisson process.
 *
 * @param rateFactor multiplies the frequency, 1 in a run of an hour
 */
export function planFaults(
  random: SeededRandom,
  kinds: readonly FaultKind[],
  span: { readonly fromMs: number; readonly toMs: number },
  nodes: number,
  rateFactor: number,
): readonly Fault[] {
  const planned: Omit<Fault, 'number'>[] = []
  for (const kind of kinds) {
    const kindRandom = random.stream(kind)
    const { gapMs, lastsMs } = RATES[kind]
    for (let count = 1, atMs = span.fromMs; ; count += 1) {
      atMs += kindRandom.exponential(gapMs / rateFactor)
      if (atMs >= span.toMs) break
      const node = kindRandom.integer(1, nodes)
      const length = lastsMs === 0 ? 0 : 1 + kindRandom.exponential(lastsMs)
      planned.push({ kind, atMs, lastsMs: length, node, random: random.stream(`${kind} ${count}`) })
    }
  }
  planned.sort((a, b) => a.atMs - b.atMs)
  return planned.map((fault, index) => ({ number: index + 1, ...fault }))
}

/** Draws a subset of the kinds, so that combinations of few faults are frequent too. */
export function drawKinds(random: SeededRandom): readonly FaultKind[] {
  const share = random.pick([0.1, 0.3, 0.6, 1])
  return FAULT_KINDS.filter(() => random.chance(share))
}
