/** Delta debugging: shrinks a failing run. */

import type { SimulationOptions } from './options.js'
import { simulate } from './simulate.js'

/** The result of `minimise`. */
export interface MinimiseResult {
  /** The options of the smallest failing run. */
  readonly options: SimulationOptions
  /** Number of runs it took. */
  readonly runs: number
}

/**
 * Leaves out faults, then calls, in ever smaller groups, as long as the same invariant breaks.
 *
 * @param maxRuns stops after this many runs; default 200
 */
export async function minimise(
  seed: number | string,
  options: SimulationOptions,
  invariant: string,
  maxRuns = 200,
): Promise<MinimiseResult> {
  let runs = 0
  let best = options

  async function isBroken(tried: SimulationOptions): Promise<boolean> {
    runs += 1
    const { violations } = await simulate(seed, tried)
    return violations.some((violation) => violation.invariant === invariant)
  }

  async function leaveOut(kind: 'faults' | 'calls', all: readonly number[]): Promise<void> {
    let left = all
    for (let size = left.length; size >= 1 && left.length > 0; size = Math.floor(size / 2)) {
      for (let at = 0; at < left.length && runs < maxRuns; ) {
        const remaining = left.filter((_, index) => index < at || index >= at + size)
        const excluded = new Set([
          ...all.filter((number) => !remaining.includes(number)),
          ...(options.without?.[kind] ?? []),
        ])
        const tried = { ...best, without: { ...best.without, [kind]: excluded } }
        if (await isBroken(tried)) {
          best = tried
          left = remaining
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
