import assert from 'node:assert/strict'
import type { DeliveryQuery, DeliverySearch, StoredDelivery } from '../../delivery/delivery-queries.js'
import type { DeliveryState } from '../../delivery/lifecycle.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { type DefineRule, type Fixture, idsOf, valuesOf } from './fixture.js'
import { acceptanceOf } from './node.js'
import { readByParts } from './parts.js'
import { newDelivery, newEvent, newReplay } from './sample-data.js'
import { withoutRecord } from './settle.js'

async function listIds(
  fixture: Fixture,
  webhook: Webhook,
  query: Partial<DeliveryQuery> = {},
): Promise<string[]> {
  const { accountId, id: webhookId } = webhook
  const { deliveries } = fixture.store
  const whole = { accountId, webhookId, limit: 100, ...query }
  const found = await deliveries.deliveries(whole)
  const inParts = await readByParts(fixture, 'deliveries', whole, 2, (part) => deliveries.deliveries(part))
  assert.deepEqual(idsOf(inParts), idsOf(found), 'the parts of a list have all of its rows')
  return idsOf(found)
}

/** All deliveries, by pages of a search. A page is longer only by deliveries of the event with which it ends. */
async function searchAll({ store }: Fixture, limit: number): Promise<readonly StoredDelivery[]> {
  const seen: StoredDelivery[] = []
  for (let cursor: number | undefined; ; ) {
    const page = await store.deliveries.search({ limit, ...(cursor !== undefined && { cursor }) })
    const last = page.deliveries[limit - 1]
    assert.ok(page.deliveries.slice(limit).every(({ position }) => position === last?.position))
    seen.push(...page.deliveries)
    cursor = page.cursor
    if (cursor === undefined) return seen
  }
}

