import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { storeModel } from '../../../src/simulator/models/index.js'
import type { Store } from '../../../src/store/index.js'
import { STORE_FAULTS } from '../../mutants/stores/index.js'
import { RACING_MODEL, STORE_MODEL } from '../../mutants/stores/store-fault.js'
import { newClock } from '../../testkit/conformance-self-test-harness.js'
import { expectTrace, failureOf, stepsOf } from './failures.js'
import { memoryHarness } from './harnesses.js'

/** Fixed, so that the defects are found on every run. */
const RUNS = { seed: 7, numRuns: 1_000 }

/** The defects that a check must notice, as functions that break a store. */
const faultsFor = (check: string) =>
  STORE_FAULTS.filter(({ caughtBy }) => caughtBy.includes(check)).map(
    ({ what, breakStore }) => [what, (store: Store) => breakStore(store, newClock())] as const,
  )

describe('the store model', () => {
  it.each(faultsFor(STORE_MODEL))('notices that %s', async (_what, breakStore) => {
    expectTrace(await failureOf(storeModel(fc, memoryHarness(true, breakStore)).check(RUNS)))
  })

  it.each(faultsFor(RACING_MODEL))('notices with concurrent calls that %s', async (_what, breakStore) => {
    const harness = memoryHarness(false, breakStore)
    expectTrace(await failureOf(storeModel(fc, harness, { interleaved: true }).check(RUNS)))
  })

  it('repeats a failure from its seed and path', async () => {
    const [, breakStore] = faultsFor(STORE_MODEL).find(([what]) => what.includes('after a retry'))!
    const model = storeModel(fc, memoryHarness(false, breakStore))
    const first = await failureOf(model.check(RUNS))
    const again = await failureOf(model.check({ seed: first.seed, path: first.path }))
    expect(stepsOf(again)).toEqual(stepsOf(first))
    expect(stepsOf(first).at(-1)).toContain('loads its shards')
  })
})
