import assert from 'node:assert/strict'
import type { Settlement } from '../../delivery/delivery-store.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { WALL_MS } from './fixtures.js'
import type { Promised, Workbench } from './workbench.js'

/** Sends one event and settles it with this change of the endpoint. */
async function settleOne(bench: Workbench, webhook: Webhook, endpoint: NonNullable<Settlement['endpoint']>) {
  await bench.accept(webhook)
  const { delivery } = await bench.claimOne(webhook)
  return bench.settle(delivery, 'exhausted', { endpoint })
}

const read = (bench: Workbench, webhook: Webhook) => bench.store.webhooks.read(webhook.accountId, webhook.id)

export function healthPromises(promised: Promised): void {
  promised(
    'health is written with the settlement, kept when it says nothing, and removed when clean',
    async (bench) => {
      const webhook = await bench.webhook()
      const health = { failuresInRow: 3, pausedUntilMs: bench.now() }
      await settleOne(bench, webhook, { epoch: 1, health })
      assert.deepEqual(await read(bench, webhook), { ...webhook, health })
      await settleOne(bench, webhook, { epoch: 1 })
      assert.deepEqual(await read(bench, webhook), { ...webhook, health })
      await settleOne(bench, webhook, { epoch: 1, health: null })
      assert.deepEqual(await read(bench, webhook), webhook)
    },
  )

  promised('an endpoint is told as failing from a failure to the next success', async (bench) => {
    const webhook = await bench.webhook()
    for (const health of [{ failuresInRow: 1 }, null] as const) {
      await bench.accept(webhook)
      const { delivery } = await bench.claimOne(webhook)
      await bench.accept(webhook)
      const { endpoint } = await bench.settle(delivery, 'exhausted', { endpoint: { epoch: 1, health } })
      const [ready] = await bench.store.deliveries.ready(bench.owner)
      assert.deepEqual([endpoint.failing, ready?.failing], [health !== null, health !== null])
      const next = await bench.claimOne(webhook)
      await bench.settle(next.delivery, 'delivered')
    }
  })

  promised('of an endpoint that is probed one is claimed, the one that is due longest', async (bench) => {
    const webhook = await bench.webhook()
    const [old] = await bench.accept(webhook)
    const first = await bench.claimOne(webhook)
    await bench.accept(webhook)
    await bench.accept(webhook)
    await bench.settle(first.delivery, 'waiting', {
      next: { dueMs: bench.now() - 1, attempts: 1, tries: 1 },
      endpoint: { epoch: 1, health: { failuresInRow: 10, openings: 1 } },
    })
    const probes = await bench.claim(webhook, 5)
    assert.deepEqual(
      probes.map(({ delivery }) => delivery.id),
      [old],
    )
  })

  promised('health and disabling of another epoch are ignored, the rest is settled', async (bench) => {
    const webhook = await bench.webhook({ epoch: 5 })
    const disable = { reason: 'gone', atMs: WALL_MS }
    const settled = await settleOne(bench, webhook, { epoch: 4, health: { failuresInRow: 1 }, disable })
    assert.equal(settled.disabled, undefined)
    assert.deepEqual(await read(bench, webhook), webhook)
    assert.equal((await bench.store.deliveries.attempts({ accountId: 'account', limit: 9 })).length, 1)
  })

  promised(
    'disabling by the service raises revision and epoch, tells why, and cancels what waits',
    async (bench) => {
      const webhook = await bench.webhook()
      const atMs = WALL_MS + 77
      await bench.accept(webhook, { callId: 'call' })
      const [waiting] = await bench.accept(webhook, { callId: 'call' })
      const { delivery } = await bench.claimOne(webhook)
      const settled = await bench.settle(delivery, 'exhausted', {
        endpoint: { epoch: 1, health: { failuresInRow: 2 }, disable: { reason: 'gone', atMs } },
      })
      const stored = await read(bench, webhook)
      assert.deepEqual(stored, settled.disabled)
      assert.deepEqual(
        [
          stored?.settings.enabled,
          stored?.disableReason,
          stored?.disabledMs,
          stored?.revision,
          stored?.epoch,
        ],
        [false, 'gone', atMs, 2, 2],
      )
      assert.equal(settled.endpoint.dueMs, undefined)
      assert.equal(await bench.state(webhook, waiting!), 'cancelled')
      assert.equal((await bench.claim(webhook)).length, 0)
    },
  )

  promised('a webhook is disabled once, however many settlements say so', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    await bench.accept(webhook)
    const claims = await bench.claim(webhook)
    const endpoint = { epoch: 1, disable: { reason: 'gone', atMs: WALL_MS } }
    const settled = await bench.store.deliveries.settle(
      claims.map(({ delivery }) => bench.settlement(delivery, 'exhausted', { endpoint })),
      bench.now(),
    )
    assert.deepEqual(
      settled.map((result) => result.kind === 'settled' && result.disabled !== undefined),
      [true, false],
    )
    assert.equal((await read(bench, webhook))?.epoch, 2)
  })

  promised('a fenced settlement changes no health', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    const { delivery } = await bench.claimOne(webhook)
    const endpoint = { epoch: 1, health: { failuresInRow: 1 }, disable: { reason: 'gone', atMs: WALL_MS } }
    const fenced = bench.settlement(delivery, 'delivered', {
      endpoint,
      expect: { state: 'in_flight', fence: 9 },
    })
    await bench.store.deliveries.settle([fenced], bench.now())
    assert.deepEqual(await read(bench, webhook), webhook)
  })

  promised(
    'health is no change of the row: a replacement still finds its revision, and keeps the health',
    async (bench) => {
      const webhook = await bench.webhook()
      const health = { failuresInRow: 4, pausedUntilMs: bench.now() + 60_000 }
      await settleOne(bench, webhook, { epoch: 1, health })
      const renamed = { ...webhook, settings: { ...webhook.settings, name: 'Renamed' }, revision: 2 }
      assert.equal(await bench.store.webhooks.replace(renamed, 1), true)
      assert.deepEqual(await read(bench, webhook), { ...renamed, health })
    },
  )

  promised('an older health that a replacement carries along does not come back', async (bench) => {
    const webhook = await bench.webhook()
    await settleOne(bench, webhook, { epoch: 1, health: { failuresInRow: 1 } })
    const readEarlier = (await read(bench, webhook))!
    await settleOne(bench, webhook, { epoch: 1, health: null })
    await bench.store.webhooks.replace({ ...readEarlier, revision: 2 }, 1)
    assert.equal((await read(bench, webhook))?.health, undefined)
  })

  promised('a webhook that leads elsewhere starts with clean health, and its pause ends', async (bench) => {
    const webhook = await bench.webhook()
    const health = { failuresInRow: 4, pausedUntilMs: bench.now() + 60_000 }
    await settleOne(bench, webhook, { epoch: 1, health })
    await bench.accept(webhook)
    const settings = { ...webhook.settings, uri: 'https://elsewhere.example.com/' }
    const moved = { ...webhook, settings, health, revision: 2 }
    assert.equal(await bench.store.webhooks.replace(moved, 1), true)
    const { health: _old, ...clean } = moved
    assert.deepEqual(await read(bench, webhook), clean)
    await bench.claimOne(webhook)
  })

  promised('a webhook that becomes enabled starts with clean health, and is due at once', async (bench) => {
    const webhook = await bench.webhook()
    const endpoint = {
      epoch: 1,
      health: { failuresInRow: 4, pausedUntilMs: bench.now() + 60_000 },
      disable: { reason: 'gone', atMs: WALL_MS },
    }
    const { disabled } = await settleOne(bench, webhook, endpoint)
    assert.ok(disabled)
    const { health: _old, disableReason: _why, ...row } = disabled
    const enabled = { ...row, settings: { ...row.settings, enabled: true }, revision: 3 }
    assert.equal(await bench.store.webhooks.replace(enabled, 2), true)
    assert.deepEqual(await read(bench, webhook), enabled)
    const [id] = await bench.accept(enabled)
    assert.equal((await bench.claimOne(enabled)).delivery.id, id)
  })
}
