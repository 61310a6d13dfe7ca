import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { storeModel } from '../../src/testkit/models/index.js'
import { BROKEN_ROWS, RACING_STORES } from './broken-store-rows.js'
import { BROKEN_STORES } from './broken-stores.js'
import { expectStory, failureOf, storyOf } from './failures.js'
import { memoryHarness } from './harnesses.js'

/** The same on every run: what is found must be found again. */
const RUNS = { seed: 7, numRuns: 1_000 }

describe('the store model', () => {
  it.each([...BROKEN_STORES, ...BROKEN_ROWS])('notices that %s', async (_fault, breaking) => {
    expectStory(await failureOf(storeModel(fc, memoryHarness(false, breaking)).check(RUNS)))
  })

  it.each(RACING_STORES)('notices, asked at once, that %s', async (_fault, breaking) => {
    const harness = memoryHarness(false, breaking)
    expectStory(await failureOf(storeModel(fc, harness, { interleaved: true }).check(RUNS)))
  })

  it('tells the same story again, given the seed and the path', async () => {
    const [[, breaking]] = BROKEN_STORES as [(typeof BROKEN_STORES)[number]]
    const model = storeModel(fc, memoryHarness(false, breaking))
    const first = await failureOf(model.check(RUNS))
    const again = await failureOf(model.check({ seed: first.seed, path: first.path }))
    expect(storyOf(again)).toEqual(storyOf(first))
    expect(storyOf(first).at(-1)).toContain('count what is pending')
  })
})
