import assert from 'node:assert/strict'
import type { NewEvent } from '../../delivery/delivery-store.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { type DefineRule, type Fixture, idsOf } from './fixture.js'
import { acceptanceOf } from './node.js'
import { newDelivery, newEvent } from './sample-data.js'
import { withoutRecord } from './settle.js'

const DAY_MS = 86_400_000
const KEEP_ALL = { attemptsPerWebhook: 1_000, beforeMs: 0, limit: 1_000 }

async function prune(fixture: Fixture, limits: Partial<typeof KEEP_ALL>): Promise<number> {
  return fixture.store.deliveries.prune({ ...KEEP_ALL, ...limits }, fixture.now())
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

  rule('an ended delivery goes with its last attempt', async (fixture) => {
    const webhook = await fixture.webhook()
    const [old] = await fixture.accept(webhook)
    const retried = await fixture.retry(old!)
    const [gone] = await acceptAndDeliver(fixture, webhook, 1)
    await fixture.settle(retried, 'delivered')
    const [last] = await acceptAndDeliver(fixture, webhook, 1)
    while ((await prune(fixture, { attemptsPerWebhook: 2 })) > 0) {}
    const states = await Promise.all([old!.id, gone!, last!].map((id) => fixture.state(webhook, id)))
    assert.deepEqual(states, ['delivered', undefined, 'delivered'])
    assert.deepEqual(await attemptsOf(fixture, webhook), [last, old!.id])
  })

  rule('ends without attempts count towards no limit, and go after the retention time', async (fixture) => {
    const webhook = await fixture.webhook()
    const recorded = await acceptAndDeliver(fixture, webhook, 2)
    const slim = await fixture.acceptMany(webhook, 5)
    await fixture.node.commit({
      ended: slim.map((delivery) => withoutRecord(fixture.settlement(delivery, 'delivered'))),
    })
    while ((await prune(fixture, { attemptsPerWebhook: 2 })) > 0) {}
    assert.deepEqual(await attemptsOf(fixture, webhook), [...recorded].reverse())
    for (const { id } of slim) assert.equal(await fixture.state(webhook, id), 'delivered')
    await fixture.advance(1_000)
    const beforeMs = fixture.now()
    const [kept] = await fixture.accept(webhook)
    await fixture.node.commit({ ended: [withoutRecord(fixture.settlement(kept!, 'delivered'))] })
    while ((await prune(fixture, { beforeMs })) > 0) {}
    for (const { id } of slim) assert.equal(await fixture.state(webhook, id), undefined)
    assert.equal(await fixture.state(webhook, kept!.id), 'delivered')
  })

  rule('pruned attempts are not found by their call, retained ones are', async (fixture) => {
    const webhook = await fixture.webhook()
    for (const callId of ['a', 'a', 'b']) await acceptAndDeliver(fixture, webhook, 1, { callId })
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

  rule(
    'an event stays while a delivery of it is stored, and goes some time after the last one',
    async (fixture) => {
      const [fast, slow] = [await fixture.webhook(), await fixture.webhook()]
      const { acceptance, deliveries } = fixture.prepare([fast, slow])
      const [event] = acceptance.events
      await fixture.acceptOne(acceptance)
      await fixture.settle(deliveries[0]!, 'delivered')
      await fixture.advance(2 * DAY_MS)
      await fixture.node.own()
      await fixture.node.load()
      while ((await prune(fixture, { beforeMs: fixture.now() })) > 0) {}
      const replay = newDelivery(fast, event!, { replayOf: deliveries[1]!.id })
      assert.equal((await fixture.acceptOne(acceptanceOf([], [replay]))).kind, 'accepted')
      for (const waiting of await fixture.waiting()) {
        assert.match(waiting.body, /"sequence":1/)
        await fixture.settle(waiting, 'delivered')
      }
      await fixture.advance(2 * DAY_MS)
      await fixture.node.own()
      await fixture.node.load()
      while ((await prune(fixture, { beforeMs: fixture.now() })) > 0) {}
      const again = newDelivery(fast, event!, { replayOf: replay.id })
      const result = await fixture.acceptOne(acceptanceOf([], [again]))
      assert.ok(result.kind === 'refused')
      assert.equal(result.error.code, 'NotFound')
    },
  )

  rule('prune does not restart the numbers of a call', async (fixture) => {
    const webhook = await fixture.webhook()
    await acceptAndDeliver(fixture, webhook, 2, { callId: 'call' })
    await fixture.advance(60_000)
    while ((await prune(fixture, { beforeMs: fixture.now() })) > 0) {}
    const [next] = await fixture.acceptEvents(newEvent({ callId: 'call' }))
    assert.equal(next?.sequence, 3)
  })

  rule('waiting deliveries are never removed, regardless of age', async (fixture) => {
    const webhook = await fixture.webhook()
    const [first] = await fixture.accept(webhook, { callId: 'a' })
    const [second] = await fixture.accept(webhook, { callId: 'a' })
    const [third] = await fixture.accept(webhook, { callId: 'b' })
    const retried = await fixture.retry(third!)
    await fixture.advance(2 * DAY_MS)
    await fixture.node.own()
    while ((await prune(fixture, { beforeMs: fixture.now(), attemptsPerWebhook: 0 })) > 0) {}
    const waiting = await fixture.waiting(webhook)
    assert.deepEqual(idsOf(waiting), idsOf([first!, second!, retried]))
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
