import assert from 'node:assert/strict'
import { SHARDS } from '../../store/shards.js'
import { type DefineRule, idsOf, LATE_MS, LEASE_MS, RETRY_MS, waitingDelivery } from './fixture.js'

const HOUR_MS = 3_600_000

/** Rules of shard ownership that hold for every store. */
export function ownershipRules(rule: DefineRule): void {
  rule('a single node owns every shard, and further calls change nothing', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    const { delivery } = await fixture.claimOne(webhook)
    for (const method of [fixture.store.deliveries.own, fixture.store.deliveries.renew]) {
      const { shards, aliveUntilMs } = await method.call(fixture.store.deliveries, fixture.owner, LEASE_MS)
      assert.deepEqual(
        [...shards].sort((a, b) => a - b),
        Array.from({ length: SHARDS }, (_, shard) => shard),
      )
      assert.ok(aliveUntilMs > fixture.now())
    }
    assert.deepEqual(await fixture.store.deliveries.orphans(fixture.owner, 9), [])
    await fixture.settle(delivery, 'delivered')
  })

  rule('store time goes on while the wall clock is set back', async (fixture) => {
    const { deliveries } = fixture.store
    const { delivery } = await waitingDelivery(fixture)
    await fixture.advance(RETRY_MS / 2)
    const before = await deliveries.renew(fixture.owner, LEASE_MS)
    fixture.jumpWall(-HOUR_MS)
    const after = await deliveries.renew(fixture.owner, LEASE_MS)
    assert.ok(after.storeMs >= before.storeMs)
    await fixture.advance(RETRY_MS / 2)
    const { storeMs } = await deliveries.own(fixture.owner, LEASE_MS)
    assert.ok(storeMs >= delivery.dueMs!)
    assert.ok(storeMs <= delivery.dueMs! + LATE_MS)
  })

  rule('a node without shards claims nothing', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    const request = {
      owner: 'stranger',
      endpoints: [{ webhookId: webhook.id, slots: 9 }],
      limit: 9,
      now: fixture.now(),
    }
    assert.deepEqual((await fixture.store.deliveries.claim(request)).claims, [])
  })

  rule(
    'a node that released owns nothing, and its deliveries in flight are orphans of the next owner',
    async (fixture) => {
      const webhook = await fixture.webhook()
      await fixture.accept(webhook)
      await fixture.accept(webhook)
      const [claim] = await fixture.claim(webhook, 1)
      await fixture.store.deliveries.release(fixture.owner)
      assert.deepEqual(await fixture.claim(webhook), [])
      assert.deepEqual(await fixture.store.deliveries.ready(fixture.owner), [])
      const late = await fixture.store.deliveries.settle(
        [fixture.settlement(claim!.delivery, 'delivered')],
        fixture.now(),
      )
      assert.deepEqual(late, [{ kind: 'fenced' }])
      const next = await fixture.store.deliveries.own('node-2', LEASE_MS)
      assert.equal(next.shards.length, SHARDS)
      const orphans = await fixture.store.deliveries.orphans('node-2', 9)
      assert.deepEqual(orphans, [claim!.delivery])
    },
  )

  rule('the new owner settles an orphan with its last fence, and the lane continues', async (fixture) => {
    const webhook = await fixture.webhook()
    for (let index = 0; index < 2; index += 1) await fixture.accept(webhook, { callId: 'call' })
    const { delivery } = await fixture.claimOne(webhook)
    await fixture.store.deliveries.release(fixture.owner)
    await fixture.store.deliveries.own('node-2', LEASE_MS)
    const [orphan] = await fixture.store.deliveries.orphans('node-2', 9)
    await fixture.settle(orphan!, 'waiting', {
      owner: 'node-2',
      next: { dueMs: fixture.now(), interruptions: 1, reason: 'interrupted' },
    })
    assert.deepEqual(await fixture.store.deliveries.orphans('node-2', 9), [])
    const late = await fixture.store.deliveries.settle(
      [fixture.settlement(delivery, 'delivered')],
      fixture.now(),
    )
    assert.deepEqual(late, [{ kind: 'fenced' }])
    const endpoints = [{ webhookId: webhook.id, slots: 9 }]
    const again = await fixture.store.deliveries.claim({
      owner: 'node-2',
      endpoints,
      limit: 9,
      now: fixture.now(),
    })
    assert.deepEqual(idsOf(again.claims.map((claim) => claim.delivery)), [delivery.id])
    assert.deepEqual([again.claims[0]?.delivery.fence, again.claims[0]?.delivery.interruptions], [2, 1])
  })

  rule('deliveries in flight on a live node are not orphans', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    await fixture.claimOne(webhook)
    assert.deepEqual(await fixture.store.deliveries.orphans(fixture.owner, 9), [])
    assert.deepEqual(await fixture.store.deliveries.orphans('stranger', 9), [])
  })

  rule('orphans are listed up to the limit', async (fixture) => {
    const webhook = await fixture.webhook()
    for (let index = 0; index < 3; index += 1) await fixture.accept(webhook)
    await fixture.claim(webhook)
    await fixture.store.deliveries.release(fixture.owner)
    await fixture.store.deliveries.own('node-2', LEASE_MS)
    assert.equal((await fixture.store.deliveries.orphans('node-2', 2)).length, 2)
  })

  rule('every endpoint that is not idle is listed as ready with its due time', async (fixture) => {
    const [now, later, idle] = [await fixture.webhook(), await fixture.webhook(), await fixture.webhook()]
    await fixture.accept([now, later])
    const [claim] = await fixture.claim(later)
    await fixture.settle(claim!.delivery, 'waiting', { next: { dueMs: fixture.now() + 900 } })
    const ready = await fixture.store.deliveries.ready(fixture.owner)
    const due = new Map(ready.map((endpoint) => [endpoint.webhookId, endpoint.dueMs]))
    assert.deepEqual([due.get(now.id), due.get(later.id)], [fixture.now(), fixture.now() + 900])
    assert.equal(due.get(idle.id), undefined)
    assert.deepEqual([...new Set(ready.map((endpoint) => endpoint.accountId))], ['account'])
  })
}

/** Rules of stores that are not shared between nodes. */
export function singleNodeRules(rule: DefineRule): void {
  rule('the lease of the only node never expires', async (fixture) => {
    const { aliveUntilMs } = await fixture.store.deliveries.own(fixture.owner, 1)
    assert.equal(aliveUntilMs, Number.POSITIVE_INFINITY)
    const webhook = await fixture.webhook()
    await fixture.advance(86_400_000)
    await fixture.accept(webhook)
    assert.equal((await fixture.claim(webhook)).length, 1)
  })

  rule(
    'a new owner takes all shards at once, as after a crash, and the former owner is fenced',
    async (fixture) => {
      const webhook = await fixture.webhook()
      await fixture.accept(webhook)
      await fixture.accept(webhook)
      const [claim] = await fixture.claim(webhook, 1)
      const taken = await fixture.store.deliveries.own('node-2', LEASE_MS)
      assert.equal(taken.shards.length, SHARDS)
      assert.deepEqual((await fixture.store.deliveries.renew(fixture.owner, LEASE_MS)).shards, [])
      assert.deepEqual(await fixture.claim(webhook), [])
      const late = await fixture.store.deliveries.settle(
        [fixture.settlement(claim!.delivery, 'delivered')],
        fixture.now(),
      )
      assert.deepEqual(late, [{ kind: 'fenced' }])
      assert.deepEqual(idsOf(await fixture.store.deliveries.orphans('node-2', 9)), [claim!.delivery.id])
    },
  )
}
