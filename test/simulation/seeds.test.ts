import { describe, expect, it } from 'vitest'
import { reportOf, type SimulationOptions, simulate, uncovered } from '../../src/testkit/world/index.js'
import corpus from './seeds.json' with { type: 'json' }

/** Seeds that every run of the tests tries; `SIM_SEEDS=1000` tries more. */
const SEEDS = Number(process.env.SIM_SEEDS ?? 30)
const OPTIONS: SimulationOptions = { minutes: 3, callsPerDay: 8000 }

async function findings(seed: number | string, options: SimulationOptions): Promise<string> {
  const run = await simulate(seed, options)
  for (const [what, count] of run.coverage) met.set(what, (met.get(what) ?? 0) + count)
  return run.findings.length === 0 ? '' : await reportOf(run, options)
}
const met = new Map<string, number>()

interface Kept {
  readonly seed: string
  readonly why: string
  readonly options: SimulationOptions
}

describe('seeds that once failed', () => {
  for (const { seed, why, options } of corpus as unknown as readonly Kept[]) {
    it(`${seed}: ${why}`, async () => {
      expect(await findings(seed, options)).toBe('')
    })
  }
})

describe('every invariant holds', () => {
  it(`in ${SEEDS} short runs, each with some of the faults`, { timeout: 600_000 }, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) expect(await findings(seed, OPTIONS)).toBe('')
  })

  it('with all faults at once', { timeout: 60_000 }, async () => {
    for (const seed of [1, 2]) expect(await findings(seed, { minutes: 10, faults: 'all' })).toBe('')
  })

  it('where receivers change all the time', async () => {
    const faults = ['receivers change', 'crash point'] as const
    expect(await findings(6, { minutes: 20, nodes: 2, faults, callsPerDay: 12_000 })).toBe('')
  })

  it('on a single node, and on five', { timeout: 60_000 }, async () => {
    for (const nodes of [1, 5])
      expect(await findings(`nodes ${nodes}`, { ...OPTIONS, nodes, faults: 'all' })).toBe('')
  })
})

describe('what the runs have met', () => {
  it('is every fault, every class of failure and every transition', () => {
    expect(uncovered(met)).toEqual([])
  })

  it('is missed where it did not happen', () => {
    expect(uncovered(new Map([['crash', 1]]))).toContain('pause')
    expect(uncovered(new Map([['crash', 1]]))).not.toContain('crash')
  })
})
