import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { serviceModel } from '../../../src/simulator/models/index.js'
import { BROKEN_SERVICES, type BrokenService } from './broken-services.js'
import { expectTrace, failureOf, stepsOf } from './failures.js'
import { memoryHarness } from './harnesses.js'

/** Fixed, so that the defects are found on every run. */
const RUNS = { seed: 4, numRuns: 400 }

/** The memory store answers at once, so a late effect never happens. */
const model = ({ store, build }: BrokenService[1], interleaved = false) =>
  serviceModel(fc, memoryHarness(false, store), {
    timeoutMs: 1,
    maxCommands: 20,
    interleaved,
    ...(build && { build }),
  })

describe('the service model', () => {
  it.each(BROKEN_SERVICES)('notices that %s', async (_fault, broken) => {
    expectTrace(await failureOf(model(broken).check(RUNS)))
  })

  it('notices a lost delivery with store results in any order', async () => {
    const [, broken] = BROKEN_SERVICES.find(([fault]) => fault.startsWith('the second delivery'))!
    expectTrace(await failureOf(model(broken, true).check(RUNS)))
  })

  it('repeats a failure from its seed and path', async () => {
    const [, broken] = BROKEN_SERVICES[0]!
    const first = await failureOf(model(broken).check(RUNS))
    const again = await failureOf(model(broken).check({ seed: first.seed, path: first.path }))
    expect(stepsOf(again)).toEqual(stepsOf(first))
    expect(stepsOf(first).join('\n')).toMatch(/sign in to .*\n.*sign out token 1 .*\n.*use token 1/)
  })
})
