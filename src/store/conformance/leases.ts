import assert from 'node:assert/strict'
import { SHARDS, shardOf } from '../shards.js'
import { ids, LEASE_MS, type Promised, type Workbench } from './workbench.js'

const SECOND = 'node-2'

const doors = (bench: Workbench) => bench.store.deliveries
const claimAs = async (bench: Workbench, owner: string, webhookIds: readonly string[]) => {
  const endpoints = webhookIds.map((webhookId) => ({ webhookId, room: 9 }))
  return (await doors(bench).claim({ owner, endpoints, limit: 99, now: bench.now() })).claims
}

/** A second node joins, and the first one gives back what is more than its share. */
async function join(bench: Workbench) {
  await doors(bench).own(SECOND, LEASE_MS)
  const first = await doors(bench).renew(bench.owner, LEASE_MS)
  const second = await doors(bench).own(SECOND, LEASE_MS)
  return [first.shards, second.shards] as const
}

/** What several nodes on one store can rely on. */
export function leasePromises(promised: Promised): void {
  promised(
    'a second node gets nothing while the first holds all, and its fair share when that renews',
    async (bench) => {
      const early = await doors(bench).own(SECOND, LEASE_MS)
      assert.deepEqual(early.shards, [])
      const [first, second] = await join(bench)
      assert.deepEqual([first.length, second.length], [SHARDS / 2, SHARDS / 2])
      assert.equal(new Set([...first, ...second]).size, SHARDS)
    },
  )

  promised('three nodes come to a fair share each, none idle', async (bench) => {
    await join(bench)
    const owners = [bench.owner, SECOND, 'node-3']
    for (let round = 0; round < 3; round += 1) {
      for (const owner of owners) await doors(bench).renew(owner, LEASE_MS)
      for (const owner of owners) await doors(bench).own(owner, LEASE_MS)
    }
    const shards = await Promise.all(
      owners.map(async (owner) => (await doors(bench).renew(owner, LEASE_MS)).shards),
    )
    assert.equal(new Set(shards.flat()).size, SHARDS)
    for (const share of shards) assert.ok(share.length <= Math.ceil(SHARDS / 3) && share.length > 0)
  })

  promised('each node claims, lists and settles in its own shards only', async (bench) => {
    const [first, second] = await join(bench)
    const webhooks = await Promise.all(Array.from({ length: 40 }, () => bench.webhook()))
    await bench.accept(webhooks)
    const all = ids(webhooks)
    const ofSecond = all.filter((id) => second.includes(shardOf(id))).sort()
    assert.ok(ofSecond.length > 0 && ofSecond.length < all.length)
    const ready = await doors(bench).ready(SECOND)
    assert.deepEqual(ready.map((endpoint) => endpoint.webhookId).sort(), ofSecond)
    const claims = await claimAs(bench, SECOND, all)
    assert.deepEqual(claims.map(({ delivery }) => delivery.webhookId).sort(), ofSecond)
    const foreign = bench.settlement(claims[0]!.delivery, 'delivered')
    assert.deepEqual(await doors(bench).settle([foreign], bench.now()), [{ kind: 'fenced' }])
    const rest = await claimAs(bench, bench.owner, all)
    assert.deepEqual(
      [...new Set(rest.map(({ delivery }) => first.includes(shardOf(delivery.webhookId))))],
      [true],
    )
    assert.equal(rest.length + claims.length, all.length)
  })

  promised('stale deliveries and orphans are those of the owner alone', async (bench) => {
    const [, second] = await join(bench)
    const webhooks = await Promise.all(Array.from({ length: 40 }, () => bench.webhook()))
    await bench.accept(webhooks)
    for (const webhook of webhooks) {
      const settings = { ...webhook.settings, enabled: false }
      await bench.store.webhooks.replace({ ...webhook, settings, revision: 2, epoch: 2 }, 1)
    }
    const stale = await doors(bench).stale(SECOND, 99)
    assert.deepEqual(
      stale.map((row) => row.webhookId).sort(),
      ids(webhooks)
        .filter((id) => second.includes(shardOf(id)))
        .sort(),
    )
  })

  promised('a lease ends: its owner is fenced, another takes over, not a moment before', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    await bench.accept(webhook)
    const [claim] = await bench.claim(webhook, 1)
    await bench.advance(LEASE_MS - 1)
    assert.deepEqual((await doors(bench).own(SECOND, LEASE_MS)).shards, [])
    assert.deepEqual(await doors(bench).orphans(SECOND, 9), [])
    await bench.advance(1)
    const late = await doors(bench).settle([bench.settlement(claim!.delivery, 'delivered')], bench.now())
    assert.deepEqual(late, [{ kind: 'fenced' }])
    assert.deepEqual(await bench.claim(webhook), [])
    assert.equal((await doors(bench).own(SECOND, LEASE_MS)).shards.length, SHARDS)
    assert.deepEqual(ids(await doors(bench).orphans(SECOND, 9)), [claim!.delivery.id])
    assert.equal((await claimAs(bench, SECOND, [webhook.id])).length, 1)
  })

  promised('a renewed lease lives on', async (bench) => {
    const webhook = await bench.webhook()
    await bench.advance(LEASE_MS - 1)
    const renewed = await doors(bench).renew(bench.owner, LEASE_MS)
    assert.equal(renewed.aliveUntilMs, renewed.storeMs + LEASE_MS)
    await bench.advance(LEASE_MS - 1)
    await bench.accept(webhook)
    assert.equal((await bench.claim(webhook)).length, 1)
    assert.deepEqual((await doors(bench).own(SECOND, LEASE_MS)).shards, [])
  })

  promised(
    'a node whose leases ended takes them again, and what it had in flight is an orphan',
    async (bench) => {
      const webhook = await bench.webhook()
      await bench.accept(webhook)
      await bench.accept(webhook)
      const [one, two] = await bench.claim(webhook)
      await bench.advance(LEASE_MS)
      const late = await doors(bench).settle([bench.settlement(one!.delivery, 'delivered')], bench.now())
      assert.deepEqual(late, [{ kind: 'fenced' }])
      assert.equal((await doors(bench).renew(bench.owner, LEASE_MS)).shards.length, SHARDS)
      const orphans = ids(await doors(bench).orphans(bench.owner, 9))
      assert.deepEqual(orphans.sort(), ids([one!.delivery, two!.delivery]).sort())
      await bench.settle(two!.delivery, 'delivered')
      assert.deepEqual(ids(await doors(bench).orphans(bench.owner, 9)), [one!.delivery.id])
    },
  )

  promised('renewing takes what has become free, up to a fair share', async (bench) => {
    await doors(bench).renew(SECOND, LEASE_MS)
    const [first, second] = await join(bench)
    assert.deepEqual([first.length, second.length], [SHARDS / 2, SHARDS / 2])
    await doors(bench).release(bench.owner)
    assert.equal((await doors(bench).renew(SECOND, LEASE_MS)).shards.length, SHARDS)
  })

  promised(
    'giving back interrupts nothing: what is in flight may be settled, then the shard is free',
    async (bench) => {
      const webhooks = await Promise.all(Array.from({ length: 200 }, () => bench.webhook()))
      await bench.accept(webhooks)
      await bench.accept(webhooks)
      const claims = await bench.claim(webhooks, 1)
      assert.equal(new Set(webhooks.map(({ id }) => shardOf(id))).size > SHARDS / 2, true)
      const [first, early] = await join(bench)
      assert.equal(first.length, SHARDS / 2)
      assert.deepEqual(await doors(bench).orphans(SECOND, 999), [])
      const leaving = claims.filter(({ delivery }) => !first.includes(shardOf(delivery.webhookId)))
      assert.ok(leaving.length > 0)
      for (const { delivery } of leaving) {
        assert.equal(early.includes(shardOf(delivery.webhookId)), false)
        assert.deepEqual(await claimAs(bench, bench.owner, [delivery.webhookId]), [])
        await bench.settle(delivery, 'delivered')
      }
      const second = (await doors(bench).own(SECOND, LEASE_MS)).shards
      assert.equal(new Set([...first, ...second]).size, SHARDS)
      assert.deepEqual(await doors(bench).orphans(SECOND, 999), [])
      assert.equal((await claimAs(bench, SECOND, [leaving[0]!.delivery.webhookId])).length, 1)
    },
  )

  promised('what a node gives back and never ends is taken over when the lease has ended', async (bench) => {
    const webhooks = await Promise.all(Array.from({ length: 200 }, () => bench.webhook()))
    await bench.accept(webhooks)
    await bench.claim(webhooks)
    const [first] = await join(bench)
    await bench.advance(LEASE_MS - 1)
    await doors(bench).renew(bench.owner, LEASE_MS)
    await doors(bench).renew(SECOND, LEASE_MS)
    await bench.advance(1)
    const second = (await doors(bench).own(SECOND, LEASE_MS)).shards
    assert.equal(first.length + second.length, SHARDS)
    const orphans = await doors(bench).orphans(SECOND, 999)
    assert.ok(orphans.length > 0)
    assert.equal(
      orphans.every((row) => second.includes(shardOf(row.webhookId))),
      true,
    )
  })

  promised('a node that releases leaves its share to the others', async (bench) => {
    await join(bench)
    await doors(bench).release(SECOND)
    assert.equal((await doors(bench).own(bench.owner, LEASE_MS)).shards.length, SHARDS)
  })

  promised('nothing is claimed twice by two nodes at once', async (bench) => {
    await join(bench)
    const webhooks = await Promise.all(Array.from({ length: 30 }, () => bench.webhook()))
    const accepted = await bench.accept(webhooks)
    const both = [bench.owner, SECOND, bench.owner, SECOND].map((owner) =>
      claimAs(bench, owner, ids(webhooks)),
    )
    const claimed = (await Promise.all(both)).flat().map(({ delivery }) => delivery.id)
    assert.deepEqual(claimed.sort(), [...accepted].sort())
  })
}
