import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { storeModel } from '../../../src/simulator/models/index.js'
import { BROKEN_ROWS, RACING_STORES } from './broken-store-rows.js'
import { BROKEN_STORES } from './broken-stores.js'
import { expectTrace, failureOf, stepsOf } from './failures.js'
import { memoryHarness } from './harnesses.js'

/** Fixed, so that the defects are found on every run. */
const RUNS = { seed: 7, numRuns: 1_000 }

describe('the store model', () => {
  it.each([...BROKEN_STORES, ...BROKEN_ROWS])('notices that %s', async (_fault, breakStore) => {
    expectTrace(await failureOf(storeModel(fc, memoryHarness(true, breakStore)).check(RUNS)))
  })

  it.each(RACING_STORES)('notices with concurrent calls that %s', async (_fault, breakStore) => {
    const harness = memoryHarness(false, breakStore)
    expectTrace(await failureOf(storeModel(fc, harness, { interleaved: true }).check(RUNS)))
  })

  it('repeats a failure from its seed and path', async () => {
    const [[, breakStore]] = BROKEN_STORES as [(typeof BROKEN_STORES)[number]]
    const model = storeModel(fc, memoryHarness(false, breakStore))
    const first = await failureOf(model.check(RUNS))
    const again = await failureOf(model.check({ seed: first.seed, path: first.path }))
    expect(stepsOf(again)).toEqual(stepsOf(first))
    expect(stepsOf(first).at(-1)).toContain('loads its shards')
  })
})
