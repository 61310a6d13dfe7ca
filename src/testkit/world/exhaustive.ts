import type { SimulationOptions } from './options.js'
import { type Simulation, simulate } from './simulate.js'

/** What came of all crashes of a scenario. */
export interface Exhausted {
  readonly runs: number
  /** The first that failed, and its options. */
  readonly failed: { readonly run: Simulation; readonly options: SimulationOptions } | undefined
}

/** Scenarios of more operations are not tried with every pair of crashes. */
export const MOST_FOR_PAIRS = 60
const WHEN = ['before', 'after'] as const

/**
 * Runs a short scenario once, then again with a crash of the node before and after each of its store operations; with
 * `pairs`, and where there are few operations, also with each pair of them.
 */
export async function exhaust(
  seed: number | string,
  scenario: SimulationOptions,
  { pairs = false }: { readonly pairs?: boolean } = {},
): Promise<Exhausted> {
  let runs = 0
  let failed: Exhausted['failed']

  async function holds(crashes: ReadonlyMap<number, 'before' | 'after'>): Promise<Simulation | undefined> {
    const options = { ...scenario, crashes }
    const run = await simulate(seed, options)
    runs += 1
    if (run.findings.length === 0) return run
    failed = { run, options }
    return undefined
  }

  async function isWhole(
    crashes: ReadonlyMap<number, 'before' | 'after'>,
    from: number,
    depth: number,
  ): Promise<boolean> {
    const run = await holds(crashes)
    if (!run) return false
    if (depth === 0) return true
    for (
      let operation = Math.max(from, run.counts.prepared) + 1;
      operation <= run.counts.worked;
      operation += 1
    ) {
      for (const when of WHEN) {
        if (!(await isWhole(new Map([...crashes, [operation, when]]), operation, depth - 1))) return false
      }
    }
    return true
  }

  const plain = await holds(new Map())
  if (!plain) return { runs, failed }
  const isShort = plain.counts.worked - plain.counts.prepared <= MOST_FOR_PAIRS
  await isWhole(new Map(), 0, pairs && isShort ? 2 : 1)
  return { runs, failed }
}
