import assert from 'node:assert/strict'
import type { DeliveryQuery, DeliverySearch, StoredDelivery } from '../../delivery/delivery-queries.js'
import type { DeliveryState } from '../../delivery/lifecycle.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { type DefineRule, type Fixture, idsOf } from './fixture.js'

async function listIds(
  fixture: Fixture,
  webhook: Webhook,
  query: Partial<DeliveryQuery> = {},
): Promise<string[]> {
  const { accountId, id: webhookId } = webhook
  return idsOf(await fixture.store.deliveries.deliveries({ accountId, webhookId, limit: 100, ...query }))
}

async function acceptMany(fixture: Fixture, webhook: Webhook, count: number): Promise<string[]> {
  const made: string[] = []
  for (let index = 0; index < count; index += 1) made.push(...(await fixture.accept(webhook)))
  return made
}

/** Rules of delivery queries. */
export function deliveryRules(rule: DefineRule): void {
  rule('deliveries of a webhook are listed newest first, or oldest first with ascending', async (fixture) => {
    const [webhook, other] = [await fixture.webhook(), await fixture.webhook()]
    const made = await acceptMany(fixture, webhook, 3)
    await acceptMany(fixture, other, 2)
    assert.deepEqual(await listIds(fixture, webhook), [...made].reverse())
    assert.deepEqual(await listIds(fixture, webhook, { ascending: true, limit: 2 }), made.slice(0, 2))
    assert.deepEqual(await listIds(fixture, { ...webhook, id: 'unknown' }), [])
  })

  rule('pages of deliveries neither skip nor repeat while others are accepted and end', async (fixture) => {
    const webhook = await fixture.webhook()
    const made = await acceptMany(fixture, webhook, 6)
    const seen: string[] = []
    let cursor: number | undefined
    for (let page = 0; page < 3; page += 1) {
      const rows = await fixture.store.deliveries.deliveries({
        accountId: 'account',
        webhookId: webhook.id,
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      })
      seen.push(...idsOf(rows))
      cursor = rows.at(-1)?.position
      await acceptMany(fixture, webhook, 1)
      const [claim] = await fixture.claim(webhook, 1)
      await fixture.settle(claim!.delivery, 'delivered')
    }
    assert.deepEqual(seen, [...made].reverse())
  })

  rule('deliveries are filtered by state', async (fixture) => {
    const webhook = await fixture.webhook()
    await acceptMany(fixture, webhook, 4)
    const claims = await fixture.claim(webhook, 3)
    const [one, two, three] = idsOf(claims.map(({ delivery }) => delivery))
    await fixture.settle(claims[0]!.delivery, 'delivered')
    await fixture.settle(claims[1]!.delivery, 'exhausted')
    assert.deepEqual(await listIds(fixture, webhook, { states: ['delivered'] }), [one])
    assert.deepEqual(await listIds(fixture, webhook, { states: ['in_flight'] }), [three])
    assert.deepEqual(
      (await listIds(fixture, webhook, { states: ['delivered', 'exhausted'] })).sort(),
      [one!, two!].sort(),
    )
    assert.equal((await listIds(fixture, webhook, { states: ['waiting'] })).length, 1)
    assert.deepEqual(await listIds(fixture, webhook, { states: ['quarantined'] }), [])
  })

  rule('deliveries are filtered by time of acceptance, both bounds inclusive', async (fixture) => {
    const webhook = await fixture.webhook()
    const made: string[] = []
    const start = fixture.now()
    for (let index = 0; index < 4; index += 1) {
      made.push(...(await fixture.accept(webhook)))
      await fixture.advance(100)
    }
    const range = { fromMs: start + 100, toMs: start + 200 }
    assert.deepEqual(await listIds(fixture, webhook, { ...range, ascending: true }), made.slice(1, 3))
    assert.deepEqual(await listIds(fixture, webhook, { fromMs: start + 301 }), [])
  })

  rule('a search finds deliveries of all accounts, newest first, page by page', async (fixture) => {
    const [one, two] = [
      await fixture.webhook({ accountId: 'one' }),
      await fixture.webhook({ accountId: 'two' }),
    ]
    const made: string[] = []
    for (let round = 0; round < 3; round += 1) {
      made.push(...(await fixture.accept(one)), ...(await fixture.accept(two)))
    }
    const seen: StoredDelivery[] = []
    let cursor: number | undefined
    do {
      const page = await fixture.store.deliveries.search({
        limit: 4,
        ...(cursor !== undefined && { cursor }),
      })
      assert.ok(page.deliveries.length <= 4)
      seen.push(...page.deliveries)
      cursor = page.cursor
    } while (cursor !== undefined)
    assert.deepEqual(idsOf(seen), made.reverse())
    for (const found of seen) {
      assert.deepEqual(await fixture.store.deliveries.delivery(found.accountId, found.id), found)
    }
  })

  rule('a search selects by account, webhook, call, state and time', async (fixture) => {
    const [one, two] = [
      await fixture.webhook({ accountId: 'one' }),
      await fixture.webhook({ accountId: 'two' }),
    ]
    const startMs = fixture.now()
    const [first] = await fixture.accept(one, { callId: 'call-1' })
    await fixture.advance(100)
    const [second] = await fixture.accept(two, { callId: 'call-1' })
    const [third] = await fixture.accept(two, { callId: 'call-2' })
    const search = async (query: Omit<DeliverySearch, 'limit'>) =>
      idsOf((await fixture.store.deliveries.search({ ...query, limit: 9 })).deliveries)
    assert.deepEqual(await search({ accountId: 'one' }), [first])
    assert.deepEqual(await search({ webhookId: two.id }), [third, second])
    assert.deepEqual(await search({ accountId: 'one', webhookId: two.id }), [])
    assert.deepEqual(await search({ accountId: 'unknown' }), [])
    assert.deepEqual(await search({ webhookId: 'unknown' }), [])
    assert.deepEqual(await search({ callId: 'call-1' }), [second, first])
    assert.deepEqual(await search({ callId: 'call-1', accountId: 'two' }), [second])
    assert.deepEqual(await search({ toMs: startMs }), [first])
    assert.deepEqual(await search({ fromMs: startMs + 1 }), [third, second])
    const { delivery } = await fixture.claimOne(one)
    await fixture.settle(delivery, 'exhausted')
    assert.deepEqual(await search({ states: ['exhausted'] }), [first])
    assert.deepEqual(await search({ states: ['exhausted'], callId: 'call-1' }), [first])
    assert.deepEqual(await search({ states: ['waiting'] }), [third, second])
  })

  rule('a search reads waiting deliveries of an older epoch as cancelled', async (fixture) => {
    const webhook = await fixture.webhook()
    const [id] = await fixture.accept(webhook)
    const settings = { ...webhook.settings, enabled: false }
    await fixture.store.webhooks.replace({ ...webhook, settings, revision: 2, epoch: 2 }, 1)
    const search = async (state: DeliveryState) =>
      idsOf((await fixture.store.deliveries.search({ states: [state], limit: 9 })).deliveries)
    assert.deepEqual(await search('cancelled'), [id])
    assert.deepEqual(await search('waiting'), [])
  })

  rule('no query returns deliveries of another account', async (fixture) => {
    const webhook = await fixture.webhook({ accountId: 'parent' })
    const [id] = await fixture.accept(webhook, { accountId: 'child' })
    assert.ok(await fixture.store.deliveries.delivery('parent', id!))
    for (const accountId of ['child', 'stranger']) {
      assert.equal(await fixture.store.deliveries.delivery(accountId, id!), undefined)
      assert.deepEqual(await listIds(fixture, { ...webhook, accountId }), [])
    }
    assert.equal(await fixture.store.deliveries.delivery('parent', 'unknown'), undefined)
  })
}