/** Rules of delivery queries. */
export function deliveryRules(rule: DefineRule): void {
  rule('deliveries of a webhook are listed newest first, or oldest first with ascending', async (fixture) => {
    const [webhook, other] = [await fixture.webhook(), await fixture.webhook()]
    const made = idsOf(await fixture.acceptMany(webhook, 3))
    await fixture.acceptMany(other, 2)
    assert.deepEqual(await listIds(fixture, webhook), [...made].reverse())
    assert.deepEqual(await listIds(fixture, webhook, { ascending: true, limit: 2 }), made.slice(0, 2))
    assert.deepEqual(await listIds(fixture, { ...webhook, id: 'unknown' }), [])
  })

  for (const ascending of [false, true]) {
    const order = ascending ? 'ascending' : 'descending'
    rule(
      `${order} pages of deliveries neither skip nor repeat while others come and end`,
      async (fixture) => {
        const webhook = await fixture.webhook()
        const made = idsOf(await fixture.acceptMany(webhook, 6))
        const seen: StoredDelivery[] = []
        for (let page = 0; page < 3; page += 1) {
          const cursor = seen.at(-1)?.position
          const from = cursor === undefined ? {} : { cursor }
          seen.push(...(await fixture.deliveriesOf(webhook, { ascending, limit: 2, ...from })))
          await fixture.acceptMany(webhook, 1)
          const [oldest] = await fixture.waiting(webhook)
          await fixture.settle(oldest!, 'delivered')
        }
        assert.deepEqual(idsOf(seen), ascending ? made : made.toReversed())
      },
    )
  }

  rule('deliveries are filtered by state', async (fixture) => {
    const webhook = await fixture.webhook()
    const accepted = await fixture.acceptMany(webhook, 4)
    const [first, second, third, fourth] = idsOf(accepted)
    await fixture.settle(accepted[0]!, 'delivered')
    await fixture.settle(accepted[1]!, 'exhausted')
    await fixture.node.start(accepted[2]!)
    assert.deepEqual(await listIds(fixture, webhook, { states: ['delivered'] }), [first])
    assert.deepEqual(await listIds(fixture, webhook, { states: ['exhausted', 'delivered'] }), [second, first])
    assert.deepEqual(await listIds(fixture, webhook, { states: ['waiting'] }), [fourth, third])
    assert.deepEqual(await listIds(fixture, webhook, { states: ['in_flight'] }), [], 'only nodes know it')
    assert.deepEqual(await listIds(fixture, webhook, { states: ['waiting', 'delivered'] }), [
      fourth,
      third,
      first,
    ])
    assert.deepEqual(await listIds(fixture, webhook, { states: ['quarantined'] }), [])
  })

  rule('deliveries are filtered by time of acceptance, both bounds inclusive', async (fixture) => {
    const webhook = await fixture.webhook()
    const made: string[] = []
    const start = fixture.now()
    for (let index = 0; index < 4; index += 1) {
      made.push(...idsOf(await fixture.accept(webhook)))
      await fixture.advance(100)
    }
    const range = { fromMs: start + 100, toMs: start + 200 }
    assert.deepEqual(await listIds(fixture, webhook, { ...range, ascending: true }), made.slice(1, 3))
    assert.deepEqual(await listIds(fixture, webhook, { fromMs: start + 301 }), [])
  })

  rule('a search finds deliveries of all accounts, newest first, page by page', async (fixture) => {
    const [first, second] = [
      await fixture.webhook({ accountId: 'one' }),
      await fixture.webhook({ accountId: 'two' }),
    ]
    const made: string[] = []
    for (let round = 0; round < 3; round += 1) {
      made.push(...idsOf(await fixture.accept(first)), ...idsOf(await fixture.accept(second)))
    }
    const seen = await searchAll(fixture, 4)
    assert.deepEqual(idsOf(seen), made.reverse())
    for (const found of seen) {
      assert.deepEqual(await fixture.store.deliveries.delivery(found.accountId, found.id), found)
    }
  })

  rule('a search loses no delivery of an event between two pages', async (fixture) => {
    const webhooks = await Promise.all(Array.from({ length: 5 }, () => fixture.webhook()))
    const accepted = []
    for (let round = 0; round < 3; round += 1) accepted.push(...(await fixture.accept(webhooks)))
    await fixture.settle(accepted[1]!, 'delivered')
    for (const limit of [1, 2, 4, 5]) {
      const seen = idsOf(await searchAll(fixture, limit))
      assert.deepEqual(seen.toSorted(), idsOf(accepted).sort())
    }
  })

  rule('a search selects by account, webhook, call, state and time', async (fixture) => {
    const [deliveryA, deliveryB] = [
      await fixture.webhook({ accountId: 'one' }),
      await fixture.webhook({ accountId: 'two' }),
    ]
    const startMs = fixture.now()
    const [first] = idsOf(await fixture.accept(deliveryA, { callId: 'call-1' }))
    await fixture.advance(100)
    const [second] = idsOf(await fixture.accept(deliveryB, { callId: 'call-1' }))
    const [third] = idsOf(await fixture.accept(deliveryB, { callId: 'call-2' }))
    const search = async (query: Omit<DeliverySearch, 'limit'>) =>
      idsOf((await fixture.store.deliveries.search({ ...query, limit: 9 })).deliveries)
    assert.deepEqual(await search({ accountId: 'one' }), [first])
    assert.deepEqual(await search({ webhookId: deliveryB.id }), [third, second])
    assert.deepEqual(await search({ accountId: 'one', webhookId: deliveryB.id }), [])
    assert.deepEqual(await search({ accountId: 'unknown' }), [])
    assert.deepEqual(await search({ webhookId: 'unknown' }), [])
    assert.deepEqual(await search({ callId: 'call-1' }), [second, first])
    assert.deepEqual(await search({ callId: 'call-1', accountId: 'two' }), [second])
    assert.deepEqual(await search({ toMs: startMs }), [first])
    assert.deepEqual(await search({ fromMs: startMs + 1 }), [third, second])
    await fixture.settle(await fixture.waitingOne(deliveryA), 'exhausted')
    assert.deepEqual(await search({ states: ['exhausted'] }), [first])
    assert.deepEqual(await search({ states: ['exhausted'], callId: 'call-1' }), [first])
    assert.deepEqual(await search({ states: ['waiting'] }), [third, second])
  })

  rule('an event is found for the accounts that have a delivery of it alone', async (fixture) => {
    const [webhook, other] = [await fixture.webhook(), await fixture.webhook({ accountId: 'other' })]
    const { deliveries } = fixture.store
    const event = newEvent({ accountId: 'child', callId: 'call', hook: 'channel_answer' })
    const found = { accountId: 'child', hook: 'channel_answer', callId: 'call' }
    const expectFound = async (accountIds: readonly (string | undefined)[]) => {
      for (const accountId of [undefined, 'account', 'other', 'child', 'unknown']) {
        const expected = accountIds.includes(accountId) ? found : undefined
        assert.deepEqual(await deliveries.eventOf(accountId, event.id), expected, accountId)
      }
    }
    await fixture.acceptOne(acceptanceOf(event, [newDelivery(webhook, event)]))
    await fixture.accept(other, { callId: 'call' })
    await expectFound([undefined, 'account'])
    await fixture.settle(await fixture.waitingOne(webhook), 'delivered')
    await expectFound([undefined, 'account'])
    const unsent = newEvent({ callId: 'call' })
    await fixture.acceptOne(acceptanceOf(unsent, []))
    assert.equal(await deliveries.eventOf(undefined, unsent.id), undefined)
    assert.equal(await deliveries.eventOf(undefined, 'unknown'), undefined)
    assert.equal(await deliveries.eventOf('account', 'unknown'), undefined)
  })

  rule('a search reads waiting deliveries of an older epoch as cancelled', async (fixture) => {
    const webhook = await fixture.webhook()
    const [id] = idsOf(await fixture.accept(webhook))
    await fixture.disable(webhook)
    const search = async (state: DeliveryState) =>
      idsOf((await fixture.store.deliveries.search({ states: [state], limit: 9 })).deliveries)
    assert.deepEqual(await search('cancelled'), [id])
    assert.deepEqual(await search('waiting'), [])
  })

  rule('no query returns deliveries of another account', async (fixture) => {
    const webhook = await fixture.webhook({ accountId: 'parent' })
    const [id] = idsOf(await fixture.accept(webhook, { accountId: 'child' }))
    assert.ok(await fixture.store.deliveries.delivery('parent', id!))
    for (const accountId of ['child', 'stranger']) {
      assert.equal(await fixture.store.deliveries.delivery(accountId, id!), undefined)
      assert.deepEqual(await listIds(fixture, { ...webhook, accountId }), [])
    }
    assert.equal(await fixture.store.deliveries.delivery('parent', 'unknown'), undefined)
    assert.equal((await fixture.store.deliveries.delivery(undefined, id!))?.accountId, 'parent')
    assert.equal(await fixture.store.deliveries.delivery(undefined, 'unknown'), undefined)
  })

  rule('deliveries and replays have the number of their event, and tests none', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook, { callId: 'call' })
    const { acceptance, deliveries } = fixture.prepare(webhook, { callId: 'call' })
    await fixture.acceptOne(acceptance)
    for (const waiting of await fixture.waiting(webhook)) await fixture.settle(waiting, 'delivered')
    const replay = newReplay(webhook, acceptance.events[0]!, deliveries[0]!)
    await fixture.acceptOne(acceptanceOf([], [replay]))
    const test = newEvent({ callId: 'call', numbered: false })
    await fixture.acceptOne(acceptanceOf(test, [newDelivery(webhook, test)]))
    const { store } = fixture
    const query = { accountId: 'account', limit: 9 }
    const listed = await store.deliveries.deliveries({ ...query, webhookId: webhook.id })
    assert.deepEqual(valuesOf(listed, 'sequence'), [0, 2, 2, 1])
    const found = await store.deliveries.search({ ...query, callId: 'call' })
    assert.deepEqual(valuesOf(found.deliveries, 'sequence'), [0, 2, 2, 1])
    assert.equal((await store.deliveries.delivery('account', replay.id))?.sequence, 2)
  })

  rule('a search by call finds every delivery of a call among those of others', async (fixture) => {
    const webhook = await fixture.webhook({ accountId: 'parent' })
    const expected: string[] = []
    for (let index = 0; index < 5; index += 1) {
      const [mine] = await fixture.accept(webhook, { accountId: 'child', callId: 'wanted' })
      await fixture.accept(webhook, { accountId: 'child', callId: `other-${index}` })
      expected.unshift(mine!.id)
    }
    const [oldest] = await fixture.waiting(webhook)
    await fixture.settle(oldest!, 'delivered')
    const search = { accountId: 'parent', callId: 'wanted' }
    const whole = await fixture.store.deliveries.search({ ...search, limit: 9 })
    assert.deepEqual([idsOf(whole.deliveries), whole.cursor], [expected, undefined])
    const { deliveries, cursor } = await fixture.store.deliveries.search({ ...search, limit: 3 })
    assert.deepEqual(idsOf(deliveries), expected.slice(0, 3))
    assert.ok(cursor)
    const rest = await fixture.store.deliveries.search({ ...search, limit: 3, cursor })
    assert.deepEqual([idsOf(rest.deliveries), rest.cursor], [expected.slice(3), undefined])
  })

  rule('ended deliveries are read like waiting ones, with their attempts or without', async (fixture) => {
    const webhook = await fixture.webhook()
    const accepted = await fixture.acceptMany(webhook, 3)
    const expected = new Map(
      await Promise.all(accepted.map(async ({ id }) => [id, await fixture.delivery(id)] as const)),
    )
    await fixture.advance(500)
    await fixture.settle(accepted[0]!, 'delivered')
    const slim = fixture.settlement(accepted[1]!, 'delivered')
    await fixture.node.commit({ ended: [withoutRecord(slim)] })
    await fixture.settle(accepted[2]!, 'expired', { next: { reason: 'expired' } })
    for (const [index, { id }] of accepted.entries()) {
      const stored = await fixture.delivery(id)
      const { dueMs: _due, ...before } = expected.get(id)!
      const isExpired = index === 2
      assert.deepEqual(stored, {
        ...before,
        state: isExpired ? 'expired' : 'delivered',
        attempts: isExpired ? 0 : 1,
        tries: isExpired ? 0 : 1,
        endedMs: fixture.now(),
        ...(isExpired && { reason: 'expired' }),
      })
    }
  })

  rule('a delivery that ended without an attempt record is listed, found and replayed', async (fixture) => {
    const webhook = await fixture.webhook()
    const { acceptance, deliveries } = fixture.prepare(webhook, { callId: 'call' })
    await fixture.acceptOne(acceptance)
    const { body } = await fixture.waitingOne(webhook)
    const slim = withoutRecord(fixture.settlement(deliveries[0]!, 'delivered'))
    await fixture.node.commit({ ended: [slim] })
    const { id } = deliveries[0]!
    assert.deepEqual(await listIds(fixture, webhook), [id])
    assert.deepEqual(await listIds(fixture, webhook, { states: ['delivered'] }), [id])
    const found = await fixture.store.deliveries.search({ callId: 'call', limit: 9 })
    assert.deepEqual(idsOf(found.deliveries), [id])
    for (const query of [{}, { deliveryId: id }, { webhookId: webhook.id }, { callIds: ['call'] }]) {
      const attempts = await fixture.attempts({ ...query })
      assert.deepEqual(attempts, [])
    }
    assert.equal((await fixture.store.deliveries.lastSuccesses([webhook.id])).size, 0)
    const replay = newReplay(webhook, acceptance.events[0]!, deliveries[0]!)
    await fixture.acceptOne(acceptanceOf([], [replay]))
    assert.equal((await fixture.waitingOne(webhook)).body, body)
    assert.deepEqual(await listIds(fixture, webhook), [replay.id, id])
  })
}
