import assert from 'node:assert/strict'
import type { NewEvent } from '../../delivery/delivery-store.js'
import type { DeliveryState } from '../../delivery/lifecycle.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { type DefineRule, type Fixture, idsOf } from './fixture.js'
import { acceptanceOf, assertRefused } from './node.js'
import { ended, replay } from './replays.js'
import { newEvent, newReplay } from './sample-data.js'
import { withoutRecord } from './settle.js'

const DAY_MS = 86_400_000
const KEEP_ALL = { attemptsPerWebhook: 1_000, beforeMs: 0, limit: 1_000 }

async function prune(fixture: Fixture, limits: Partial<typeof KEEP_ALL>): Promise<number> {
  return fixture.store.deliveries.prune({ ...KEEP_ALL, ...limits }, fixture.now())
}

async function pruneAll(fixture: Fixture, limits: Partial<typeof KEEP_ALL>): Promise<void> {
  while ((await prune(fixture, limits)) > 0) {}
}

/** Accepts events one after the other and settles them as delivered. Returns the deliveries' ids. */
async function acceptAndDeliver(
  fixture: Fixture,
  webhook: Webhook,
  count: number,
  event: Partial<NewEvent> = {},
): Promise<string[]> {
  const made: string[] = []
  for (let index = 0; index < count; index += 1) {
    const [delivery] = await fixture.accept(webhook, event)
    made.push(delivery!.id)
    await fixture.settle(delivery!, 'delivered')
  }
  return made
}

const attemptsOf = async (fixture: Fixture, webhook: Webhook) =>
  (await fixture.attempts({ webhookId: webhook.id })).map((row) => row.deliveryId)

