import assert from 'node:assert/strict'
import type { Webhook } from '../../webhooks/webhook.js'
import { type DefineRule, type Fixture, idsOf } from './fixture.js'
import { newDelivery, newEvent, WALL_MS } from './sample-data.js'

/** Disables the webhook as the API does: with a higher revision and epoch. */
async function disable(fixture: Fixture, webhook: Webhook): Promise<Webhook> {
  const settings = { ...webhook.settings, enabled: false }
  const row = {
    ...webhook,
    settings,
    disabledMs: WALL_MS,
    revision: webhook.revision + 1,
    epoch: webhook.epoch + 1,
  }
  assert.equal(await fixture.store.webhooks.replace(row, webhook.revision), true)
  return row
}

async function enable(fixture: Fixture, webhook: Webhook): Promise<Webhook> {
  const row = { ...webhook, settings: { ...webhook.settings, enabled: true }, revision: webhook.revision + 1 }
  assert.equal(await fixture.store.webhooks.replace(row, webhook.revision), true)
  return row
}

const listStale = (fixture: Fixture, limit = 100) => fixture.store.deliveries.stale(fixture.owner, limit)

/** Rules of epochs: how disabling and deleting cancel deliveries. */
export function epochRules(rule: DefineRule): void {
  rule('deliveries of an older epoch are cancelled at once in every query', async (fixture) => {
    const webhook = await fixture.webhook()
    const [head] = await fixture.accept(webhook, { callId: 'call' })
    const [behind] = await fixture.accept(webhook, { callId: 'call' })
    await disable(fixture, webhook)
    for (const id of [head!, behind!]) {
      const row = await fixture.store.deliveries.delivery('account', id)
      assert.deepEqual([row?.state, row?.reason, row?.dueMs], ['cancelled', 'cancelled', undefined])
    }
    const query = { accountId: 'account', webhookId: webhook.id, limit: 9 }
    const list = async (states: readonly ('waiting' | 'cancelled')[]) =>
      idsOf(await fixture.store.deliveries.deliveries({ ...query, states }))
    assert.deepEqual(await list(['waiting']), [])
    assert.deepEqual(await list(['cancelled']), [behind, head])
    assert.deepEqual(
      (await fixture.store.deliveries.deliveries(query)).map((row) => row.ahead),
      [0, 0],
    )
  })

  rule('stale deliveries are listed until they are settled, lane heads or not', async (fixture) => {
    const [webhook, healthy] = [await fixture.webhook(), await fixture.webhook()]
    await fixture.accept(healthy)
    const waiting = [
      ...(await fixture.accept(webhook, { callId: 'a' })),
      ...(await fixture.accept(webhook, { callId: 'a' })),
      ...(await fixture.accept(webhook, { callId: 'b' })),
    ]
    assert.deepEqual(await listStale(fixture), [])
    await disable(fixture, webhook)
    assert.deepEqual(idsOf(await listStale(fixture)).sort(), [...waiting].sort())
    assert.equal((await listStale(fixture, 2)).length, 2)
    for (let left = 3; left > 0; left -= 1) {
      const [row] = await listStale(fixture, 1)
      await fixture.settle(row!, 'cancelled', { next: { reason: 'cancelled' } })
      assert.equal((await listStale(fixture)).length, left - 1)
    }
    assert.equal((await fixture.claim([webhook, healthy])).length, 1)
    assert.equal((await fixture.store.deliveries.delivery('account', waiting[0]!))?.endedMs, fixture.now())
  })

  rule('stale deliveries are not due and make no endpoint ready', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    const enabled = await enable(fixture, await disable(fixture, webhook))
    assert.equal((await fixture.claim(enabled)).length, 0)
    const ready = await fixture.store.deliveries.ready(fixture.owner)
    assert.deepEqual(
      ready.filter((endpoint) => endpoint.dueMs !== undefined),
      [],
    )
  })

  rule(
    'a webhook that is enabled again sends new deliveries, and cancelled ones stay cancelled',
    async (fixture) => {
      const webhook = await fixture.webhook()
      const [old] = await fixture.accept(webhook, { callId: 'a' })
      const enabled = await enable(fixture, await disable(fixture, webhook))
      const [fresh] = await fixture.accept(enabled, { callId: 'b' })
      assert.equal((await fixture.claimOne(enabled)).delivery.id, fresh)
      assert.equal(await fixture.state(webhook, old!), 'cancelled')
    },
  )

  rule('a new delivery behind stale ones in its lane is due once they are settled', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook, { callId: 'call' })
    await fixture.accept(webhook, { callId: 'call' })
    const enabled = await enable(fixture, await disable(fixture, webhook))
    const [fresh] = await fixture.accept(enabled, { callId: 'call' })
    assert.equal((await fixture.store.deliveries.delivery('account', fresh!))?.ahead, 0)
    for (const row of await listStale(fixture)) await fixture.settle(row, 'cancelled')
    assert.equal((await fixture.claimOne(enabled)).delivery.id, fresh)
  })

  rule('a delivery accepted for an older epoch is cancelled from the start', async (fixture) => {
    const webhook = await fixture.webhook()
    const event = newEvent()
    const delivery = newDelivery(webhook, event)
    await disable(fixture, webhook)
    await fixture.store.deliveries.accept(
      { events: [event], deliveries: [delivery], maxPending: 9 },
      fixture.now(),
    )
    assert.equal(await fixture.state(webhook, delivery.id), 'cancelled')
    assert.deepEqual(idsOf(await listStale(fixture)), [delivery.id])
  })

  rule('a delivery in flight when its webhook is disabled can still be settled', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    await fixture.accept(webhook)
    const [one, two] = await fixture.claim(webhook)
    const disabled = await disable(fixture, webhook)
    assert.equal(await fixture.state(webhook, one!.delivery.id), 'in_flight')
    assert.deepEqual(await listStale(fixture), [])
    await fixture.settle(one!.delivery, 'delivered')
    await fixture.settle(two!.delivery, 'waiting')
    assert.equal(await fixture.state(webhook, one!.delivery.id), 'delivered')
    assert.equal(await fixture.state(webhook, two!.delivery.id), 'cancelled')
    assert.deepEqual(idsOf(await listStale(fixture)), [two!.delivery.id])
    await fixture.advance(5_000)
    assert.equal((await fixture.claim(disabled)).length, 0)
  })

  rule('deleting a webhook cancels its deliveries too, and they stay readable', async (fixture) => {
    const webhook = await fixture.webhook()
    const [id] = await fixture.accept(webhook)
    const gone = { ...webhook, deletedMs: WALL_MS, revision: 2, epoch: 2 }
    assert.equal(await fixture.store.webhooks.replace(gone, 1), true)
    assert.equal(await fixture.state(webhook, id!), 'cancelled')
    const [row] = await listStale(fixture)
    await fixture.settle(row!, 'cancelled')
    assert.equal((await fixture.store.deliveries.delivery('account', id!))?.state, 'cancelled')
  })

  rule('a replacement with the same epoch cancels nothing', async (fixture) => {
    const webhook = await fixture.webhook()
    const [id] = await fixture.accept(webhook)
    const renamed = { ...webhook, settings: { ...webhook.settings, name: 'Renamed' }, revision: 2 }
    await fixture.store.webhooks.replace(renamed, 1)
    assert.deepEqual(await listStale(fixture), [])
    assert.equal((await fixture.claimOne(webhook)).delivery.id, id)
  })

  rule('a node without shards lists no stale deliveries and no ready endpoints', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    assert.deepEqual(await fixture.store.deliveries.ready('stranger'), [])
    await disable(fixture, webhook)
    assert.deepEqual(await fixture.store.deliveries.stale('stranger', 9), [])
  })
}
