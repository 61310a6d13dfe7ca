import assert from 'node:assert/strict'
import { shardOf } from '../../store/shards.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { DefineRule, Fixture } from './fixture.js'

/**
 * Runs `action` and resolves to its result with the first notification after it began; rejects if none arrives in time.
 */
export async function notificationOf<Result>(
  fixture: Fixture,
  action: () => Promise<Result>,
  store = fixture.store,
): Promise<Result> {
  let stop = () => {}
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    let result: Promise<Result> | undefined
    await new Promise<void>((resolve, reject) => {
      stop = store.deliveries.subscribe(resolve)
      // Long, because a store may notify through a database server; only a failing test waits for it.
      const tooLate = () => reject(new assert.AssertionError({ message: 'no notification arrived' }))
      timer = setTimeout(tooLate, fixture.harness.notificationTimeoutMs ?? 5_000)
      result = action()
      result.catch(reject)
    })
    return await result!
  } finally {
    clearTimeout(timer)
    stop()
  }
}

const waitingWebhook = async (fixture: Fixture) => (await fixture.webhookWith(1, { callId: 'call' }))[0]

const rename = (fixture: Fixture, webhook: Webhook) =>
  fixture.edit(webhook, { settings: { name: 'Renamed' } })

/** Rules of `subscribe`. */
export function notificationRules(rule: DefineRule): void {
  rule('an edited webhook notifies subscribers, who find it in the changes', async (fixture) => {
    const webhook = await waitingWebhook(fixture)
    const renamed = await notificationOf(fixture, () => rename(fixture, webhook))
    assert.deepEqual((await fixture.node.applyChanges()).webhooks, [renamed])
  })

  rule('an erasure of waiting deliveries notifies subscribers', async (fixture) => {
    await waitingWebhook(fixture)
    await notificationOf(fixture, () => fixture.erase({ accountId: 'account', callIds: ['call'] }))
    assert.equal((await fixture.node.applyChanges()).removed.length, 1)
  })

  rule('an unsubscribed listener is not called any more, others are', async (fixture) => {
    const webhook = await waitingWebhook(fixture)
    let calls = 0
    const stop = fixture.store.deliveries.subscribe(() => {
      calls += 1
    })
    const renamed = await notificationOf(fixture, () => rename(fixture, webhook))
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
