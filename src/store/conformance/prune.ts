import assert from 'node:assert/strict'
import type { Webhook } from '../../webhooks/webhook.js'
import { newDelivery, newEvent } from './fixtures.js'
import { codeOf, ids, type Promised, type Workbench } from './workbench.js'

const KEEP_ALL = { attemptsPerWebhook: 1_000, beforeMs: 0, limit: 1_000 }

async function prune(bench: Workbench, limits: Partial<typeof KEEP_ALL>): Promise<number> {
  return bench.store.deliveries.prune({ ...KEEP_ALL, ...limits }, bench.now())
}

/** Sends events one after the other and ends them; ids of the deliveries. */
async function ended(bench: Workbench, webhook: Webhook, count: number): Promise<string[]> {
  const made: string[] = []
  for (let index = 0; index < count; index += 1) {
    made.push(...(await bench.accept(webhook)))
    await bench.settle((await bench.claimOne(webhook)).delivery, 'delivered')
  }
  return made
}

const attemptsOf = async (bench: Workbench, webhook: Webhook) =>
  (await bench.store.deliveries.attempts({ accountId: 'account', webhookId: webhook.id, limit: 99 })).map(
    (row) => row.deliveryId,
  )

export function prunePromises(promised: Promised): void {
  promised('nothing to remove, nothing removed', async (bench) => {
    const webhook = await bench.webhook()
    const made = await ended(bench, webhook, 2)
    assert.equal(await prune(bench, {}), 0)
    assert.deepEqual(await attemptsOf(bench, webhook), [...made].reverse())
  })

  promised('the newest attempts of each webhook are kept, so many, the older ones go', async (bench) => {
    const [busy, quiet] = [await bench.webhook(), await bench.webhook()]
    const few = await ended(bench, quiet, 2)
    const many = await ended(bench, busy, 5)
    assert.equal(await prune(bench, { attemptsPerWebhook: 3 }), 2)
    assert.deepEqual(await attemptsOf(bench, busy), many.slice(2).reverse())
    assert.deepEqual(await attemptsOf(bench, quiet), [...few].reverse())
    const oldest = { accountId: 'account', deliveryId: many[0]!, limit: 9 }
    assert.deepEqual(await bench.store.deliveries.attempts(oldest), [])
  })

  promised('an attempt that went is found by its call no more, one that stayed is', async (bench) => {
    const webhook = await bench.webhook()
    for (const callId of ['a', 'a', 'b']) {
      await bench.accept(webhook, { callId })
      await bench.settle((await bench.claimOne(webhook)).delivery, 'delivered')
    }
    await prune(bench, { attemptsPerWebhook: 2 })
    const ofCall = async (callId: string) =>
      (await bench.store.deliveries.attempts({ accountId: 'account', callIds: [callId], limit: 9 })).length
    assert.deepEqual([await ofCall('a'), await ofCall('b')], [1, 1])
  })

  promised('attempts and ended deliveries from before a moment go', async (bench) => {
    const webhook = await bench.webhook()
    const old = await ended(bench, webhook, 2)
    await bench.advance(1_000)
    const beforeMs = bench.now()
    const recent = await ended(bench, webhook, 2)
    while ((await prune(bench, { beforeMs })) > 0) {}
    assert.deepEqual(await attemptsOf(bench, webhook), [...recent].reverse())
    for (const id of old) assert.equal(await bench.store.deliveries.delivery('account', id), undefined)
    for (const id of recent) assert.equal(await bench.state(webhook, id), 'delivered')
    const rows = await bench.store.deliveries.deliveries({
      accountId: 'account',
      webhookId: webhook.id,
      limit: 9,
    })
    assert.deepEqual(ids(rows), [...recent].reverse())
  })

  promised('an event goes with the last delivery of it, not before', async (bench) => {
    const [fast, slow] = [await bench.webhook(), await bench.webhook()]
    const event = newEvent()
    const deliveries = [newDelivery(fast, event), newDelivery(slow, event)]
    await bench.store.deliveries.accept({ events: [event], deliveries, maxPending: 9 }, bench.now())
    await bench.settle((await bench.claimOne(fast)).delivery, 'delivered')
    await bench.advance(1_000)
    while ((await prune(bench, { beforeMs: bench.now() })) > 0) {}
    const replay = newDelivery(fast, event, { replayOf: deliveries[1]!.id })
    await bench.store.deliveries.accept({ events: [], deliveries: [replay], maxPending: 9 }, bench.now())
    assert.match((await bench.claimOne(slow)).body, /"sequence":1/)
    await bench.settle((await bench.claimOne(fast)).delivery, 'delivered')
    const row = await bench.store.deliveries.delivery('account', deliveries[1]!.id)
    await bench.settle(row!, 'delivered')
    await bench.advance(1_000)
    while ((await prune(bench, { beforeMs: bench.now() })) > 0) {}
    const again = newDelivery(fast, event, { replayOf: replay.id })
    const refused = bench.store.deliveries.accept(
      { events: [], deliveries: [again], maxPending: 9 },
      bench.now(),
    )
    assert.equal(await codeOf(refused), 'NotFound')
  })

  promised('pending deliveries are never removed, however old', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook, { callId: 'a' })
    await bench.accept(webhook, { callId: 'a' })
    await bench.accept(webhook, { callId: 'b' })
    const [first, second] = await bench.claim(webhook)
    await bench.settle(second!.delivery, 'waiting', { next: { dueMs: bench.now() } })
    await bench.advance(100_000)
    while ((await prune(bench, { beforeMs: bench.now(), attemptsPerWebhook: 0 })) > 0) {}
    assert.equal(await bench.store.deliveries.pending(), 3)
    await bench.settle(first!.delivery, 'delivered')
    const claims = await bench.claim(webhook)
    assert.equal(claims.length, 2)
    for (const claim of claims) assert.match(claim.body, /sequence/)
  })

  promised('removing works in batches: at most so many rows, until none is left', async (bench) => {
    const webhook = await bench.webhook()
    await ended(bench, webhook, 5)
    await bench.advance(1_000)
    const removed: number[] = []
    do removed.push(await prune(bench, { beforeMs: bench.now(), limit: 2 }))
    while (removed.at(-1)! > 0)
    assert.ok(removed.length > 5, 'ten rows at least: five attempts, five deliveries')
    assert.ok(removed.every((count) => count <= 2))
    assert.deepEqual(await attemptsOf(bench, webhook), [])
  })

  promised('keys past their window go, those within stay', async (bench) => {
    const keyed = (key: string, untilMs: number) =>
      newEvent({ idempotency: { key, bodyHash: 'hash', untilMs } })
    const kept = keyed('long', bench.now() + 10_000)
    await bench.acceptEvents(keyed('short', bench.now() + 100), kept)
    await bench.advance(100)
    assert.ok((await prune(bench, {})) >= 1)
    const [within] = await bench.acceptEvents(keyed('long', bench.now() + 10_000))
    assert.deepEqual([within?.duplicate, within?.id], [true, kept.id])
  })
}
