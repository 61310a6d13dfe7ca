import assert from 'node:assert/strict'
import { deleteWebhook } from '../../webhooks/webhook.js'
import { type DefineRule, idsOf } from './fixture.js'
import { startOf } from './node.js'
import { WALL_MS } from './sample-data.js'

/** Rules of epochs: how disabling and deleting cancel deliveries. */
export function epochRules(rule: DefineRule): void {
  rule('deliveries of an older epoch are cancelled at once in every query', async (fixture) => {
    const webhook = await fixture.webhook()
    const [head] = await fixture.accept(webhook, { callId: 'call' })
    const [behind] = await fixture.accept(webhook, { callId: 'call' })
    const retried = await fixture.retry(head!)
    assert.equal(await fixture.state(webhook, retried.id), 'waiting')
    await fixture.disable(webhook)
    for (const { id } of [head!, behind!]) {
      const row = await fixture.store.deliveries.delivery('account', id)
      assert.deepEqual([row?.state, row?.reason, row?.dueMs], ['cancelled', 'cancelled', undefined])
    }
    const query = { accountId: 'account', webhookId: webhook.id, limit: 9 }
    const list = async (states: readonly ('waiting' | 'cancelled')[]) => {
      const rows = await fixture.store.deliveries.deliveries({ ...query, states })
      assert.ok(rows.every(({ state }) => states.includes(state as 'waiting' | 'cancelled')))
      return idsOf(rows)
    }
    assert.deepEqual(await list(['waiting']), [])
    assert.deepEqual(await list(['cancelled']), [behind!.id, head!.id])
    assert.deepEqual(
      (await fixture.store.deliveries.deliveries(query)).map((row) => row.ahead),
      [0, 0],
    )
  })

  rule('deliveries of an older epoch are loaded until they are settled', async (fixture) => {
    const webhook = await fixture.webhook()
    const [first] = await fixture.accept(webhook, { callId: 'a' })
    const [second] = await fixture.accept(webhook, { callId: 'a' })
    const disabled = await fixture.disable(webhook)
    const { rows, webhooks } = await fixture.node.load()
    assert.deepEqual(
      rows.map(({ position, epoch }) => [position, epoch]),
      [first!, second!].map(({ position }) => [position, 1]),
    )
    assert.equal(webhooks.get(webhook.id)?.epoch, disabled.epoch)
    for (const waiting of await fixture.waiting(webhook)) {
      assert.equal(waiting.state, 'waiting')
      await fixture.settle(waiting, 'cancelled', { next: { reason: 'cancelled' } })
    }
    assert.deepEqual((await fixture.node.load()).rows, [])
    const stored = await fixture.store.deliveries.delivery('account', first!.id)
    assert.deepEqual([stored?.state, stored?.endedMs], ['cancelled', fixture.now()])
  })

  rule(
    'a webhook that is enabled again starts new deliveries, and cancelled ones stay cancelled',
    async (fixture) => {
      const webhook = await fixture.webhook()
      const [old] = await fixture.accept(webhook, { callId: 'a' })
      const enabled = await fixture.enable(await fixture.disable(webhook))
      const [fresh] = await fixture.accept(enabled, { callId: 'b' })
      assert.equal(await fixture.state(webhook, old!.id), 'cancelled')
      assert.equal(await fixture.state(webhook, fresh!.id), 'waiting')
      const deliveries = [old!, fresh!].map(startOf)
      const { notStarted } = await fixture.node.commit({ starting: { key: 1, deliveries } })
      assert.deepEqual(notStarted, [0])
    },
  )

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
    const webhook = await fixture.webhook()
    const [first, second] = await fixture.acceptMany(webhook, 2)
    await fixture.node.start(first!, second!)
    await fixture.disable(webhook)
    await fixture.settle(first!, 'delivered')
    const retried = await fixture.retry(second!)
    assert.equal(await fixture.state(webhook, first!.id), 'delivered')
    assert.equal(await fixture.state(webhook, second!.id), 'cancelled')
    const { notStarted } = await fixture.node.start(retried)
    assert.deepEqual(notStarted, [0])
  })

  rule('deleting a webhook cancels its deliveries too, and they stay readable', async (fixture) => {
    const webhook = await fixture.webhook()
    const [delivery] = await fixture.accept(webhook)
    assert.equal(await fixture.store.webhooks.replace(deleteWebhook(webhook, WALL_MS), 1), true)
    assert.equal(await fixture.state(webhook, delivery!.id), 'cancelled')
    await fixture.settle(await fixture.waitingOne(webhook), 'cancelled')
    assert.equal(await fixture.state(webhook, delivery!.id), 'cancelled')
    assert.deepEqual(await fixture.waiting(webhook), [])
  })

  rule('a replacement with the same epoch cancels nothing', async (fixture) => {
    const webhook = await fixture.webhook()
    const [delivery] = await fixture.accept(webhook)
    const renamed = { ...webhook, settings: { ...webhook.settings, name: 'Renamed' }, revision: 2 }
    await fixture.store.webhooks.replace(renamed, 1)
    assert.equal(await fixture.state(webhook, delivery!.id), 'waiting')
    assert.deepEqual((await fixture.node.start(delivery!)).notStarted, [])
  })

  rule('a delivery with the epoch of a disabled webhook (a test) waits and starts', async (fixture) => {
    const disabled = await fixture.disable(await fixture.webhook())
    const [test] = await fixture.accept(disabled, { numbered: false })
    assert.equal(await fixture.state(disabled, test!.id), 'waiting')
    assert.deepEqual((await fixture.node.start(test!)).notStarted, [])
    await fixture.settle(test!, 'delivered')
  })
}
