import type { SimulationOptions } from './options.js'
import { simulate } from './simulate.js'

/** A run as small as it gets while the same invariant breaks. */
export interface Minimised {
  readonly options: SimulationOptions
  /** How many runs that took. */
  readonly runs: number
}

/**
 * Leaves out faults, then calls, in ever smaller groups, as long as the same invariant breaks.
 *
 * @param mostRuns gives up, with what it has, after so many
 */
export async function minimise(
  seed: number | string,
  options: SimulationOptions,
  invariant: string,
  mostRuns = 200,
): Promise<Minimised> {
  let runs = 0
  let best = options

  async function breaks(tried: SimulationOptions): Promise<boolean> {
    runs += 1
    const { findings } = await simulate(seed, tried)
    return findings.some((finding) => finding.invariant === invariant)
  }

  async function leaveOut(what: 'faults' | 'calls', all: readonly number[]): Promise<void> {
    let left = all
    for (let size = left.length; size >= 1 && left.length > 0; size = Math.floor(size / 2)) {
      for (let at = 0; at < left.length && runs < mostRuns; ) {
        const kept = left.filter((_, index) => index < at || index >= at + size)
        const gone = new Set([
          ...all.filter((number) => !kept.includes(number)),
          ...(options.without?.[what] ?? []),
        ])
        const tried = { ...best, without: { ...best.without, [what]: gone } }
        if (await breaks(tried)) {
          best = tried
          left = kept
        } else at += size
      }
    }
  }

  const { faults, counts } = await simulate(seed, options)
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
  await leaveOut(
    'faults',
    faults.map(({ number }) => number),
  )
  await leaveOut('calls', upTo(counts.calls))
  return { options: best, runs }
}
