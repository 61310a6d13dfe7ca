import assert from 'node:assert/strict'
import { shardOf } from '../../store/shards.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { DefineRule, Fixture } from './fixture.js'

/** Runs `action` and resolves with the first notification after it began; rejects if none arrives in time. */
export async function notificationOf(
  fixture: Fixture,
  action: () => Promise<unknown>,
  store = fixture.store,
): Promise<void> {
  let stop = () => {}
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      stop = store.deliveries.subscribe(resolve)
      // Long, because a store may notify through a database server; only a failing test waits for it.
      const tooLate = () => reject(new assert.AssertionError({ message: 'no notification arrived' }))
      timer = setTimeout(tooLate, fixture.harness.notificationTimeoutMs ?? 5_000)
      action().catch(reject)
    })
  } finally {
    clearTimeout(timer)
    stop()
  }
}

async function waitingWebhook(fixture: Fixture): Promise<Webhook> {
  const webhook = await fixture.webhook()
  await fixture.accept(webhook, { callId: 'call' })
  return webhook
}

/** Rules of `subscribe`. */
export function notificationRules(rule: DefineRule): void {
  rule('an edited webhook notifies subscribers, who find it in the changes', async (fixture) => {
    const webhook = await waitingWebhook(fixture)
    const renamed = { ...webhook, settings: { ...webhook.settings, name: 'Renamed' }, revision: 2 }
    await notificationOf(fixture, () => fixture.store.webhooks.replace(renamed, 1))
    assert.deepEqual((await fixture.node.applyChanges()).webhooks, [renamed])
  })

  rule('a disabled webhook notifies subscribers', async (fixture) => {
    const webhook = await waitingWebhook(fixture)
    await notificationOf(fixture, () => fixture.disable(webhook))
    assert.equal((await fixture.node.applyChanges()).webhooks[0]?.epoch, 2)
  })

  rule('an erasure of waiting deliveries notifies subscribers', async (fixture) => {
    await waitingWebhook(fixture)
    await notificationOf(fixture, async () => {
      while ((await fixture.store.deliveries.erase({ accountId: 'account', callIds: ['call'] }, 9)) > 0) {}
    })
    assert.equal((await fixture.node.applyChanges()).removed.length, 1)
  })

  rule('an unsubscribed listener is not called any more, others are', async (fixture) => {
    const webhook = await waitingWebhook(fixture)
    let calls = 0
    const stop = fixture.store.deliveries.subscribe(() => {
      calls += 1
    })
    const renamed = { ...webhook, settings: { ...webhook.settings, name: 'Renamed' }, revision: 2 }
    await notificationOf(fixture, () => fixture.store.webhooks.replace(renamed, 1))
    stop()
    assert.ok(calls > 0)
    const before = calls
    await notificationOf(fixture, () => fixture.disable(renamed))
    assert.equal(calls, before)
    stop()
  })

  rule('a listener that throws affects neither the change nor other listeners', async (fixture) => {
    const webhook = await waitingWebhook(fixture)
    const stop = fixture.store.deliveries.subscribe(() => {
      throw new Error('a broken listener')
    })
    await notificationOf(fixture, () => fixture.disable(webhook))
    stop()
    assert.equal((await fixture.node.applyChanges()).webhooks[0]?.epoch, 2)
  })
}

/** Rules of `subscribe` with several nodes. */
export function sharedNotificationRules(rule: DefineRule): void {
  rule('a delivery for a shard of another node notifies its owner', async (fixture) => {
    const second = await fixture.takeOver()
    await fixture.node.renew()
    await fixture.node.load()
    const webhook = await fixture.webhook()
    assert.ok(second.lease.shards.includes(shardOf(webhook.id)))
    await notificationOf(fixture, () => fixture.node.accept(webhook), second.store)
    assert.equal((await second.poll()).rows.length, 1)
  })

  rule('shards that are handed over or released notify the other nodes', async (fixture) => {
    const second = await fixture.join('node-2')
    const lease = await fixture.node.renew()
    const handOver = () => fixture.store.deliveries.handOver(lease, lease.leaving)
    await notificationOf(fixture, handOver, second.store)
    assert.equal((await second.renew()).shards.length, lease.leaving.length)
    const release = () => fixture.store.deliveries.release(fixture.node.owner)
    await notificationOf(fixture, release, second.store)
    assert.equal((await second.renew()).shards.length, lease.shards.length)
  })
}
