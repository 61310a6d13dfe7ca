import { describe, expect, it } from 'vitest'
import type { Group, QueueStore, Start } from '../../src/delivery/queue-store.js'
import { HookswitchError } from '../../src/errors.js'
import type { Webhook } from '../../src/webhooks/webhook.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { aWebhook } from './fixtures.js'
import { createHarness, responseWith } from './harness.js'
import { createRecordingMetrics } from './recording-metrics.js'

expectNothingUnhandled()

/** A store that another server takes over, which has none of the deliveries at these positions. */
function failingOver(store: QueueStore) {
  const calls: string[] = []
  const lost = new Set<number>()
  /** Deliveries whose rows are of an earlier attempt than the one in flight: its settlement is fenced. */
  const older = new Set<number>()
  let history = 'first'
  let hasFailedOver = false
  const wrapped: QueueStore = {
    ...store,
    async commit(group: Group) {
      if (hasFailedOver) return { kind: 'outdated' }
      const fenced = group.ended.findIndex(({ position }) => position !== undefined && older.delete(position))
      if (fenced < 0) return store.commit(group)
      const result = await store.commit({ ...group, ended: group.ended.toSpliced(fenced, 1) })
      if (result.kind !== 'committed') return result
      return { ...result, ended: result.ended.toSpliced(fenced, 0, { kind: 'fenced' }) }
    },
    async changes(lease, since) {
      const found = await store.changes(lease, since)
      if (!hasFailedOver || !found) return found
      hasFailedOver = false
      return { ...found, webhooks: [], removed: [], mustReload: true }
    },
    async renew(...args) {
      calls.push('renew')
      return store.renew(...args)
    },
    async load(...args) {
      const part = await store.load(...args)
      calls.push('load')
      if (!part) return part
      const { waiting } = part
      const kept = Array.from(waiting.position, (position, index) => ({ position, index })).filter(
        ({ position }) => !lost.has(position),
      )
      const pick = <Column extends Float64Array | Uint32Array | Uint8Array>(column: Column): Column =>
        column.filter((_: number, index: number) => kept.some((lease) => lease.index === index)) as Column
      return {
        ...part,
        history,
        waiting: {
          ...waiting,
          count: kept.length,
          webhook: pick(waiting.webhook),
          position: pick(waiting.position),
          lane: pick(waiting.lane),
          sequence: pick(waiting.sequence),
          dueMs: pick(waiting.dueMs),
          epoch: pick(waiting.epoch),
          attempts: pick(waiting.attempts),
          tries: pick(waiting.tries),
          interruptions: pick(waiting.interruptions),
          failedMs: pick(waiting.failedMs),
        },
      }
    },
  }
  return {
    store: wrapped,
    calls,
    older,
    failOver(positions: readonly number[]) {
      for (const position of positions) lost.add(position)
      history = 'second'
      hasFailedOver = true
      calls.length = 0
    },
  }
}

