import assert from 'node:assert/strict'
import type { Erasure } from '../../delivery/erasure-store.js'
import { newDelivery, newEvent } from './fixtures.js'
import { codeOf, ids, type Promised, type Workbench } from './workbench.js'

/** Erases in small batches until nothing is left; how many rows there were. */
async function eraseAll(bench: Workbench, what: Erasure): Promise<number> {
  let erased = 0
  for (;;) {
    const count = await bench.store.deliveries.erase(what, 2)
    if (count === 0) return erased
    erased += count
  }
}

const attemptsOf = async (bench: Workbench, accountId = 'account') =>
  (await bench.store.deliveries.attempts({ accountId, limit: 99 })).map((row) => row.callId)

export function erasurePromises(promised: Promised): void {
  promised('nothing to erase, nothing erased', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook, { callId: 'kept' })
    assert.equal(await eraseAll(bench, { accountId: 'account', callIds: ['other'] }), 0)
    assert.equal(await eraseAll(bench, { accountId: 'stranger', callIds: ['kept'] }), 0)
    assert.equal(await eraseAll(bench, { accountId: 'stranger' }), 0)
    assert.equal((await bench.claim(webhook)).length, 1)
  })

  promised('of an erased call nothing is left: deliveries, attempts, legs, numbers, keys', async (bench) => {
    const webhook = await bench.webhook()
    const key = { key: 'key', bodyHash: 'hash', untilMs: bench.now() + 9_000 }
    const event = newEvent({ callId: 'gone', otherLegCallId: 'leg', idempotency: key })
    const first = newDelivery(webhook, event)
    await bench.store.deliveries.accept({ events: [event], deliveries: [first], maxPending: 9 }, bench.now())
    await bench.settle((await bench.claimOne(webhook)).delivery, 'delivered')
    const [other] = await bench.accept(webhook, { callId: 'kept' })
    await bench.settle((await bench.claimOne(webhook)).delivery, 'delivered')
    assert.ok((await eraseAll(bench, { accountId: 'account', callIds: ['gone'] })) > 0)

    const { deliveries } = bench.store
    assert.equal(await deliveries.delivery('account', first.id), undefined)
    assert.deepEqual(await attemptsOf(bench), ['kept'])
    assert.deepEqual(await deliveries.attempts({ accountId: 'account', callIds: ['gone'], limit: 9 }), [])
    assert.deepEqual(await deliveries.legs('account', 'gone'), [])
    assert.deepEqual(await deliveries.legs('account', 'leg'), ['leg'])
    const rows = await deliveries.deliveries({ accountId: 'account', webhookId: webhook.id, limit: 9 })
    assert.deepEqual(ids(rows), [other])
    const again = newEvent({ callId: 'gone', idempotency: { ...key, bodyHash: 'other hash' } })
    assert.deepEqual(await bench.acceptEvents(again), [{ id: again.id, sequence: 1, duplicate: false }])
  })

  promised('what is pending of it is never sent, and the lanes of others go on', async (bench) => {
    const webhook = await bench.webhook()
    const lane = 'one lane for both'
    const made = []
    for (const callId of ['gone', 'kept']) {
      const event = newEvent({ callId })
      const delivery = newDelivery(webhook, event, { lane })
      made.push(delivery.id)
      await bench.store.deliveries.accept(
        { events: [event], deliveries: [delivery], maxPending: 9 },
        bench.now(),
      )
    }
    assert.equal(await bench.store.deliveries.pending(), 2)
    await eraseAll(bench, { accountId: 'account', callIds: ['gone'] })
    assert.equal(await bench.store.deliveries.pending(), 1)
    const { delivery } = await bench.claimOne(webhook)
    assert.equal(delivery.id, made[1])
    await bench.settle(delivery, 'delivered')
  })

  promised('what is in flight of it is fenced when it comes back', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook, { callId: 'gone' })
    const { delivery } = await bench.claimOne(webhook)
    await bench.accept(webhook, { callId: 'gone' })
    await eraseAll(bench, { accountId: 'account', callIds: ['gone'] })
    const late = await bench.store.deliveries.settle([bench.settlement(delivery, 'delivered')], bench.now())
    assert.deepEqual(late, [{ kind: 'fenced' }])
    assert.deepEqual(await attemptsOf(bench), [])
    assert.equal(await bench.store.deliveries.pending(), 0)
    assert.deepEqual(await bench.store.deliveries.orphans(bench.owner, 9), [])
  })

  promised('a call of an account is erased from the webhooks of the accounts above it too', async (bench) => {
    const [own, above] = [await bench.webhook(), await bench.webhook({ accountId: 'parent' })]
    const event = newEvent({ callId: 'gone' })
    const deliveries = [newDelivery(own, event), newDelivery(above, event)]
    await bench.store.deliveries.accept({ events: [event], deliveries, maxPending: 9 }, bench.now())
    for (const { delivery } of await bench.claim([own, above])) await bench.settle(delivery, 'delivered')
    await bench.accept(above, { accountId: 'parent', callId: 'gone' })
    await bench.settle((await bench.claimOne(above)).delivery, 'delivered')
    await eraseAll(bench, { accountId: 'account', callIds: ['gone'] })
    assert.deepEqual([await attemptsOf(bench), await attemptsOf(bench, 'parent')], [[], ['gone']])
    assert.equal(await bench.store.deliveries.delivery('parent', deliveries[1]!.id), undefined)
  })

  promised('of an erased account nothing is left that was sent, nor a deleted webhook', async (bench) => {
    const [kept, deleted] = [await bench.webhook(), await bench.webhook()]
    const stranger = await bench.webhook({ accountId: 'stranger' })
    const made = await bench.accept([kept, deleted], { callId: 'a' })
    for (const { delivery } of await bench.claim([kept, deleted])) await bench.settle(delivery, 'delivered')
    await bench.accept(kept, { callId: 'b' })
    await bench.accept(stranger, { accountId: 'stranger', callId: 'a' })
    const removed = { ...deleted, deletedMs: bench.now(), revision: 2, epoch: 2 }
    await bench.store.webhooks.replace(removed, 1)
    await eraseAll(bench, { accountId: 'account' })
    assert.deepEqual(await attemptsOf(bench), [])
    assert.equal(await bench.store.deliveries.pending(), 1)
    for (const id of made) assert.equal(await bench.store.deliveries.delivery('account', id), undefined)
    assert.equal(await bench.store.deliveries.webhookOf(deleted.id), undefined)
    assert.deepEqual(await bench.store.webhooks.read('account', kept.id), kept)
    assert.equal((await bench.claim(stranger)).length, 1)
  })

  promised('a replay of what was erased is refused', async (bench) => {
    const webhook = await bench.webhook()
    const event = newEvent({ callId: 'gone' })
    const delivery = newDelivery(webhook, event)
    await bench.store.deliveries.accept(
      { events: [event], deliveries: [delivery], maxPending: 9 },
      bench.now(),
    )
    await eraseAll(bench, { accountId: 'account', callIds: ['gone'] })
    const replay = {
      events: [],
      deliveries: [newDelivery(webhook, event, { replayOf: delivery.id })],
      maxPending: 9,
    }
    assert.equal(await codeOf(bench.store.deliveries.accept(replay, bench.now())), 'NotFound')
  })

  promised(
    'calls are found by a number in what was sent, page by page, and not by a part of one',
    async (bench) => {
      const webhook = await bench.webhook()
      const bodies = {
        a: '{"from":"+15551234"}',
        b: 'from=%2B15551234&to=7',
        c: '{"from":"915551234"}',
        d: '{"to":"155512345"}',
        e: '{"to":"sip:15551234@example.com"}',
      }
      for (const [callId, head] of Object.entries(bodies)) {
        await bench.accept(webhook, { callId, bodies: [{ head }] })
      }
      await bench.accept(await bench.webhook({ accountId: 'stranger' }), {
        accountId: 'stranger',
        callId: 'f',
        bodies: [{ head: bodies.a }],
      })
      const found: string[] = []
      let cursor: number | undefined
      let pages = 0
      do {
        const page = await bench.store.deliveries.mentions('account', '15551234', cursor, 2)
        found.push(...page.callIds)
        cursor = page.cursor
        pages += 1
      } while (cursor !== undefined)
      assert.deepEqual([...new Set(found)].sort(), ['a', 'b', 'e'])
      assert.ok(pages > 1)
    },
  )

  promised('scrubbing what was erased leaves everything else as it was', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook, { callId: 'gone' })
    await bench.accept(webhook, { callId: 'kept' })
    await eraseAll(bench, { accountId: 'account', callIds: ['gone'] })
    await bench.store.deliveries.scrub()
    assert.equal((await bench.claimOne(webhook)).delivery.callId, 'kept')
  })
}
