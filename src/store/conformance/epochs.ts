import assert from 'node:assert/strict'
import type { Webhook } from '../../webhooks/webhook.js'
import { newDelivery, newEvent, WALL_MS } from './fixtures.js'
import { ids, type Promised, type Workbench } from './workbench.js'

/** Disables the webhook as its owner does: a higher revision and epoch. */
async function disable(bench: Workbench, webhook: Webhook): Promise<Webhook> {
  const settings = { ...webhook.settings, enabled: false }
  const row = {
    ...webhook,
    settings,
    disabledMs: WALL_MS,
    revision: webhook.revision + 1,
    epoch: webhook.epoch + 1,
  }
  assert.equal(await bench.store.webhooks.replace(row, webhook.revision), true)
  return row
}

async function enable(bench: Workbench, webhook: Webhook): Promise<Webhook> {
  const row = { ...webhook, settings: { ...webhook.settings, enabled: true }, revision: webhook.revision + 1 }
  assert.equal(await bench.store.webhooks.replace(row, webhook.revision), true)
  return row
}

const stale = (bench: Workbench, limit = 100) => bench.store.deliveries.stale(bench.owner, limit)

export function epochPromises(promised: Promised): void {
  promised(
    'deliveries of an older epoch read as cancelled at once, on every way of reading',
    async (bench) => {
      const webhook = await bench.webhook()
      const [head] = await bench.accept(webhook, { callId: 'call' })
      const [behind] = await bench.accept(webhook, { callId: 'call' })
      await disable(bench, webhook)
      for (const id of [head!, behind!]) {
        const row = await bench.store.deliveries.delivery('account', id)
        assert.deepEqual([row?.state, row?.reason, row?.dueMs], ['cancelled', 'cancelled', undefined])
      }
      const query = { accountId: 'account', webhookId: webhook.id, limit: 9 }
      const list = async (states: readonly ('waiting' | 'cancelled')[]) =>
        ids(await bench.store.deliveries.deliveries({ ...query, states }))
      assert.deepEqual(await list(['waiting']), [])
      assert.deepEqual(await list(['cancelled']), [behind, head])
      assert.deepEqual(
        (await bench.store.deliveries.deliveries(query)).map((row) => row.ahead),
        [0, 0],
      )
    },
  )

  promised(
    'stale deliveries are listed until they are settled, heads and those behind them',
    async (bench) => {
      const [webhook, healthy] = [await bench.webhook(), await bench.webhook()]
      await bench.accept(healthy)
      const waiting = [
        ...(await bench.accept(webhook, { callId: 'a' })),
        ...(await bench.accept(webhook, { callId: 'a' })),
        ...(await bench.accept(webhook, { callId: 'b' })),
      ]
      assert.deepEqual(await stale(bench), [])
      await disable(bench, webhook)
      assert.deepEqual(ids(await stale(bench)).sort(), [...waiting].sort())
      assert.equal((await stale(bench, 2)).length, 2)
      for (let left = 3; left > 0; left -= 1) {
        const [row] = await stale(bench, 1)
        await bench.settle(row!, 'cancelled', { next: { reason: 'cancelled' } })
        assert.equal((await stale(bench)).length, left - 1)
      }
      assert.equal((await bench.claim([webhook, healthy])).length, 1)
      assert.equal((await bench.store.deliveries.delivery('account', waiting[0]!))?.endedMs, bench.now())
    },
  )

  promised('stale deliveries are not due, and nothing is due for their sake', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    const enabled = await enable(bench, await disable(bench, webhook))
    assert.equal((await bench.claim(enabled)).length, 0)
    const ready = await bench.store.deliveries.ready(bench.owner)
    assert.deepEqual(
      ready.filter((endpoint) => endpoint.dueMs !== undefined),
      [],
    )
  })

  promised(
    'a webhook that is enabled again sends what comes then, and what was cancelled stays cancelled',
    async (bench) => {
      const webhook = await bench.webhook()
      const [old] = await bench.accept(webhook, { callId: 'a' })
      const enabled = await enable(bench, await disable(bench, webhook))
      const [fresh] = await bench.accept(enabled, { callId: 'b' })
      assert.equal((await bench.claimOne(enabled)).delivery.id, fresh)
      assert.equal(await bench.state(webhook, old!), 'cancelled')
    },
  )

  promised('a new delivery behind stale ones of its lane is due when they are settled', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook, { callId: 'call' })
    await bench.accept(webhook, { callId: 'call' })
    const enabled = await enable(bench, await disable(bench, webhook))
    const [fresh] = await bench.accept(enabled, { callId: 'call' })
    assert.equal((await bench.store.deliveries.delivery('account', fresh!))?.ahead, 0)
    for (const row of await stale(bench)) await bench.settle(row, 'cancelled')
    assert.equal((await bench.claimOne(enabled)).delivery.id, fresh)
  })

  promised('a delivery accepted for an older epoch is cancelled from the start', async (bench) => {
    const webhook = await bench.webhook()
    const event = newEvent()
    const delivery = newDelivery(webhook, event)
    await disable(bench, webhook)
    await bench.store.deliveries.accept(
      { events: [event], deliveries: [delivery], maxPending: 9 },
      bench.now(),
    )
    assert.equal(await bench.state(webhook, delivery.id), 'cancelled')
    assert.deepEqual(ids(await stale(bench)), [delivery.id])
  })

  promised('what was in flight when its webhook was disabled may still be settled', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    await bench.accept(webhook)
    const [one, two] = await bench.claim(webhook)
    const disabled = await disable(bench, webhook)
    assert.equal(await bench.state(webhook, one!.delivery.id), 'in_flight')
    assert.deepEqual(await stale(bench), [])
    await bench.settle(one!.delivery, 'delivered')
    await bench.settle(two!.delivery, 'waiting')
    assert.equal(await bench.state(webhook, one!.delivery.id), 'delivered')
    assert.equal(await bench.state(webhook, two!.delivery.id), 'cancelled')
    assert.deepEqual(ids(await stale(bench)), [two!.delivery.id])
    await bench.advance(5_000)
    assert.equal((await bench.claim(disabled)).length, 0)
  })

  promised('deleting cancels as disabling does, and what was accepted stays readable', async (bench) => {
    const webhook = await bench.webhook()
    const [id] = await bench.accept(webhook)
    const gone = { ...webhook, deletedMs: WALL_MS, revision: 2, epoch: 2 }
    assert.equal(await bench.store.webhooks.replace(gone, 1), true)
    assert.equal(await bench.state(webhook, id!), 'cancelled')
    const [row] = await stale(bench)
    await bench.settle(row!, 'cancelled')
    assert.equal((await bench.store.deliveries.delivery('account', id!))?.state, 'cancelled')
  })

  promised('a change that keeps the epoch cancels nothing', async (bench) => {
    const webhook = await bench.webhook()
    const [id] = await bench.accept(webhook)
    const renamed = { ...webhook, settings: { ...webhook.settings, name: 'Renamed' }, revision: 2 }
    await bench.store.webhooks.replace(renamed, 1)
    assert.deepEqual(await stale(bench), [])
    assert.equal((await bench.claimOne(webhook)).delivery.id, id)
  })

  promised('strangers list neither stale deliveries nor ready endpoints', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    assert.deepEqual(await bench.store.deliveries.ready('stranger'), [])
    await disable(bench, webhook)
    assert.deepEqual(await bench.store.deliveries.stale('stranger', 9), [])
  })
}