describe('a server that has taken over without the last commits', () => {
  it('has what is in flight as before an earlier attempt: it is loaded and sent again', async () => {
    const harness = await createHarness([aWebhook({}, { id: 'w1' })], true)
    harness.sender.script = () => undefined
    const { store, older, failOver } = failingOver(harness.faults.store)
    const node = harness.node({}, { store })
    await node.start()
    await harness.publish('in-flight')
    await harness.clock.settle()
    const [row] = await harness.store.deliveries.deliveries({ accountId: 'acc', webhookId: 'w1', limit: 9 })
    failOver([])
    older.add(row!.position)
    harness.sender.open[0]!.answer(responseWith(500))
    harness.sender.script = () => responseWith(200)
    await harness.clock.advance(5_000)
    expect(harness.sent()).toEqual(['in-flight', 'in-flight'])
    expect((await harness.deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['delivered', 1],
    ])
    const closing = node.close(0)
    await harness.clock.advance(5_000)
    await closing
  })

  it('is loaded after the lease is requested again; what it lacks is counted and not sent, what is in flight stays', async () => {
    const harness = await createHarness([aWebhook({}, { id: 'w1' })], true)
    harness.sender.script = () => undefined
    const { store, calls, failOver } = failingOver(harness.faults.store)
    const recorded = createRecordingMetrics()
    const errors: object[] = []
    const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => void errors.push(fields) }
    const node = harness.node({ caps: { total: 1 } }, { store, metrics: recorded.metrics, log })
    await node.start()
    for (const call of ['in-flight', 'kept', 'lost', 'also-lost']) await harness.publish(call)
    await harness.clock.settle()
    expect(harness.sent()).toEqual(['in-flight'])
    const rows = await harness.store.deliveries.deliveries({ accountId: 'acc', webhookId: 'w1', limit: 9 })
    failOver(rows.filter(({ callId }) => callId?.endsWith('lost')).map(({ position }) => position))
    await harness.publish('later')
    await harness.clock.settle()
    expect(calls).toEqual(['load', 'renew', 'load'])
    expect(errors).toEqual([{ lost: 2, returned: 0 }])
    expect(recorded.count('hookswitch_deliveries_lost_total')).toBe(2)
    harness.sender.script = () => responseWith(200)
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.advance(5_000)
    expect(harness.sent()).toEqual(['in-flight', 'kept', 'later'])
    expect(errors).toHaveLength(1)
    const closing = node.close(0)
    await harness.clock.advance(5_000)
    await closing
  })

  it('lacks an edit of a webhook that is busy: what it has counts', async () => {
    const webhook = aWebhook({}, { id: 'w1' })
    const harness = await createHarness([webhook], true)
    harness.sender.script = () => undefined
    const { store, failOver } = failingOver(harness.faults.store)
    let hasEdit = true
    const atServer = (row: Webhook) => (hasEdit ? row : webhook)
    const node = harness.node(
      {},
      {
        store: {
          ...store,
          async load(...input) {
            const part = await store.load(...input)
            return part && { ...part, webhooks: part.webhooks.map(atServer) }
          },
          async webhookOf(id) {
            const row = await store.webhookOf(id)
            return row && atServer(row)
          },
        },
      },
    )
    await node.start()
    const settings = { ...webhook.settings, uri: 'https://edited.example/hook' }
    await harness.store.webhooks.replace(
      { ...webhook, settings, revision: webhook.revision + 1 },
      webhook.revision,
    )
    node.wake()
    await harness.clock.settle()
    await harness.publish('in-flight')
    await harness.clock.settle()
    failOver([])
    hasEdit = false
    await harness.publish('later')
    await harness.clock.settle()
    expect(harness.sender.requests.map(({ url }) => url)).toEqual([settings.uri, webhook.settings.uri])
    const closing = node.close(0)
    await harness.clock.advance(5_000)
    await closing
  })

  it('is loaded once although it refuses the settlement of an interrupted attempt', async () => {
    const harness = await createHarness([aWebhook({}, { id: 'w1' })], true)
    harness.sender.script = () => undefined
    const { store, calls, failOver } = failingOver(harness.faults.store)
    let interrupted: readonly Start[] = []
    let refused = 0
    const node = harness.node(
      { caps: { total: 1 } },
      {
        store: {
          ...store,
          async load(...input) {
            const part = await store.load(...input)
            // Ends a loop, which the test then finds.
            return part && { ...part, interrupted: calls.length > 20 ? [] : interrupted }
          },
          async commit(group) {
            if (interrupted.length > 0 && group.ended.length > 0) {
              refused += 1
              throw new Error('refused by a trigger')
            }
            return store.commit(group)
          },
        },
      },
    )
    await node.start()
    for (const call of ['in-flight', 'waiting']) await harness.publish(call)
    await harness.clock.settle()
    const rows = await harness.store.deliveries.deliveries({ accountId: 'acc', webhookId: 'w1', limit: 9 })
    const { position } = rows.find(({ callId }) => callId === 'waiting')!
    failOver([])
    interrupted = [{ webhookId: 'w1', position, attempt: 1, epoch: 1 }]
    await harness.publish('later')
    await harness.clock.advance(5_000)
    expect(refused).toBeGreaterThan(0)
    expect(calls.filter((call) => call === 'load')).toHaveLength(2)
    interrupted = []
    const closing = node.close(0)
    await harness.clock.advance(5_000)
    await closing
  })

  it('is counted again if that failed', async () => {
    const harness = await createHarness([aWebhook({}, { id: 'w1' })], true)
    harness.sender.script = () => undefined
    const { store, failOver } = failingOver(harness.faults.store)
    const errors: object[] = []
    const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => void errors.push(fields) }
    let failures = 0
    const failing: QueueStore = {
      ...store,
      async bodies(keys) {
        if (failures-- > 0) throw new HookswitchError('StoreUnavailable', 'no answer')
        return store.bodies(keys)
      },
    }
    const node = harness.node({ caps: { total: 1 } }, { store: failing, log })
    await node.start()
    for (const call of ['in-flight', 'lost']) await harness.publish(call)
    await harness.clock.settle()
    const rows = await harness.store.deliveries.deliveries({ accountId: 'acc', webhookId: 'w1', limit: 9 })
    failOver(rows.filter(({ callId }) => callId === 'lost').map(({ position }) => position))
    failures = 1
    const publishing = harness.publish('later')
    await harness.clock.advance(1_000)
    await publishing
    expect(failures).toBeLessThan(1)
    expect(errors).toEqual([{ lost: 1, returned: 0 }])
    harness.sender.script = () => responseWith(200)
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.advance(5_000)
    expect(harness.sent()).toEqual(['in-flight', 'later'])
    const closing = node.close(0)
    await harness.clock.advance(5_000)
    await closing
  })

  it('does not lose what is accepted by the group that finds it', async () => {
    const harness = await createHarness([aWebhook()], true)
    const { store, failOver } = failingOver(harness.faults.store)
    const errors: object[] = []
    const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => void errors.push(fields) }
    const node = harness.node({}, { store, log })
    await node.start()
    await harness.publish('before')
    await harness.clock.settle()
    failOver([])
    await harness.publish('after')
    await harness.clock.advance(5_000)
    expect(errors).toEqual([])
    expect(harness.sent()).toEqual(['before', 'after'])
    expect((await harness.attempts()).map(({ attempt }) => attempt)).toEqual([1, 1])
    const closing = node.close(0)
    await harness.clock.advance(5_000)
    await closing
  })

  it('does not get what was started ahead of a slot and is lost', async () => {
    const harness = await createHarness([aWebhook({ ordering: 'none' }, { id: 'w1' })], true)
    const { store, failOver } = failingOver(harness.faults.store)
    let isSlow = false
    /** Requests of a lease that the new server has not answered yet. */
    const renewals: (() => void)[] = []
    const errors: object[] = []
    const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => void errors.push(fields) }
    const node = harness.node(
      { caps: { total: 1 } },
      {
        log,
        store: {
          ...store,
          async commit(group) {
            if (isSlow) await harness.clock.sleep(100)
            return store.commit(group)
          },
          async renew(...args) {
            await new Promise<void>((resolve) => void renewals.push(resolve))
            return store.renew(...args)
          },
        },
      },
    )
    await node.start()
    await harness.publish('fast')
    await harness.clock.settle()
    harness.sender.script = () => undefined
    for (const call of ['first', 'second', 'third']) await harness.publish(call)
    await harness.clock.settle()
    isSlow = true
    const publishing = harness.publish('fourth')
    await harness.clock.settle()
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.advance(100)
    await publishing
    await harness.clock.advance(100)
    expect(harness.sent()).toEqual(['fast', 'first', 'second'])
    isSlow = false
    expect(harness.sender.open).toHaveLength(1)
    const rows = await harness.deliveries()
    expect(rows.filter(({ state }) => state === 'in_flight').map(({ callId }) => callId)).toEqual([
      'second',
      'third',
    ])
    failOver(rows.filter(({ callId }) => callId === 'third').map(({ position }) => position))
    const publishingLater = harness.publish('later')
    await harness.clock.settle()
    expect(renewals).toHaveLength(1)
    // A slot becomes free before the shards are loaded from the new server.
    harness.sender.script = () => responseWith(200)
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    expect(harness.sent()).toEqual(['fast', 'first', 'second'])
    renewals[0]!()
    await publishingLater
    await harness.clock.settle()
    expect(errors).toEqual([{ lost: 1, returned: 0 }])
    await harness.clock.advance(5_000)
    expect(harness.sent().slice(0, 3)).toEqual(['fast', 'first', 'second'])
    // They are deliveries without order: one of them waits for its content.
    expect(harness.sent().slice(3).sort()).toEqual(['fourth', 'later'])
    const closing = node.close(0)
    await harness.clock.advance(5_000)
    await closing
  })
})

describe('a server that has taken over', () => {
  it('has not lost what waits in a group that is not committed yet', async () => {
    const harness = await createHarness([aWebhook()], true)
    const { store, failOver } = failingOver(harness.faults.store)
    const errors: object[] = []
    const log = { debug() {}, info() {}, warn() {}, error: (fields: object) => void errors.push(fields) }
    const recorded = createRecordingMetrics()
    const node = harness.node({ caps: { perEndpoint: 1 } }, { store, log, metrics: recorded.metrics })
    await node.start()
    await harness.publish('before')
    await harness.clock.settle()
    failOver([])
    await Promise.all([harness.publish('one'), harness.publish('two')])
    await harness.clock.advance(5_000)
    expect(harness.sent()).toEqual(['before', 'one', 'two'])
    expect(errors).toEqual([])
    expect(recorded.count('hookswitch_deliveries_lost_total')).toBe(0)
  })
})
