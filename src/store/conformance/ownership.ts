import assert from 'node:assert/strict'
import { SHARDS } from '../shards.js'
import { ids, LEASE_MS, type Promised } from './workbench.js'

/** What one node can rely on, on every store. */
export function ownershipPromises(promised: Promised): void {
  promised('a node alone owns every shard, and asking again changes nothing', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    const { delivery } = await bench.claimOne(webhook)
    for (const ask of [bench.store.deliveries.own, bench.store.deliveries.renew]) {
      const { shards, aliveUntilMs } = await ask.call(bench.store.deliveries, bench.owner, LEASE_MS)
      assert.deepEqual(
        [...shards].sort((a, b) => a - b),
        Array.from({ length: SHARDS }, (_, shard) => shard),
      )
      assert.ok(aliveUntilMs > bench.now())
    }
    assert.deepEqual(await bench.store.deliveries.orphans(bench.owner, 9), [])
    await bench.settle(delivery, 'delivered')
  })

  promised('a stranger who owns nothing claims nothing', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    const request = {
      owner: 'stranger',
      endpoints: [{ webhookId: webhook.id, room: 9 }],
      limit: 9,
      now: bench.now(),
    }
    assert.deepEqual((await bench.store.deliveries.claim(request)).claims, [])
  })

  promised('after a release nothing is owned, and what was in flight is left to the next', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    await bench.accept(webhook)
    const [claim] = await bench.claim(webhook, 1)
    await bench.store.deliveries.release(bench.owner)
    assert.deepEqual(await bench.claim(webhook), [])
    assert.deepEqual(await bench.store.deliveries.ready(bench.owner), [])
    const late = await bench.store.deliveries.settle(
      [bench.settlement(claim!.delivery, 'delivered')],
      bench.now(),
    )
    assert.deepEqual(late, [{ kind: 'fenced' }])
    const next = await bench.store.deliveries.own('node-2', LEASE_MS)
    assert.equal(next.shards.length, SHARDS)
    const orphans = await bench.store.deliveries.orphans('node-2', 9)
    assert.deepEqual(orphans, [claim!.delivery])
  })

  promised(
    'an orphan is settled by the new owner under the fence it was left with, and its lane goes on',
    async (bench) => {
      const webhook = await bench.webhook()
      for (let index = 0; index < 2; index += 1) await bench.accept(webhook, { callId: 'call' })
      const { delivery } = await bench.claimOne(webhook)
      await bench.store.deliveries.release(bench.owner)
      await bench.store.deliveries.own('node-2', LEASE_MS)
      const [orphan] = await bench.store.deliveries.orphans('node-2', 9)
      await bench.settle(orphan!, 'waiting', {
        owner: 'node-2',
        next: { dueMs: bench.now(), interruptions: 1, reason: 'interrupted' },
      })
      assert.deepEqual(await bench.store.deliveries.orphans('node-2', 9), [])
      const late = await bench.store.deliveries.settle([bench.settlement(delivery, 'delivered')], bench.now())
      assert.deepEqual(late, [{ kind: 'fenced' }])
      const endpoints = [{ webhookId: webhook.id, room: 9 }]
      const again = await bench.store.deliveries.claim({
        owner: 'node-2',
        endpoints,
        limit: 9,
        now: bench.now(),
      })
      assert.deepEqual(ids(again.claims.map((claim) => claim.delivery)), [delivery.id])
      assert.deepEqual([again.claims[0]?.delivery.fence, again.claims[0]?.delivery.interruptions], [2, 1])
    },
  )

  promised('what a node has in flight is no orphan of its own', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    await bench.claimOne(webhook)
    assert.deepEqual(await bench.store.deliveries.orphans(bench.owner, 9), [])
    assert.deepEqual(await bench.store.deliveries.orphans('stranger', 9), [])
  })

  promised('no more orphans are listed than asked for', async (bench) => {
    const webhook = await bench.webhook()
    for (let index = 0; index < 3; index += 1) await bench.accept(webhook)
    await bench.claim(webhook)
    await bench.store.deliveries.release(bench.owner)
    await bench.store.deliveries.own('node-2', LEASE_MS)
    assert.equal((await bench.store.deliveries.orphans('node-2', 2)).length, 2)
  })

  promised('every endpoint that is not idle is ready, with the time it is due', async (bench) => {
    const [now, later, idle] = [await bench.webhook(), await bench.webhook(), await bench.webhook()]
    await bench.accept([now, later])
    const [claim] = await bench.claim(later)
    await bench.settle(claim!.delivery, 'waiting', { next: { dueMs: bench.now() + 900 } })
    const ready = await bench.store.deliveries.ready(bench.owner)
    const due = new Map(ready.map((endpoint) => [endpoint.webhookId, endpoint.dueMs]))
    assert.deepEqual([due.get(now.id), due.get(later.id)], [bench.now(), bench.now() + 900])
    assert.equal(due.get(idle.id), undefined)
    assert.deepEqual([...new Set(ready.map((endpoint) => endpoint.accountId))], ['account'])
  })
}

/** Where there is one node at a time. */
export function singleNodePromises(promised: Promised): void {
  promised('the lease of the only node never ends', async (bench) => {
    const { aliveUntilMs } = await bench.store.deliveries.own(bench.owner, 1)
    assert.equal(aliveUntilMs, Number.POSITIVE_INFINITY)
    const webhook = await bench.webhook()
    await bench.advance(86_400_000)
    await bench.accept(webhook)
    assert.equal((await bench.claim(webhook)).length, 1)
  })

  promised(
    'a new owner takes over everything at once, as after a crash, and the former one is fenced',
    async (bench) => {
      const webhook = await bench.webhook()
      await bench.accept(webhook)
      await bench.accept(webhook)
      const [claim] = await bench.claim(webhook, 1)
      const taken = await bench.store.deliveries.own('node-2', LEASE_MS)
      assert.equal(taken.shards.length, SHARDS)
      assert.deepEqual((await bench.store.deliveries.renew(bench.owner, LEASE_MS)).shards, [])
      assert.deepEqual(await bench.claim(webhook), [])
      const late = await bench.store.deliveries.settle(
        [bench.settlement(claim!.delivery, 'delivered')],
        bench.now(),
      )
      assert.deepEqual(late, [{ kind: 'fenced' }])
      assert.deepEqual(ids(await bench.store.deliveries.orphans('node-2', 9)), [claim!.delivery.id])
    },
  )
}
