import assert from 'node:assert/strict'
import type { Settlement } from '../../delivery/delivery-store.js'
import type { DefineRule, Fixture } from './fixture.js'
import { newRecord, ORIGIN } from './sample-data.js'

async function settleKinds(fixture: Fixture, ...settlements: Settlement[]): Promise<string[]> {
  return (await fixture.store.deliveries.settle(settlements, fixture.now())).map(({ kind }) => kind)
}

/** Rules of `settle` and its fence. */
export function settleRules(rule: DefineRule): void {
  rule('a settlement writes state, counts, reason, end and attempt record together', async (fixture) => {
    const webhook = await fixture.webhook()
    const [id] = await fixture.accept(webhook)
    const { delivery } = await fixture.claimOne(webhook)
    await fixture.advance(250)
    const record = newRecord(delivery, { atMs: fixture.now(), attempt: 1 })
    const settled = await fixture.settle(delivery, 'exhausted', {
      next: { reason: 'timeout', tries: 1 },
      record,
    })
    assert.equal(settled.endpoint.dueMs, undefined)
    const stored = await fixture.store.deliveries.delivery('account', id!)
    assert.deepEqual(
      [stored?.state, stored?.attempts, stored?.tries, stored?.reason, stored?.endedMs, stored?.dueMs],
      ['exhausted', 1, 1, 'timeout', fixture.now(), undefined],
    )
    const [attempt] = await fixture.store.deliveries.attempts({
      accountId: 'account',
      deliveryId: id!,
      limit: 5,
    })
    assert.equal(attempt?.id, record.id)
  })

  rule('a retry waits until its due time, and so does its endpoint', async (fixture) => {
    const webhook = await fixture.webhook()
    const [id] = await fixture.accept(webhook)
    const { delivery } = await fixture.claimOne(webhook)
    const dueMs = fixture.now() + 2_000
    const next = { dueMs, attempts: 1, tries: 0, interruptions: 2, reason: 'interrupted' }
    const settled = await fixture.settle(delivery, 'waiting', { next })
    assert.deepEqual(settled.endpoint, {
      webhookId: webhook.id,
      accountId: 'account',
      origin: ORIGIN,
      failing: false,
      dueMs,
    })
    const stored = await fixture.store.deliveries.delivery('account', id!)
    assert.deepEqual(
      [stored?.state, stored?.dueMs, stored?.attempts, stored?.tries, stored?.interruptions, stored?.reason],
      ['waiting', dueMs, 1, 0, 2, 'interrupted'],
    )
    assert.equal(stored?.endedMs, undefined)
  })

  rule('a settlement without a reason removes the previous one', async (fixture) => {
    const webhook = await fixture.webhook()
    const [id] = await fixture.accept(webhook)
    const first = await fixture.claimOne(webhook)
    await fixture.settle(first.delivery, 'waiting', { next: { reason: 'timeout', dueMs: fixture.now() } })
    await fixture.settle((await fixture.claimOne(webhook)).delivery, 'delivered')
    assert.equal((await fixture.store.deliveries.delivery('account', id!))?.reason, undefined)
  })

  rule('a claim can be released without an attempt record', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    const { delivery } = await fixture.claimOne(webhook)
    const { record: _unsent, ...released } = fixture.settlement(delivery, 'waiting', {
      next: { attempts: 0, tries: 0, dueMs: fixture.now() },
    })
    assert.deepEqual(await settleKinds(fixture, released), ['settled'])
    assert.deepEqual(await fixture.store.deliveries.attempts({ accountId: 'account', limit: 5 }), [])
    assert.equal((await fixture.claimOne(webhook)).delivery.attempts, 0)
  })

  rule('a waiting delivery can end without a claim', async (fixture) => {
    const webhook = await fixture.webhook()
    const [id] = await fixture.accept(webhook)
    const stored = await fixture.store.deliveries.delivery('account', id!)
    await fixture.settle(stored!, 'expired', { next: { reason: 'expired' } })
    assert.equal(await fixture.state(webhook, id!), 'expired')
    assert.equal((await fixture.claim(webhook)).length, 0)
    assert.equal(await fixture.store.deliveries.pending(), 0)
  })

  rule('a settlement with an older fence is fenced and writes nothing', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    const stale = await fixture.claimOne(webhook)
    await fixture.settle(stale.delivery, 'waiting', { next: { dueMs: fixture.now() } })
    const current = await fixture.claimOne(webhook)
    const late = fixture.settlement(stale.delivery, 'delivered', {
      endpoint: { epoch: 1, health: { failuresInRow: 9 } },
    })
    assert.deepEqual(await settleKinds(fixture, late), ['fenced'])
    assert.equal(await fixture.state(webhook, stale.delivery.id), 'in_flight')
    const attempts = await fixture.store.deliveries.attempts({ accountId: 'account', limit: 5 })
    assert.equal(attempts.length, 1)
    assert.equal((await fixture.store.deliveries.webhookOf(webhook.id))?.health, undefined)
    await fixture.settle(current.delivery, 'delivered')
  })

  rule('a settlement that expects another state is fenced', async (fixture) => {
    const webhook = await fixture.webhook()
    const [id] = await fixture.accept(webhook)
    const waiting = (await fixture.store.deliveries.delivery('account', id!))!
    const asClaim = {
      ...fixture.settlement(waiting, 'delivered'),
      expect: { state: 'in_flight', fence: 0 },
    } as const
    assert.deepEqual(await settleKinds(fixture, asClaim), ['fenced'])
    const { delivery } = await fixture.claimOne(webhook)
    const asWaiting = {
      ...fixture.settlement(delivery, 'expired'),
      expect: { state: 'waiting', fence: 1 },
    } as const
    assert.deepEqual(await settleKinds(fixture, asWaiting), ['fenced'])
    assert.equal(await fixture.state(webhook, id!), 'in_flight')
  })

  rule('a settlement of an unknown delivery, or with another webhook, is fenced', async (fixture) => {
    const [webhook, other] = [await fixture.webhook(), await fixture.webhook()]
    await fixture.accept(webhook)
    const { delivery } = await fixture.claimOne(webhook)
    const settlement = fixture.settlement(delivery, 'delivered')
    const wrong = [
      { ...settlement, deliveryId: 'unknown' },
      { ...settlement, webhookId: other.id },
    ]
    assert.deepEqual(await settleKinds(fixture, ...wrong), ['fenced', 'fenced'])
    assert.equal(await fixture.state(webhook, delivery.id), 'in_flight')
  })

  rule('a settlement by a node without the shard is fenced', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    const { delivery } = await fixture.claimOne(webhook)
    assert.deepEqual(
      await settleKinds(fixture, fixture.settlement(delivery, 'delivered', { owner: 'stranger' })),
      ['fenced'],
    )
    assert.equal(await fixture.state(webhook, delivery.id), 'in_flight')
  })

  rule('a terminal state never changes', async (fixture) => {
    for (const state of ['delivered', 'exhausted', 'cancelled', 'quarantined', 'expired'] as const) {
      const webhook = await fixture.webhook()
      await fixture.accept(webhook)
      const { delivery } = await fixture.claimOne(webhook)
      await fixture.settle(delivery, state)
      const ended = await fixture.store.deliveries.delivery('account', delivery.id)
      const again = fixture.settlement(delivery, 'waiting', { next: { dueMs: fixture.now() } })
      const asWaiting = { ...again, expect: { state: 'waiting', fence: 1 } } as const
      assert.deepEqual(await settleKinds(fixture, again, asWaiting), ['fenced', 'fenced'])
      assert.deepEqual(await fixture.store.deliveries.delivery('account', delivery.id), ended)
      assert.equal((await fixture.claim(webhook)).length, 0)
    }
  })

  rule('each settlement of a batch is fenced separately', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    await fixture.accept(webhook)
    const [one, two] = await fixture.claim(webhook)
    const settlements = [
      fixture.settlement(one!.delivery, 'delivered', { expect: { state: 'in_flight', fence: 7 } }),
      fixture.settlement(two!.delivery, 'delivered'),
      fixture.settlement(two!.delivery, 'exhausted'),
    ]
    assert.deepEqual(await settleKinds(fixture, ...settlements), ['fenced', 'settled', 'fenced'])
    assert.equal(await fixture.state(webhook, one!.delivery.id), 'in_flight')
    assert.equal(await fixture.state(webhook, two!.delivery.id), 'delivered')
    assert.deepEqual(await settleKinds(fixture), [])
  })

  rule('of two concurrent settlements of a claim, one succeeds', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    const { delivery } = await fixture.claimOne(webhook)
    const both = await Promise.all([
      settleKinds(fixture, fixture.settlement(delivery, 'delivered')),
      settleKinds(fixture, fixture.settlement(delivery, 'exhausted')),
    ])
    assert.deepEqual(both.flat().sort(), ['fenced', 'settled'])
    assert.equal((await fixture.store.deliveries.attempts({ accountId: 'account', limit: 5 })).length, 1)
  })

  rule('rows that were returned do not change afterwards', async (fixture) => {
    const webhook = await fixture.webhook()
    const [id] = await fixture.accept(webhook)
    const stored = await fixture.store.deliveries.delivery('account', id!)
    const copy = structuredClone(stored)
    const { delivery } = await fixture.claimOne(webhook)
    const claimed = structuredClone(delivery)
    await fixture.settle(delivery, 'delivered')
    assert.deepEqual(stored, copy)
    assert.deepEqual(delivery, claimed)
  })
}