/** Rules of `prune`. */
export function pruneRules(rule: DefineRule): void {
  rule('of what was delivered, the newest attempts up to attemptsPerWebhook are kept', async (fixture) => {
    const N = 3
    const made = new Map<Webhook, string[]>()
    for (const count of [N - 1, N, N + 1, 10 * N]) {
      const webhook = await fixture.webhook()
      made.set(webhook, await acceptAndDeliver(fixture, webhook, count))
    }
    await pruneAll(fixture, { attemptsPerWebhook: N })
    for (const [webhook, ids] of made) {
      assert.deepEqual(await attemptsOf(fixture, webhook), ids.slice(-N).reverse())
      for (const id of ids.slice(0, -N)) assert.equal(await fixture.state(webhook, id), undefined)
    }
  })

  rule('what was not delivered is neither counted nor removed by number', async (fixture) => {
    const webhook = await fixture.webhook()
    const kept = new Map<string, DeliveryState>()
    const delivered: string[] = []
    for (const state of ['exhausted', 'expired', 'cancelled', 'quarantined', 'waiting'] as const) {
      const [delivery] = await fixture.accept(webhook)
      kept.set(delivery!.id, state)
      const retried = await fixture.retry(await fixture.retry(delivery!))
      if (state !== 'waiting') await fixture.settle(retried, state)
      delivered.push(...(await acceptAndDeliver(fixture, webhook, 2)))
    }
    const attempts = (await attemptsOf(fixture, webhook)).filter((id) => kept.has(id))
    assert.equal(attempts.length, 14, 'two of each, and one that says how it ended')
    await pruneAll(fixture, { attemptsPerWebhook: 10 })
    for (const id of delivered) assert.equal(await fixture.state(webhook, id), 'delivered')
    await pruneAll(fixture, { attemptsPerWebhook: 2 })
    const left = await attemptsOf(fixture, webhook)
    assert.deepEqual(
      left.filter((id) => kept.has(id)),
      attempts,
    )
    assert.deepEqual(
      left.filter((id) => !kept.has(id)),
      delivered.slice(-2).reverse(),
    )
    for (const [id, state] of kept) assert.equal(await fixture.state(webhook, id), state)
    for (const id of delivered.slice(0, -2)) assert.equal(await fixture.state(webhook, id), undefined)
  })

  rule('replays are neither counted nor removed by number, and mark what is left', async (fixture) => {
    const webhook = await fixture.webhook()
    const lost = await ended(fixture, webhook, 'exhausted')
    const copies: string[] = []
    for (let index = 0; index < 3; index += 1) {
      const copy = await replay(fixture, lost)
      await fixture.settle(copy, 'delivered')
      copies.push(copy.id)
    }
    const delivered = await acceptAndDeliver(fixture, webhook, 2)
    await pruneAll(fixture, { attemptsPerWebhook: 2 })
    const kept = [lost.delivery.id, ...copies, ...delivered]
    assert.deepEqual(await attemptsOf(fixture, webhook), kept.toReversed())
    await pruneAll(fixture, { attemptsPerWebhook: 0 })
    assert.deepEqual(await attemptsOf(fixture, webhook), kept.slice(0, -2).reverse())
    const original = await fixture.delivery(lost.delivery.id)
    assert.deepEqual([original?.replays?.lastId, original?.replays?.hasRecovered], [copies[2], true])
  })

  rule('prune by number removes whole deliveries, in the order of acceptance', async (fixture) => {
    const [webhook, old] = await fixture.webhookWith(1)
    const retried = await fixture.retry(old)
    const [next, last] = await acceptAndDeliver(fixture, webhook, 2)
    await fixture.settle(retried, 'delivered')
    await pruneAll(fixture, { attemptsPerWebhook: 4 })
    assert.deepEqual(await attemptsOf(fixture, webhook), [old.id, last, next, old.id])
    await pruneAll(fixture, { attemptsPerWebhook: 3 })
    const states = await Promise.all([old.id, next!, last!].map((id) => fixture.state(webhook, id)))
    assert.deepEqual(states, [undefined, 'delivered', 'delivered'])
    assert.deepEqual(await attemptsOf(fixture, webhook), [last, next])
    assert.deepEqual(await fixture.attempts({ deliveryId: old.id }), [])
  })

  rule('replays and what was not delivered go after the retention time', async (fixture) => {
    const webhook = await fixture.webhook()
    const lost = await ended(fixture, webhook, 'exhausted')
    const copy = await replay(fixture, lost)
    await fixture.settle(copy, 'delivered')
    await fixture.advance(1_000)
    const beforeMs = fixture.now()
    const kept = await ended(fixture, webhook, 'expired')
    await pruneAll(fixture, { beforeMs })
    assert.deepEqual(await attemptsOf(fixture, webhook), [kept.delivery.id])
    const ids = [lost.delivery.id, copy.id, kept.delivery.id]
    const states = await Promise.all(ids.map((id) => fixture.state(webhook, id)))
    assert.deepEqual(states, [undefined, undefined, 'expired'])
  })

  rule('ends without attempts count towards no limit, and go after the retention time', async (fixture) => {
    const webhook = await fixture.webhook()
    const recorded = await acceptAndDeliver(fixture, webhook, 2)
    const slim = await fixture.acceptMany(webhook, 5)
    await fixture.node.commit({
      ended: slim.map((delivery) => withoutRecord(fixture.settlement(delivery, 'delivered'))),
    })
    await pruneAll(fixture, { attemptsPerWebhook: 2 })
    assert.deepEqual(await attemptsOf(fixture, webhook), [...recorded].reverse())
    for (const { id } of slim) assert.equal(await fixture.state(webhook, id), 'delivered')
    await fixture.advance(1_000)
    const beforeMs = fixture.now()
    const [kept] = await fixture.accept(webhook)
    await fixture.node.commit({ ended: [withoutRecord(fixture.settlement(kept!, 'delivered'))] })
    await pruneAll(fixture, { beforeMs })
    for (const { id } of slim) assert.equal(await fixture.state(webhook, id), undefined)
    assert.equal(await fixture.state(webhook, kept!.id), 'delivered')
  })

  rule('pruned attempts are not found by their call, retained ones are', async (fixture) => {
    const webhook = await fixture.webhook()
    for (const callId of ['a', 'a', 'b']) await acceptAndDeliver(fixture, webhook, 1, { callId })
    await pruneAll(fixture, { attemptsPerWebhook: 2 })
    const ofCall = async (callId: string) => (await fixture.attempts({ callIds: [callId] })).length
    assert.deepEqual([await ofCall('a'), await ofCall('b')], [1, 1])
  })

  rule('prune removes attempts and ended deliveries older than beforeMs', async (fixture) => {
    const webhook = await fixture.webhook()
    const old = await acceptAndDeliver(fixture, webhook, 2)
    await fixture.advance(1_000)
    const beforeMs = fixture.now()
    const recent = await acceptAndDeliver(fixture, webhook, 2)
    await pruneAll(fixture, { beforeMs })
    assert.deepEqual(await attemptsOf(fixture, webhook), [...recent].reverse())
    for (const id of old) assert.equal(await fixture.delivery(id), undefined)
    for (const id of recent) assert.equal(await fixture.state(webhook, id), 'delivered')
    const rows = await fixture.deliveriesOf(webhook)
    assert.deepEqual(idsOf(rows), [...recent].reverse())
  })

  rule('an event stays while a delivery of it is stored, and goes some time later', async (fixture) => {
    const [fast, slow] = [await fixture.webhook(), await fixture.webhook()]
    const { acceptance, deliveries } = fixture.prepare([fast, slow])
    const [event] = acceptance.events
    await fixture.acceptOne(acceptance)
    await fixture.settle(deliveries[0]!, 'delivered')
    await fixture.advance(2 * DAY_MS)
    await fixture.node.own()
    await fixture.node.load()
    await pruneAll(fixture, { beforeMs: fixture.now() })
    const copy = newReplay(slow, event!, deliveries[1]!)
    assert.equal((await fixture.acceptOne(acceptanceOf([], [copy]))).kind, 'accepted')
    for (const waiting of await fixture.waiting()) {
      assert.match(waiting.body, /"sequence":1/)
      await fixture.settle(waiting, 'delivered')
    }
    await fixture.advance(2 * DAY_MS)
    await fixture.node.own()
    await fixture.node.load()
    await pruneAll(fixture, { beforeMs: fixture.now() })
    const again = newReplay(slow, event!, deliveries[1]!)
    assertRefused(await fixture.acceptOne(acceptanceOf([], [again])), 'NotFound')
  })

  rule('prune does not restart the numbers of a call', async (fixture) => {
    const webhook = await fixture.webhook()
    await acceptAndDeliver(fixture, webhook, 2, { callId: 'call' })
    await fixture.advance(60_000)
    await pruneAll(fixture, { beforeMs: fixture.now() })
    const [next] = await fixture.acceptEvents(newEvent({ callId: 'call' }))
    assert.equal(next?.sequence, 3)
  })

  rule('waiting deliveries are never removed, regardless of age', async (fixture) => {
    const [webhook, first] = await fixture.webhookWith(1, { callId: 'a' })
    const [second] = await fixture.accept(webhook, { callId: 'a' })
    const [third] = await fixture.accept(webhook, { callId: 'b' })
    const retried = await fixture.retry(third!)
    await fixture.advance(2 * DAY_MS)
    await fixture.node.own()
    await pruneAll(fixture, { beforeMs: fixture.now(), attemptsPerWebhook: 0 })
    assert.deepEqual(await attemptsOf(fixture, webhook), [retried.id], 'nor are their attempts')
    const waiting = await fixture.waiting(webhook)
    assert.deepEqual(idsOf(waiting), idsOf([first, second!, retried]))
    for (const { body } of waiting) assert.match(body, /sequence/)
    for (const delivery of waiting) await fixture.settle(delivery, 'delivered')
  })

  rule('prune removes at most limit rows per call', async (fixture) => {
    const webhook = await fixture.webhook()
    await acceptAndDeliver(fixture, webhook, 5)
    await fixture.advance(1_000)
    const removed: number[] = []
    do removed.push(await prune(fixture, { beforeMs: fixture.now(), limit: 2 }))
    while (removed.at(-1)! > 0)
    assert.ok(removed.length > 3, 'at least five rows')
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
