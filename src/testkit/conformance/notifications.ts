import assert from 'node:assert/strict'
import type { ReadyEndpoint } from '../../delivery/delivery-store.js'
import type { DefineRule, Fixture } from './fixture.js'
import { ORIGIN, WALL_MS } from './sample-data.js'

type ReadyNotification = readonly ReadyEndpoint[] | undefined

/** Runs `action` and returns the first expected notification; rejects if none arrives in time. */
export async function notificationOf(
  fixture: Fixture,
  action: () => Promise<unknown>,
  isExpected: (notification: ReadyNotification) => boolean,
): Promise<ReadyNotification> {
  let stop = () => {}
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await new Promise<ReadyNotification>((resolve, reject) => {
      stop = fixture.store.deliveries.subscribe(
        (notification) => isExpected(notification) && resolve(notification),
      )
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

const mentions = (webhookId: string) => (notification: ReadyNotification) =>
  notification === undefined || notification.some((endpoint) => endpoint.webhookId === webhookId)

/** Rules of `subscribe`. */
export function notificationRules(rule: DefineRule): void {
  rule(
    'an acceptance notifies subscribers with the endpoint and its due time, or with undefined',
    async (fixture) => {
      const webhook = await fixture.webhook()
      const notification = await notificationOf(fixture, () => fixture.accept(webhook), mentions(webhook.id))
      const due = notification?.find((endpoint) => endpoint.webhookId === webhook.id)
      if (due)
        assert.deepEqual(due, {
          webhookId: webhook.id,
          accountId: 'account',
          origin: ORIGIN,
          failing: false,
          dueMs: fixture.now(),
        })
      const ready = await fixture.store.deliveries.ready(fixture.owner)
      assert.deepEqual(
        ready.map((endpoint) => endpoint.webhookId),
        [webhook.id],
      )
    },
  )

  rule('an acceptance notifies subscribers when it makes an endpoint due earlier', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    await fixture.settle((await fixture.claimOne(webhook)).delivery, 'waiting', {
      next: { dueMs: fixture.now() + 9_000 },
    })
    await notificationOf(fixture, () => fixture.accept(webhook), mentions(webhook.id))
  })

  rule('disabling a webhook notifies subscribers of stale deliveries', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    const settings = { ...webhook.settings, enabled: false }
    const disabled = { ...webhook, settings, disabledMs: WALL_MS, revision: 2, epoch: 2 }
    await notificationOf(
      fixture,
      () => fixture.store.webhooks.replace(disabled, 1),
      (notification) => notification === undefined,
    )
    assert.equal((await fixture.store.deliveries.stale(fixture.owner, 9)).length, 1)
  })

  rule('an unsubscribed listener is not called any more, others are', async (fixture) => {
    const webhook = await fixture.webhook()
    let calls = 0
    const stop = fixture.store.deliveries.subscribe(() => {
      calls += 1
    })
    await notificationOf(fixture, () => fixture.accept(webhook), mentions(webhook.id))
    stop()
    const [claim] = await fixture.claim(webhook)
    await fixture.settle(claim!.delivery, 'delivered')
    const before = calls
    await notificationOf(fixture, () => fixture.accept(webhook), mentions(webhook.id))
    assert.equal(calls, before)
    stop()
  })

  rule('a listener that throws affects neither the acceptance nor other listeners', async (fixture) => {
    const webhook = await fixture.webhook()
    const stop = fixture.store.deliveries.subscribe(() => {
      throw new Error('a broken listener')
    })
    const notified = notificationOf(fixture, () => fixture.accept(webhook), mentions(webhook.id))
    await notified
    stop()
    assert.equal((await fixture.claim(webhook)).length, 1)
  })
}
