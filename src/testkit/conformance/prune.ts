import assert from 'node:assert/strict'
import type { Webhook } from '../../webhooks/webhook.js'
import { type DefineRule, errorCodeOf, type Fixture, idsOf } from './fixture.js'
import { newDelivery, newEvent } from './sample-data.js'

const KEEP_ALL = { attemptsPerWebhook: 1_000, beforeMs: 0, limit: 1_000 }

async function prune(fixture: Fixture, limits: Partial<typeof KEEP_ALL>): Promise<number> {
  return fixture.store.deliveries.prune({ ...KEEP_ALL, ...limits }, fixture.now())
}

/** Accepts events one after the other and settles them as delivered. Returns the deliveries' ids. */
async function acceptAndDeliver(fixture: Fixture, webhook: Webhook, count: number): Promise<string[]> {
  const made: string[] = []
  for (let index = 0; index < count; index += 1) {
    made.push(...(await fixture.accept(webhook)))
    await fixture.settle((await fixture.claimOne(webhook)).delivery, 'delivered')
  }
  return made
}

const attemptsOf = async (fixture: Fixture, webhook: Webhook) =>
  (await fixture.store.deliveries.attempts({ accountId: 'account', webhookId: webhook.id, limit: 99 })).map(
    (row) => row.deliveryId,
  )

/** Rules of `prune`. */
export function pruneRules(rule: DefineRule): void {
  rule('prune removes nothing that is within the limits', async (fixture) => {
    const webhook = await fixture.webhook()
    const made = await acceptAndDeliver(fixture, webhook, 2)
    assert.equal(await prune(fixture, {}), 0)
    assert.deepEqual(await attemptsOf(fixture, webhook), [...made].reverse())
  })

  rule('prune keeps the newest attempts of each webhook up to attemptsPerWebhook', async (fixture) => {
    const [busy, quiet] = [await fixture.webhook(), await fixture.webhook()]
    const few = await acceptAndDeliver(fixture, quiet, 2)
    const many = await acceptAndDeliver(fixture, busy, 5)
    assert.equal(await prune(fixture, { attemptsPerWebhook: 3 }), 2)
    assert.deepEqual(await attemptsOf(fixture, busy), many.slice(2).reverse())
    assert.deepEqual(await attemptsOf(fixture, quiet), [...few].reverse())
    const oldest = { accountId: 'account', deliveryId: many[0]!, limit: 9 }
    assert.deepEqual(await fixture.store.deliveries.attempts(oldest), [])
  })

  rule('pruned attempts are not found by their call, retained ones are', async (fixture) => {
    const webhook = await fixture.webhook()
    for (const callId of ['a', 'a', 'b']) {
      await fixture.accept(webhook, { callId })
      await fixture.settle((await fixture.claimOne(webhook)).delivery, 'delivered')
    }
    await prune(fixture, { attemptsPerWebhook: 2 })
    const ofCall = async (callId: string) =>
      (await fixture.store.deliveries.attempts({ accountId: 'account', callIds: [callId], limit: 9 })).length
    assert.deepEqual([await ofCall('a'), await ofCall('b')], [1, 1])
  })

  rule('prune removes attempts and ended deliveries older than beforeMs', async (fixture) => {
    const webhook = await fixture.webhook()
    const old = await acceptAndDeliver(fixture, webhook, 2)
    await fixture.advance(1_000)
    const beforeMs = fixture.now()
    const recent = await acceptAndDeliver(fixture, webhook, 2)
    while ((await prune(fixture, { beforeMs })) > 0) {}
    assert.deepEqual(await attemptsOf(fixture, webhook), [...recent].reverse())
    for (const id of old) assert.equal(await fixture.store.deliveries.delivery('account', id), undefined)
    for (const id of recent) assert.equal(await fixture.state(webhook, id), 'delivered')
    const rows = await fixture.store.deliveries.deliveries({
      accountId: 'account',
      webhookId: webhook.id,
      limit: 9,
    })
    assert.deepEqual(idsOf(rows), [...recent].reverse())
  })

  rule('an event is removed with its last delivery, not before', async (fixture) => {
    const [fast, slow] = [await fixture.webhook(), await fixture.webhook()]
    const event = newEvent()
    const deliveries = [newDelivery(fast, event), newDelivery(slow, event)]
    await fixture.store.deliveries.accept({ events: [event], deliveries, maxPending: 9 }, fixture.now())
    await fixture.settle((await fixture.claimOne(fast)).delivery, 'delivered')
    await fixture.advance(1_000)
    while ((await prune(fixture, { beforeMs: fixture.now() })) > 0) {}
    const replay = newDelivery(fast, event, { replayOf: deliveries[1]!.id })
    await fixture.store.deliveries.accept({ events: [], deliveries: [replay], maxPending: 9 }, fixture.now())
    assert.match((await fixture.claimOne(slow)).body, /"sequence":1/)
    await fixture.settle((await fixture.claimOne(fast)).delivery, 'delivered')
    const row = await fixture.store.deliveries.delivery('account', deliveries[1]!.id)
    await fixture.settle(row!, 'delivered')
    await fixture.advance(1_000)
    while ((await prune(fixture, { beforeMs: fixture.now() })) > 0) {}
    const again = newDelivery(fast, event, { replayOf: replay.id })
    const rejected = fixture.store.deliveries.accept(
      { events: [], deliveries: [again], maxPending: 9 },
      fixture.now(),
    )
    assert.equal(await errorCodeOf(rejected), 'NotFound')
  })

  rule('pending deliveries are never removed, regardless of age', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook, { callId: 'a' })
    await fixture.accept(webhook, { callId: 'a' })
    await fixture.accept(webhook, { callId: 'b' })
    const [first, second] = await fixture.claim(webhook)
    await fixture.settle(second!.delivery, 'waiting', { next: { dueMs: fixture.now() } })
    await fixture.advance(100_000)
    while ((await prune(fixture, { beforeMs: fixture.now(), attemptsPerWebhook: 0 })) > 0) {}
    assert.equal(await fixture.store.deliveries.pending(), 3)
    await fixture.settle(first!.delivery, 'delivered')
    const claims = await fixture.claim(webhook)
    assert.equal(claims.length, 2)
    for (const claim of claims) assert.match(claim.body, /sequence/)
  })

  rule('prune removes at most limit rows per call', async (fixture) => {
    const webhook = await fixture.webhook()
    await acceptAndDeliver(fixture, webhook, 5)
    await fixture.advance(1_000)
    const removed: number[] = []
    do removed.push(await prune(fixture, { beforeMs: fixture.now(), limit: 2 }))
    while (removed.at(-1)! > 0)
    assert.ok(removed.length > 5, 'at least ten rows: five attempts, five deliveries')
    assert.ok(removed.every((count) => count <= 2))
    assert.deepEqual(await attemptsOf(fixture, webhook), [])
  })

  rule('prune removes idempotency keys after their window, not within it', async (fixture) => {
    const keyed = (key: string, untilMs: number) =>
      newEvent({ idempotency: { key, bodyHash: 'hash', untilMs } })
    const kept = keyed('long', fixture.now() + 10_000)
    await fixture.acceptEvents(keyed('short', fixture.now() + 100), kept)
    await fixture.advance(100)
    assert.ok((await prune(fixture, {})) >= 1)
    const [within] = await fixture.acceptEvents(keyed('long', fixture.now() + 10_000))
    assert.deepEqual([within?.duplicate, within?.id], [true, kept.id])
  })
}
