import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { storeModel } from '../../../src/simulator/models/index.js'
import { brokenWebhooks } from '../../testkit/broken-accounts.js'
import { brokenAcceptances, brokenGroups, brokenNumbers, brokenRepeats } from '../../testkit/broken-groups.js'
import { brokenChanges, brokenLanes, brokenLoads, brokenOwnership } from '../../testkit/broken-loads.js'
import { brokenReplays } from '../../testkit/broken-replays.js'
import { brokenEpochs, brokenHealth } from '../../testkit/broken-rows.js'
import { brokenSettlements, brokenStarts } from '../../testkit/broken-settlements.js'
import { newClock } from '../../testkit/conformance-self-test-harness.js'
import { BROKEN_STORES, type BrokenStore, RACING_STORES } from './broken-stores.js'
import { expectTrace, failureOf, stepsOf } from './failures.js'
import { memoryHarness } from './harnesses.js'

/** Fixed, so that the defects are found on every run. */
const RUNS = { seed: 7, numRuns: 1_000 }

/** Defects of the conformance suite that concern only what the model compares: at least one of each group of rules. */
const SHARED_DEFECTS = [
  'a replacement of a stale revision is written',
  'a deleted webhook is still read',
  'a delivery is due one second after its acceptance',
  'a result has another number than the stored event',
  'a duplicate takes the deliveries of the whole acceptance with it',
  'the keys of one group are not compared with each other',
  'interruptions are not stored',
  'a delivery that ends as expired waits again',
  'attempts are not compared',
  'a fenced settlement counts as settled',
  'the number of an attempt that starts is not checked',
  'a load completes the takeover',
  'everything may start',
  'a second part repeats the first one',
  'bodies that are gone are left out',
  'a poll returns a version that is too high',
  'changes ignore the version that the node has',
  'release releases nothing',
  'what is edited between two owners is not loaded',
  'a lane is loaded backwards',
  'deliveries with ordering none wait for each other',
  'a delivery of an older epoch starts',
  'deliveries of an older epoch are listed as waiting',
  'health is not written',
  'a disabled webhook is not reported',
  'every replay is a recovery',
]

const candidates = [
  ...[...brokenWebhooks, ...brokenAcceptances, ...brokenNumbers, ...brokenSettlements, ...brokenStarts],
  ...[...brokenLoads, ...brokenChanges, ...brokenOwnership, ...brokenLanes, ...brokenEpochs],
  ...[...brokenHealth, ...brokenReplays],
]
const defects = [
  ...brokenGroups,
  ...brokenRepeats,
  ...SHARED_DEFECTS.map((sentence) => candidates.find((fault) => fault.sentence === sentence)!),
].map(({ sentence, breakStore }): BrokenStore => [sentence, (store) => breakStore(store, newClock())])

describe('the store model', () => {
  it.each([...defects, ...BROKEN_STORES])('notices that %s', async (_fault, breakStore) => {
    expectTrace(await failureOf(storeModel(fc, memoryHarness(true, breakStore)).check(RUNS)))
  })

  it.each(RACING_STORES)('notices with concurrent calls that %s', async (_fault, breakStore) => {
    const harness = memoryHarness(false, breakStore)
    expectTrace(await failureOf(storeModel(fc, harness, { interleaved: true }).check(RUNS)))
  })

  it('repeats a failure from its seed and path', async () => {
    const [, breakStore] = BROKEN_STORES[0]!
    const model = storeModel(fc, memoryHarness(false, breakStore))
    const first = await failureOf(model.check(RUNS))
    const again = await failureOf(model.check({ seed: first.seed, path: first.path }))
    expect(stepsOf(again)).toEqual(stepsOf(first))
    expect(stepsOf(first).at(-1)).toContain('loads its shards')
  })
})
