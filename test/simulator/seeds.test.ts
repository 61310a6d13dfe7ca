import { describe, expect, it } from 'vitest'
import { createReport, findUncovered, type SimulationOptions, simulate } from '../../src/simulator/index.js'
import corpus from './seeds.json' with { type: 'json' }

/** Number of seeds per test run; `SIM_SEEDS=1000` tries more. */
const SEEDS = Number(process.env.SIM_SEEDS ?? 30)
const OPTIONS: SimulationOptions = { minutes: 3, callsPerDay: 8000 }

async function violations(seed: number | string, options: SimulationOptions): Promise<string> {
  const run = await simulate(seed, options)
  for (const [name, count] of run.coverage) coverage.set(name, (coverage.get(name) ?? 0) + count)
  return run.violations.length === 0 ? '' : await createReport(run, options)
}
const coverage = new Map<string, number>()

interface CorpusSeed {
  readonly seed: string
  readonly why: string
  readonly options: SimulationOptions
}

describe('seeds that failed once', () => {
  for (const { seed, why, options } of corpus as unknown as readonly CorpusSeed[]) {
    it(`${seed}: ${why}`, async () => {
      expect(await violations(seed, options)).toBe('')
    })
  }
})

describe('every invariant holds', () => {
  it(`in ${SEEDS} short runs with a subset of the faults`, { timeout: 600_000 }, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) expect(await violations(seed, OPTIONS)).toBe('')
  })

  it('with all faults at once', { timeout: 60_000 }, async () => {
    for (const seed of [1, 2]) expect(await violations(seed, { minutes: 10, faults: 'all' })).toBe('')
  })

  it('while receivers change all the time', async () => {
    const faults = ['receivers change', 'crash point'] as const
    expect(await violations(6, { minutes: 20, nodes: 2, faults, callsPerDay: 12_000 })).toBe('')
  })

  it('on a single node, and on five', { timeout: 60_000 }, async () => {
    for (const nodes of [1, 5])
      expect(await violations(`nodes ${nodes}`, { ...OPTIONS, nodes, faults: 'all' })).toBe('')
  })
})

/** Crashes the node in three attempts of one delivery in a row; returns the coverage of the last run. */
async function crashInAttempts(): Promise<ReadonlyMap<string, number>> {
  const options = { minutes: 0.1, callsPerDay: 15_000, faults: 'none', nodes: 1, leaseSeconds: 3 } as const
  let run = await simulate(6, options)
  let crashes = new Map<number, 'after'>()
  let from = run.counts.prepared + 1
  for (const next of ['interruptions in a row: 1', 'interruptions in a row: 2', 'in_flight → quarantined']) {
    for (let operation = from; !run.coverage.has(next); operation += 1) {
      if (operation > from + 100) throw new Error(`no further crash leads to "${next}"`)
      const tried = new Map([...crashes, [operation, 'after' as const]])
      run = await simulate(6, { ...options, crashes: tried })
      expect(run.violations).toEqual([])
      if (!run.coverage.has(next)) continue
      crashes = tried
      from = operation + 1
    }
  }
  return run.coverage
}

describe('a node that crashes in three attempts in a row', () => {
  it('quarantines the delivery', { timeout: 60_000 }, async () => {
    const seen = await crashInAttempts()
    expect(seen.get('in_flight → quarantined')).toBe(1)
    for (const [name, times] of seen) coverage.set(name, (coverage.get(name) ?? 0) + times)
  })
})

describe('the coverage of these runs', () => {
  it('includes every fault, every class of failure and every transition', () => {
    expect(findUncovered(coverage)).toEqual([])
  })

  it('lists what did not occur', () => {
    expect(findUncovered(new Map([['crash', 1]]))).toContain('pause')
    expect(findUncovered(new Map([['crash', 1]]))).not.toContain('crash')
  })
})
