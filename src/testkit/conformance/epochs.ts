import assert from 'node:assert/strict'
import { type DefineRule, idsOf, valuesOf } from './fixture.js'
import { startOf } from './node.js'

/** Rules of epochs: how disabling and deleting cancel deliveries. */
export function epochRules(rule: DefineRule): void {
  rule('deliveries of an older epoch are cancelled at once in every query', async (fixture) => {
    const [webhook, head] = await fixture.webhookWith(1, { callId: 'call' })
    const [behind] = await fixture.accept(webhook, { callId: 'call' })
    const retried = await fixture.retry(head)
    assert.equal(await fixture.state(webhook, retried.id), 'waiting')
    await fixture.disable(webhook)
    for (const { id } of [head, behind!]) {
      const row = await fixture.delivery(id)
      assert.deepEqual([row?.state, row?.reason, row?.dueMs], ['cancelled', 'cancelled', undefined])
    }
    const list = async (states: readonly ('waiting' | 'cancelled')[]) => {
      const rows = await fixture.deliveriesOf(webhook, { states })
      assert.ok(rows.every(({ state }) => states.includes(state as 'waiting' | 'cancelled')))
      return idsOf(rows)
    }
    assert.deepEqual(await list(['waiting']), [])
    assert.deepEqual(await list(['cancelled']), [behind!.id, head.id])
    assert.deepEqual(valuesOf(await fixture.deliveriesOf(webhook), 'ahead'), [0, 0])
  })

  rule('deliveries of an older epoch are loaded until they are settled', async (fixture) => {
    const [webhook, first] = await fixture.webhookWith(1, { callId: 'a' })
    const [second] = await fixture.accept(webhook, { callId: 'a' })
    const disabled = await fixture.disable(webhook)
    const { rows, webhooks } = await fixture.node.load()
    assert.deepEqual(
      rows.map(({ position, epoch }) => [position, epoch]),
      [first, second!].map(({ position }) => [position, 1]),
    )
    assert.equal(webhooks.get(webhook.id)?.epoch, disabled.epoch)
    for (const waiting of await fixture.waiting(webhook)) {
      assert.equal(waiting.state, 'waiting')
      await fixture.settle(waiting, 'cancelled', { next: { reason: 'cancelled' } })
    }
    assert.deepEqual((await fixture.node.load()).rows, [])
    const stored = await fixture.delivery(first.id)
    assert.deepEqual([stored?.state, stored?.endedMs], ['cancelled', fixture.now()])
  })

  rule('a webhook that is enabled again starts new deliveries, no cancelled ones', async (fixture) => {
    const [webhook, old] = await fixture.webhookWith(1, { callId: 'a' })
    const enabled = await fixture.enable(await fixture.disable(webhook))
    const [fresh] = await fixture.accept(enabled, { callId: 'b' })
    assert.equal(await fixture.state(webhook, old.id), 'cancelled')
    assert.equal(await fixture.state(webhook, fresh!.id), 'waiting')
    const deliveries = [old, fresh!].map(startOf)
    const { notStarted } = await fixture.node.commit({ starting: { key: 1, deliveries } })
    assert.deepEqual(notStarted, [0])
  })

  rule('a delivery accepted for an older epoch waits, and is cancelled for readers', async (fixture) => {
    const webhook = await fixture.webhook()
    const { acceptance, deliveries } = fixture.prepare(webhook)
    await fixture.disable(webhook)
    assert.equal((await fixture.acceptOne(acceptance)).kind, 'accepted')
    assert.equal(await fixture.state(webhook, deliveries[0]!.id), 'cancelled')
    const waiting = await fixture.waitingOne(webhook)
    assert.deepEqual([waiting.id, waiting.epoch], [deliveries[0]!.id, 1])
  })

  rule('a delivery in flight when its webhook is disabled can still be settled', async (fixture) => {
    const [webhook, first, second] = await fixture.webhookWith(2)
    await fixture.node.start(first, second!)
    await fixture.disable(webhook)
    await fixture.settle(first, 'delivered')
    const retried = await fixture.retry(second!)
    assert.equal(await fixture.state(webhook, first.id), 'delivered')
    assert.equal(await fixture.state(webhook, second!.id), 'cancelled')
    const { notStarted } = await fixture.node.start(retried)
    assert.deepEqual(notStarted, [0])
  })

  rule('deleting a webhook cancels its deliveries too, and they stay readable', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    await fixture.remove(webhook)
    assert.equal(await fixture.state(webhook, delivery.id), 'cancelled')
    await fixture.settle(await fixture.waitingOne(webhook), 'cancelled')
    assert.equal(await fixture.state(webhook, delivery.id), 'cancelled')
    assert.deepEqual(await fixture.waiting(webhook), [])
  })

  rule('a replacement with the same epoch cancels nothing', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    await fixture.edit(webhook, { settings: { name: 'Renamed' } })
    assert.equal(await fixture.state(webhook, delivery.id), 'waiting')
    assert.deepEqual((await fixture.node.start(delivery)).notStarted, [])
  })

  rule('a delivery with the epoch of a disabled webhook (a test) waits and starts', async (fixture) => {
    const disabled = await fixture.disable(await fixture.webhook())
    const [test] = await fixture.accept(disabled, { numbered: false })
    assert.equal(await fixture.state(disabled, test!.id), 'waiting')
    assert.deepEqual((await fixture.node.start(test!)).notStarted, [])
    await fixture.settle(test!, 'delivered')
  })
}
