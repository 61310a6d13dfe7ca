import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { serviceModel } from '../../src/testkit/models/index.js'
import { BROKEN_SERVICES, type BrokenService } from './broken-services.js'
import { expectStory, failureOf, storyOf } from './failures.js'
import { memoryHarness } from './harnesses.js'

/** The same on every run: what is found must be found again. */
const RUNS = { seed: 4, numRuns: 400 }

/** The memory store answers at once: what did not happen by then never will. */
const model = ({ store, build }: BrokenService[1], interleaved = false) =>
  serviceModel(fc, memoryHarness(false, store), {
    patienceMs: 1,
    maxCommands: 20,
    interleaved,
    ...(build && { build }),
  })

describe('the service model', () => {
  it.each(BROKEN_SERVICES)('notices that %s', async (_fault, broken) => {
    expectStory(await failureOf(model(broken).check(RUNS)))
  })

  it('notices it too when answers come in any order', async () => {
    const [, broken] = BROKEN_SERVICES.find(([fault]) => fault.startsWith('the second delivery'))!
    expectStory(await failureOf(model(broken, true).check(RUNS)))
  })

  it('tells the same story again, given the seed and the path', async () => {
    const [, broken] = BROKEN_SERVICES[0]!
    const first = await failureOf(model(broken).check(RUNS))
    const again = await failureOf(model(broken).check({ seed: first.seed, path: first.path }))
    expect(storyOf(again)).toEqual(storyOf(first))
    expect(storyOf(first).join('\n')).toMatch(/sign in to .*\n.*sign out token 1 .*\n.*use token 1/)
  })
})
