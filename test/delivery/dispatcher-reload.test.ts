/** Shards that are loaded again while deliveries wait for slots with their starts stored, and requests end meanwhile. */
import { describe, expect, it } from 'vitest'
import type { QueueStore } from '../../src/delivery/queue-store.js'
import { HookswitchError } from '../../src/errors.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { aWebhook } from './fixtures.js'
import { createHarness, responseWith } from './harness.js'

expectNothingUnhandled()

const COMMIT_MS = 100
const LOAD_MS = 50
const SLOTS = 4
const CALLS = 12

const unavailable = () => new HookswitchError('StoreUnavailable', 'connection reset')

type Cause = 'a failed poll' | 'a version without changes' | 'a lost answer'

async function deliverWithReload(ordering: 'none' | 'call', cause: Cause) {
  const harness = await createHarness([aWebhook({ ordering }, { id: 'w1' })], true)
  const { store } = harness.faults
  const once = new Set<Cause>()
  const starts: number[] = []
  let commitMs = 0
  let loadMs = 0
  let loads = 0
  const wrapped: QueueStore = {
    ...store,
    async poll(lease) {
      if (once.delete('a failed poll')) throw unavailable()
      return store.poll(lease)
    },
    async changes(...input) {
      const found = await store.changes(...input)
      return found && once.delete('a version without changes') ? { ...found, mustReload: true } : found
    },
    async completeTakeover(...input) {
      loads += 1
      if (loadMs > 0) await harness.clock.sleep(loadMs)
      return store.completeTakeover(...input)
    },
    async commit(group) {
      starts.push(group.starting?.deliveries.length ?? 0)
      if (commitMs > 0) await harness.clock.sleep(commitMs)
      const result = await store.commit(group)
      if (once.delete('a lost answer')) throw unavailable()
      return result
    },
  }
  const node = harness.node({ caps: { total: SLOTS } }, { store: wrapped })
  await node.start()
  const warmUp = harness.publish('warm-up')
  await harness.clock.settle()
  await warmUp
  harness.sender.script = () => undefined
  commitMs = COMMIT_MS
  const commit = () => harness.clock.advance(COMMIT_MS)
  async function answerAll() {
    for (const { answer } of [...harness.sender.open]) answer(responseWith(200))
    await harness.clock.settle()
  }
  const publishing = Array.from({ length: 2 * CALLS }, (_, index) => harness.publish(`call ${index % CALLS}`))
  await commit()
  await commit()
  await Promise.all(publishing)
  // Requests end while a group is written: the next one starts deliveries ahead of free slots.
  const another = harness.publish('another')
  await harness.clock.settle()
  await answerAll()
  await commit()
  await another
  const loadsBefore = loads
  if (cause === 'a lost answer') {
    once.add(cause)
    await commit()
    loadMs = LOAD_MS
    await harness.clock.advance(100)
    await commit()
  } else {
    await commit()
    loadMs = LOAD_MS
    once.add(cause)
    const row = (await harness.store.webhooks.read('acc', 'w1'))!
    await harness.store.webhooks.replace({ ...row, revision: row.revision + 1 }, row.revision)
    node.wake()
    await harness.clock.settle()
    // A failed poll is repeated after 100 ms.
    await harness.clock.advance(cause === 'a failed poll' ? 101 : 1)
  }
  expect(Math.max(...starts)).toBeGreaterThan(SLOTS)
  expect([harness.sender.open.length, loads - loadsBefore]).toEqual([SLOTS, 1])
  // The shards are being loaded.
  await answerAll()
  await harness.clock.advance(LOAD_MS)
  loadMs = 0
  for (let round = 0; round < 40; round += 1) {
    await answerAll()
    await commit()
  }
  const deliveries = await harness.deliveries()
  const pending = node.pending()
  const closing = node.close(0)
  await harness.clock.advance(5_000)
  await closing
  const sequences = new Map<string, number[]>()
  for (const { body } of harness.sender.requests) {
    const { call_id: call, sequence } = JSON.parse(body!)
    sequences.set(call, [...(sequences.get(call) ?? []), sequence])
  }
  return { states: new Set(deliveries.map(({ state }) => state)), pending, sent: harness.sent(), sequences }
}

describe.each(['none', 'call'] as const)(
  'deliveries that are started ahead of slots, with ordering %s',
  (ordering) => {
    it.each(['a failed poll', 'a version without changes', 'a lost answer'] as const)(
      'are all sent once, after %s has led to a load in which requests end',
      async (cause) => {
        const { states, pending, sent, sequences } = await deliverWithReload(ordering, cause)
        expect([[...states], pending]).toEqual([['delivered'], 0])
        expect(sent).toHaveLength(2 * CALLS + 2)
        if (ordering === 'none') return
        const ofCalls = Array.from({ length: CALLS }, (_, index) => sequences.get(`call ${index}`))
        expect(ofCalls).toEqual(ofCalls.map(() => [1, 2]))
      },
    )
  },
)
