import assert from 'node:assert/strict'
import { laneKey } from '../../delivery/lane-key.js'
import { shardOf } from '../../store/shards.js'
import { type DefineRule, idsOf, valuesOf } from './fixture.js'
import { acceptanceOf, keyOf, keysOf, rowsOf, type WaitingRow } from './node.js'
import { newDelivery, newEvent, newReplay, newWebhook } from './sample-data.js'

/** Rules of `load` and `bodies`: what a queue in memory is built from. */
export function loadRules(rule: DefineRule): void {
  rule('a load returns every waiting delivery once, in parts that fit together', async (fixture) => {
    const webhooks = [await fixture.webhook(), await fixture.webhook()]
    const accepted = []
    for (let round = 0; round < 6; round += 1) {
      accepted.push(...(await fixture.acceptMany(webhooks[0]!, 60)))
      for (let index = 0; index < 5; index += 1)
        accepted.push(...(await fixture.accept(webhooks, { callId: `call-${index}` })))
    }
    const { lease, version } = fixture.node
    const found: WaitingRow[] = []
    let cursor: string | undefined
    do {
      const part = await fixture.store.deliveries.load(lease, lease.shards, cursor)
      assert.ok(part)
      assert.equal(part.version, version)
      const { count, webhookIds, ...columns } = part.waiting
      for (const column of Object.values(columns)) assert.ok(column.length >= count)
      assert.equal(new Set(webhookIds).size, webhookIds.length)
      assert.deepEqual(idsOf(part.webhooks).sort(), [...webhookIds].sort())
      found.push(...rowsOf(part.waiting))
      cursor = part.cursor
    } while (cursor !== undefined)
    const orderOf = ({ position, webhookId }: (typeof found)[number]) => `${position} ${webhookId}`
    const expected = accepted.map(({ position, webhookId }) => `${position} ${webhookId}`)
    assert.deepEqual(found.map(orderOf).sort(), expected.sort())
    const last = new Map<string, number>()
    for (const { webhookId, lane, sequence } of found) {
      const id = `${webhookId} ${lane}`
      assert.ok((last.get(id) ?? 0) < sequence, 'the deliveries of a lane are in order')
      last.set(id, sequence)
    }
  })

  rule('a load returns only the deliveries of the given shards', async (fixture) => {
    const webhooks = await Promise.all(Array.from({ length: 9 }, () => fixture.webhook()))
    await fixture.accept(webhooks)
    const shards = [...new Set(webhooks.map(({ id }) => shardOf(id)))].sort((a, b) => a - b)
    assert.ok(shards.length > 1)
    const idsIn = async (loaded: readonly number[]) =>
      [...new Set((await fixture.node.load(loaded)).rows.map(({ webhookId }) => webhookId))].sort()
    for (const some of [shards.slice(0, 1), shards.slice(1)]) {
      const expected = idsOf(webhooks).filter((id) => some.includes(shardOf(id)))
      assert.deepEqual(await idsIn(some), expected.sort())
    }
    assert.deepEqual(await idsIn([]), [])
  })

  rule('a loaded delivery has the key of its lane, or 0 where it is not ordered', async (fixture) => {
    const ordered = await fixture.webhook()
    const free = await fixture.webhook({ settings: { ordering: 'none' } })
    const event = newEvent({ callId: 'call' })
    const first = newDelivery(ordered, event)
    await fixture.acceptOne(acceptanceOf(event, [first, newDelivery(free, event)]))
    const replay = newReplay(ordered, event, first, { lane: 'replay/request' })
    await fixture.acceptOne(acceptanceOf([], [replay]))
    const { rows } = await fixture.node.load()
    const laneOf = (webhookId: string, position: number) =>
      rows.find((row) => row.webhookId === webhookId && row.position === position)?.lane
    assert.equal(laneOf(ordered.id, event.position!), laneKey('account/call'))
    assert.equal(laneOf(ordered.id, replay.position!), laneKey('replay/request'))
    assert.equal(laneOf(free.id, event.position!), 0)
  })

  rule('a load has the webhooks of its deliveries, disabled and deleted ones too', async (fixture) => {
    const [first, second, idle] = [await fixture.webhook(), await fixture.webhook(), await fixture.webhook()]
    await fixture.accept([first, second])
    const disabled = await fixture.disable(first)
    const deleted = await fixture.remove(second)
    const { rows, webhooks } = await fixture.node.load()
    assert.deepEqual(valuesOf(rows, 'epoch'), [1, 1])
    assert.deepEqual(webhooks.get(first.id), disabled)
    assert.deepEqual(webhooks.get(second.id), deleted)
    assert.equal(webhooks.has(idle.id), false)
    assert.deepEqual(await fixture.store.deliveries.webhookOf(second.id), deleted)
    assert.equal(await fixture.store.deliveries.webhookOf('unknown'), undefined)
  })

  rule('a node without lease loads and polls nothing and reads no changes', async (fixture) => {
    const { deliveries } = fixture.store
    const { lease, version } = fixture.node
    await deliveries.release(lease.owner)
    for (const old of [lease, { owner: 'stranger', fence: 1 }]) {
      assert.equal(await deliveries.load(old, [0, 1]), undefined)
      assert.equal(await deliveries.poll(old), undefined)
      assert.equal(await deliveries.changes(old, version), undefined)
    }
  })

  rule('bodies are in the order of the keys, and undefined for what does not wait', async (fixture) => {
    const [, first, ended, second] = await fixture.webhookWith(3)
    await fixture.settle(ended!, 'delivered')
    const other = newWebhook()
    const keys = [second!, ended!, first, { ...first, webhookId: other.id }, { ...first, position: 1 }].map(
      keyOf,
    )
    const contents = await fixture.store.deliveries.bodies(keys)
    assert.deepEqual(
      contents.map((content) => content?.delivery.id),
      [second!.id, undefined, first.id, undefined, undefined],
    )
    for (const content of [contents[0]!, contents[2]!]) {
      assert.equal(content.body, `{"event_id":"${content.delivery.eventId}","sequence":1}`)
    }
    assert.deepEqual(await fixture.store.deliveries.bodies([]), [])
  })

  rule('bodies return deliveries as they were accepted, with their counts', async (fixture) => {
    const webhook = await fixture.webhook({ accountId: 'parent', settings: { httpVerb: 'patch' } })
    const event = newEvent({ accountId: 'child', hook: 'channel_answer', timestampMs: 1_234 })
    const delivery = newDelivery(webhook, event, { encoding: 'form' })
    await fixture.acceptOne(acceptanceOf(event, [delivery]))
    const [content] = await fixture.store.deliveries.bodies([
      keyOf({ ...delivery, position: event.position! }),
    ])
    const { position: _position, ...expected } = delivery
    for (const [name, value] of Object.entries(expected))
      assert.deepEqual(content?.delivery[name as keyof typeof expected], value, name)
    const { state, attempts, tries, interruptions, acceptedMs } = content!.delivery
    assert.deepEqual([state, attempts, tries, interruptions, acceptedMs], ['waiting', 0, 0, 0, fixture.now()])
  })

  rule('every body comes with the trace context of its event, or with none', async (fixture) => {
    const webhook = await fixture.webhook()
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`
    const [traced] = await fixture.accept(webhook, { traceparent })
    const [plain] = await fixture.accept(webhook)
    await fixture.retry(traced!)
    const [first, second] = await fixture.store.deliveries.bodies([traced!, plain!].map(keyOf))
    assert.equal(first?.traceparent, traceparent)
    assert.equal(second?.traceparent, undefined)
  })

  rule('a delivery that waits again keeps its position, its lane and its body', async (fixture) => {
    const [webhook, first] = await fixture.webhookWith(1, { callId: 'call' })
    const [second] = await fixture.accept(webhook, { callId: 'call' })
    const [before] = await fixture.waiting(webhook)
    await fixture.retry(first, { dueMs: fixture.now() + 9_000 })
    const { rows } = await fixture.node.load()
    assert.deepEqual(rows.map(keyOf), [first, second!].map(keyOf))
    assert.equal((await fixture.waiting(webhook))[0]?.body, before?.body)
    assert.deepEqual(keysOf(rows), keysOf([first, second!]))
  })
}
