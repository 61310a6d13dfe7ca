/** Crash tests at every store operation of a short run. */

import type { SimulationOptions } from './options.js'
import { type SimulationResult, simulate } from './simulate.js'

/** The result of `exhaust`. */
export interface ExhaustResult {
  /** Number of runs, including the one without crashes. */
  readonly runs: number
  /** The first run that failed, and its options. */
  readonly failed: { readonly run: SimulationResult; readonly options: SimulationOptions } | undefined
}

/** Pairs of crashes are tried for scenarios of at most this many operations. */
const MAX_OPERATIONS_FOR_PAIRS = 60
const SIDES = ['before', 'after'] as const

/**
 * Runs a short scenario once, then again with a crash of the node before and after each of its store operations. Stops
 * at the first run that breaks an invariant.
 *
 * @param pairs also tries each pair of crashes, if the scenario has few operations; default false
 */
export async function exhaust(
  seed: number | string,
  scenario: SimulationOptions,
  { pairs = false }: { readonly pairs?: boolean } = {},
): Promise<ExhaustResult> {
  let runs = 0
  let failed: ExhaustResult['failed']

  async function passing(
    crashes: ReadonlyMap<number, 'before' | 'after'>,
  ): Promise<SimulationResult | undefined> {
    const options = { ...scenario, crashes }
    const run = await simulate(seed, options)
    runs += 1
    if (run.violations.length === 0) return run
    failed = { run, options }
    return undefined
  }

  async function passes(
    crashes: ReadonlyMap<number, 'before' | 'after'>,
    from: number,
    depth: number,
  ): Promise<boolean> {
    const run = await passing(crashes)
    if (!run) return false
    if (depth === 0) return true
    for (
      let operation = Math.max(from, run.counts.prepared) + 1;
      operation <= run.counts.worked;
      operation += 1
    ) {
      for (const side of SIDES) {
        if (!(await passes(new Map([...crashes, [operation, side]]), operation, depth - 1))) return false
      }
    }
    return true
  }

  const plain = await passing(new Map())
  if (!plain) return { runs, failed }
  const isShort = plain.counts.worked - plain.counts.prepared <= MAX_OPERATIONS_FOR_PAIRS
  await passes(new Map(), 0, pairs && isShort ? 2 : 1)
  return { runs, failed }
}
