import assert from 'node:assert/strict'
import type { Settlement } from '../../delivery/delivery-store.js'
import { newRecord, ORIGIN } from './fixtures.js'
import type { Promised, Workbench } from './workbench.js'

async function kinds(bench: Workbench, ...settlements: Settlement[]): Promise<string[]> {
  return (await bench.store.deliveries.settle(settlements, bench.now())).map(({ kind }) => kind)
}

export function settlePromises(promised: Promised): void {
  promised('a settlement writes state, counts, reason, end and record together', async (bench) => {
    const webhook = await bench.webhook()
    const [id] = await bench.accept(webhook)
    const { delivery } = await bench.claimOne(webhook)
    await bench.advance(250)
    const record = newRecord(delivery, { atMs: bench.now(), attempt: 1 })
    const settled = await bench.settle(delivery, 'exhausted', {
      next: { reason: 'timeout', tries: 1 },
      record,
    })
    assert.equal(settled.endpoint.dueMs, undefined)
    const stored = await bench.store.deliveries.delivery('account', id!)
    assert.deepEqual(
      [stored?.state, stored?.attempts, stored?.tries, stored?.reason, stored?.endedMs, stored?.dueMs],
      ['exhausted', 1, 1, 'timeout', bench.now(), undefined],
    )
    const [attempt] = await bench.store.deliveries.attempts({
      accountId: 'account',
      deliveryId: id!,
      limit: 5,
    })
    assert.equal(attempt?.id, record.id)
  })

  promised('a retry waits until it is due, and its endpoint says so', async (bench) => {
    const webhook = await bench.webhook()
    const [id] = await bench.accept(webhook)
    const { delivery } = await bench.claimOne(webhook)
    const dueMs = bench.now() + 2_000
    const next = { dueMs, attempts: 1, tries: 0, interruptions: 2, reason: 'interrupted' }
    const settled = await bench.settle(delivery, 'waiting', { next })
    assert.deepEqual(settled.endpoint, {
      webhookId: webhook.id,
      accountId: 'account',
      origin: ORIGIN,
      failing: false,
      dueMs,
    })
    const stored = await bench.store.deliveries.delivery('account', id!)
    assert.deepEqual(
      [stored?.state, stored?.dueMs, stored?.attempts, stored?.tries, stored?.interruptions, stored?.reason],
      ['waiting', dueMs, 1, 0, 2, 'interrupted'],
    )
    assert.equal(stored?.endedMs, undefined)
  })

  promised('a reason goes when the next settlement has none', async (bench) => {
    const webhook = await bench.webhook()
    const [id] = await bench.accept(webhook)
    const first = await bench.claimOne(webhook)
    await bench.settle(first.delivery, 'waiting', { next: { reason: 'timeout', dueMs: bench.now() } })
    await bench.settle((await bench.claimOne(webhook)).delivery, 'delivered')
    assert.equal((await bench.store.deliveries.delivery('account', id!))?.reason, undefined)
  })

  promised('a claim can be released without a record', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    const { delivery } = await bench.claimOne(webhook)
    const { record: _unsent, ...released } = bench.settlement(delivery, 'waiting', {
      next: { attempts: 0, tries: 0, dueMs: bench.now() },
    })
    assert.deepEqual(await kinds(bench, released), ['settled'])
    assert.deepEqual(await bench.store.deliveries.attempts({ accountId: 'account', limit: 5 }), [])
    assert.equal((await bench.claimOne(webhook)).delivery.attempts, 0)
  })

  promised('a waiting delivery can end without having been claimed', async (bench) => {
    const webhook = await bench.webhook()
    const [id] = await bench.accept(webhook)
    const stored = await bench.store.deliveries.delivery('account', id!)
    await bench.settle(stored!, 'expired', { next: { reason: 'expired' } })
    assert.equal(await bench.state(webhook, id!), 'expired')
    assert.equal((await bench.claim(webhook)).length, 0)
    assert.equal(await bench.store.deliveries.pending(), 0)
  })

  promised('a settlement under an older fence is fenced and writes nothing', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    const stale = await bench.claimOne(webhook)
    await bench.settle(stale.delivery, 'waiting', { next: { dueMs: bench.now() } })
    const current = await bench.claimOne(webhook)
    const late = bench.settlement(stale.delivery, 'delivered', {
      endpoint: { epoch: 1, health: { failuresInRow: 9 } },
    })
    assert.deepEqual(await kinds(bench, late), ['fenced'])
    assert.equal(await bench.state(webhook, stale.delivery.id), 'in_flight')
    const attempts = await bench.store.deliveries.attempts({ accountId: 'account', limit: 5 })
    assert.equal(attempts.length, 1)
    assert.equal((await bench.store.deliveries.webhookOf(webhook.id))?.health, undefined)
    await bench.settle(current.delivery, 'delivered')
  })

  promised('a settlement that expects another state is fenced', async (bench) => {
    const webhook = await bench.webhook()
    const [id] = await bench.accept(webhook)
    const waiting = (await bench.store.deliveries.delivery('account', id!))!
    const asClaim = {
      ...bench.settlement(waiting, 'delivered'),
      expect: { state: 'in_flight', fence: 0 },
    } as const
    assert.deepEqual(await kinds(bench, asClaim), ['fenced'])
    const { delivery } = await bench.claimOne(webhook)
    const asWaiting = {
      ...bench.settlement(delivery, 'expired'),
      expect: { state: 'waiting', fence: 1 },
    } as const
    assert.deepEqual(await kinds(bench, asWaiting), ['fenced'])
    assert.equal(await bench.state(webhook, id!), 'in_flight')
  })

  promised('a settlement of an unknown delivery, or under another webhook, is fenced', async (bench) => {
    const [webhook, other] = [await bench.webhook(), await bench.webhook()]
    await bench.accept(webhook)
    const { delivery } = await bench.claimOne(webhook)
    const settlement = bench.settlement(delivery, 'delivered')
    const wrong = [
      { ...settlement, deliveryId: 'unknown' },
      { ...settlement, webhookId: other.id },
    ]
    assert.deepEqual(await kinds(bench, ...wrong), ['fenced', 'fenced'])
    assert.equal(await bench.state(webhook, delivery.id), 'in_flight')
  })

  promised('a settlement by a stranger is fenced', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    const { delivery } = await bench.claimOne(webhook)
    assert.deepEqual(await kinds(bench, bench.settlement(delivery, 'delivered', { owner: 'stranger' })), [
      'fenced',
    ])
    assert.equal(await bench.state(webhook, delivery.id), 'in_flight')
  })

  promised('a terminal state never changes', async (bench) => {
    for (const state of ['delivered', 'exhausted', 'cancelled', 'quarantined', 'expired'] as const) {
      const webhook = await bench.webhook()
      await bench.accept(webhook)
      const { delivery } = await bench.claimOne(webhook)
      await bench.settle(delivery, state)
      const ended = await bench.store.deliveries.delivery('account', delivery.id)
      const again = bench.settlement(delivery, 'waiting', { next: { dueMs: bench.now() } })
      const asWaiting = { ...again, expect: { state: 'waiting', fence: 1 } } as const
      assert.deepEqual(await kinds(bench, again, asWaiting), ['fenced', 'fenced'])
      assert.deepEqual(await bench.store.deliveries.delivery('account', delivery.id), ended)
      assert.equal((await bench.claim(webhook)).length, 0)
    }
  })

  promised('settlements of one call are fenced each by itself', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    await bench.accept(webhook)
    const [one, two] = await bench.claim(webhook)
    const settlements = [
      bench.settlement(one!.delivery, 'delivered', { expect: { state: 'in_flight', fence: 7 } }),
      bench.settlement(two!.delivery, 'delivered'),
      bench.settlement(two!.delivery, 'exhausted'),
    ]
    assert.deepEqual(await kinds(bench, ...settlements), ['fenced', 'settled', 'fenced'])
    assert.equal(await bench.state(webhook, one!.delivery.id), 'in_flight')
    assert.equal(await bench.state(webhook, two!.delivery.id), 'delivered')
    assert.deepEqual(await kinds(bench), [])
  })

  promised('of two settlements of one claim at once, one wins', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    const { delivery } = await bench.claimOne(webhook)
    const both = await Promise.all([
      kinds(bench, bench.settlement(delivery, 'delivered')),
      kinds(bench, bench.settlement(delivery, 'exhausted')),
    ])
    assert.deepEqual(both.flat().sort(), ['fenced', 'settled'])
    assert.equal((await bench.store.deliveries.attempts({ accountId: 'account', limit: 5 })).length, 1)
  })

  promised('rows handed out earlier do not change', async (bench) => {
    const webhook = await bench.webhook()
    const [id] = await bench.accept(webhook)
    const stored = await bench.store.deliveries.delivery('account', id!)
    const copy = structuredClone(stored)
    const { delivery } = await bench.claimOne(webhook)
    const claimed = structuredClone(delivery)
    await bench.settle(delivery, 'delivered')
    assert.deepEqual(stored, copy)
    assert.deepEqual(delivery, claimed)
  })
}
