import type { SeededRandom } from '../random.js'

/** Everything that can go wrong by itself. */
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

export type FaultKind = (typeof FAULT_KINDS)[number]

/** One fault of a run: planned before it begins, so that it can be left out of a repetition. */
export interface Fault {
  readonly number: number
  readonly kind: FaultKind
  readonly atMs: number
  readonly lastsMs: number
  /** Which node, where it strikes one. */
  readonly node: number
  /** What else it draws, from a stream of its own: leaving out another fault changes nothing of it. */
  readonly random: SeededRandom
}

/** How often a kind strikes (mean gap), and how long it lasts (mean). */
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
 * The faults of a run, in order of time: each kind strikes as a Poisson process.
 *
 * @param haste how many times as often as in a run of an hour
 */
export function planFaults(
  random: SeededRandom,
  kinds: readonly FaultKind[],
  span: { readonly fromMs: number; readonly toMs: number },
  nodes: number,
  haste: number,
): readonly Fault[] {
  const planned: Omit<Fault, 'number'>[] = []
  for (const kind of kinds) {
    const draw = random.stream(kind)
    const { gapMs, lastsMs } = RATES[kind]
    for (let count = 1, atMs = span.fromMs; ; count += 1) {
      atMs += draw.exponential(gapMs / haste)
      if (atMs >= span.toMs) break
      const node = draw.integer(1, nodes)
      const length = lastsMs === 0 ? 0 : 1 + draw.exponential(lastsMs)
      planned.push({ kind, atMs, lastsMs: length, node, random: random.stream(`${kind} ${count}`) })
    }
  }
  planned.sort((a, b) => a.atMs - b.atMs)
  return planned.map((fault, index) => ({ number: index + 1, ...fault }))
}

/** Which kinds a run has: a part of all, so that some combination of few is met often. */
export function drawKinds(random: SeededRandom): readonly FaultKind[] {
  const share = random.pick([0.1, 0.3, 0.6, 1])
  return FAULT_KINDS.filter(() => random.chance(share))
}
