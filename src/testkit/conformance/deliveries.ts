import assert from 'node:assert/strict'
import type { DeliveryQuery } from '../../delivery/delivery-queries.js'
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
