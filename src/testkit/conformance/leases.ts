import assert from 'node:assert/strict'
import { SHARDS, shardOf } from '../../store/shards.js'
import { type DefineRule, type Fixture, idsOf, LEASE_MS } from './fixture.js'

const SECOND = 'node-2'

const deps = (fixture: Fixture) => fixture.store.deliveries
const claimAs = async (fixture: Fixture, owner: string, webhookIds: readonly string[]) => {
  const endpoints = webhookIds.map((webhookId) => ({ webhookId, slots: 9 }))
  return (await deps(fixture).claim({ owner, endpoints, limit: 99, now: fixture.now() })).claims
}

/** A second node joins, and the first one gives back the shards above its fair share. */
async function join(fixture: Fixture) {
  await deps(fixture).own(SECOND, LEASE_MS)
  const first = await deps(fixture).renew(fixture.owner, LEASE_MS)
  const second = await deps(fixture).own(SECOND, LEASE_MS)
  return [first.shards, second.shards] as const
}

/** Rules of shard leases with several nodes. */
export function leaseRules(rule: DefineRule): void {
  rule(
    'a second node gets no shard while the first holds all, and its fair share after the first renews',
    async (fixture) => {
      const early = await deps(fixture).own(SECOND, LEASE_MS)
      assert.deepEqual(early.shards, [])
      const [first, second] = await join(fixture)
      assert.deepEqual([first.length, second.length], [SHARDS / 2, SHARDS / 2])
      assert.equal(new Set([...first, ...second]).size, SHARDS)
    },
  )

  rule('three nodes converge to a fair share each', async (fixture) => {
    await join(fixture)
    const owners = [fixture.owner, SECOND, 'node-3']
    for (let round = 0; round < 3; round += 1) {
      for (const owner of owners) await deps(fixture).renew(owner, LEASE_MS)
      for (const owner of owners) await deps(fixture).own(owner, LEASE_MS)
    }
    const shards = await Promise.all(
      owners.map(async (owner) => (await deps(fixture).renew(owner, LEASE_MS)).shards),
    )
    assert.equal(new Set(shards.flat()).size, SHARDS)
    for (const share of shards) assert.ok(share.length <= Math.ceil(SHARDS / 3) && share.length > 0)
  })

  rule('each node claims, lists and settles only in its own shards', async (fixture) => {
    const [first, second] = await join(fixture)
    const webhooks = await Promise.all(Array.from({ length: 40 }, () => fixture.webhook()))
    await fixture.accept(webhooks)
    const all = idsOf(webhooks)
    const ofSecond = all.filter((id) => second.includes(shardOf(id))).sort()
    assert.ok(ofSecond.length > 0 && ofSecond.length < all.length)
    const ready = await deps(fixture).ready(SECOND)
    assert.deepEqual(ready.map((endpoint) => endpoint.webhookId).sort(), ofSecond)
    const claims = await claimAs(fixture, SECOND, all)
    assert.deepEqual(claims.map(({ delivery }) => delivery.webhookId).sort(), ofSecond)
    const foreign = fixture.settlement(claims[0]!.delivery, 'delivered')
    assert.deepEqual(await deps(fixture).settle([foreign], fixture.now()), [{ kind: 'fenced' }])
    const rest = await claimAs(fixture, fixture.owner, all)
    assert.deepEqual(
      [...new Set(rest.map(({ delivery }) => first.includes(shardOf(delivery.webhookId))))],
      [true],
    )
    assert.equal(rest.length + claims.length, all.length)
  })

  rule('stale deliveries are listed only by the owner of their shard', async (fixture) => {
    const [, second] = await join(fixture)
    const webhooks = await Promise.all(Array.from({ length: 40 }, () => fixture.webhook()))
    await fixture.accept(webhooks)
    for (const webhook of webhooks) {
      const settings = { ...webhook.settings, enabled: false }
      await fixture.store.webhooks.replace({ ...webhook, settings, revision: 2, epoch: 2 }, 1)
    }
    const stale = await deps(fixture).stale(SECOND, 99)
    assert.deepEqual(
      stale.map((row) => row.webhookId).sort(),
      idsOf(webhooks)
        .filter((id) => second.includes(shardOf(id)))
        .sort(),
    )
  })

  rule(
    'when a lease expires, and not before, its owner is fenced and another node takes over',
    async (fixture) => {
      const webhook = await fixture.webhook()
      await fixture.accept(webhook)
      await fixture.accept(webhook)
      const [claim] = await fixture.claim(webhook, 1)
      await fixture.advance(LEASE_MS - 1)
      assert.deepEqual((await deps(fixture).own(SECOND, LEASE_MS)).shards, [])
      assert.deepEqual(await deps(fixture).orphans(SECOND, 9), [])
      await fixture.advance(1)
      const late = await deps(fixture).settle(
        [fixture.settlement(claim!.delivery, 'delivered')],
        fixture.now(),
      )
      assert.deepEqual(late, [{ kind: 'fenced' }])
      assert.deepEqual(await fixture.claim(webhook), [])
      assert.equal((await deps(fixture).own(SECOND, LEASE_MS)).shards.length, SHARDS)
      assert.deepEqual(idsOf(await deps(fixture).orphans(SECOND, 9)), [claim!.delivery.id])
      assert.equal((await claimAs(fixture, SECOND, [webhook.id])).length, 1)
    },
  )

  rule(
    'no lease ends, and nothing in flight is an orphan, when the wall clock jumps forward',
    async (fixture) => {
      const [first, second] = await join(fixture)
      const webhooks = await Promise.all(Array.from({ length: 40 }, () => fixture.webhook()))
      await fixture.accept(webhooks)
      const claims = await fixture.claim(webhooks)
      assert.ok(claims.length > 0)
      await fixture.advance(1_000)
      fixture.jumpWall(2 * LEASE_MS)
      assert.deepEqual((await deps(fixture).renew(SECOND, LEASE_MS)).shards, second)
      const { shards, storeMs } = await deps(fixture).renew(fixture.owner, LEASE_MS)
      assert.deepEqual(shards, first)
      assert.deepEqual(await deps(fixture).orphans(fixture.owner, 99), [])
      const settlements = claims.map(({ delivery }) => fixture.settlement(delivery, 'delivered'))
      const results = await deps(fixture).settle(settlements, storeMs)
      assert.deepEqual([...new Set(results.map(({ kind }) => kind))], ['settled'])
    },
  )

  rule('a renewal extends the lease', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.advance(LEASE_MS - 1)
    const renewed = await deps(fixture).renew(fixture.owner, LEASE_MS)
    assert.equal(renewed.aliveUntilMs, renewed.storeMs + LEASE_MS)
    await fixture.advance(LEASE_MS - 1)
    await fixture.accept(webhook)
    assert.equal((await fixture.claim(webhook)).length, 1)
    assert.deepEqual((await deps(fixture).own(SECOND, LEASE_MS)).shards, [])
  })

  rule(
    'a node with expired leases takes them again, and its deliveries in flight are orphans',
    async (fixture) => {
      const webhook = await fixture.webhook()
      await fixture.accept(webhook)
      await fixture.accept(webhook)
      const [one, two] = await fixture.claim(webhook)
      await fixture.advance(LEASE_MS)
      const late = await deps(fixture).settle([fixture.settlement(one!.delivery, 'delivered')], fixture.now())
      assert.deepEqual(late, [{ kind: 'fenced' }])
      assert.equal((await deps(fixture).renew(fixture.owner, LEASE_MS)).shards.length, SHARDS)
      const orphans = idsOf(await deps(fixture).orphans(fixture.owner, 9))
      assert.deepEqual(orphans.sort(), idsOf([one!.delivery, two!.delivery]).sort())
      await fixture.settle(two!.delivery, 'delivered')
      assert.deepEqual(idsOf(await deps(fixture).orphans(fixture.owner, 9)), [one!.delivery.id])
    },
  )

  rule('renew takes free shards up to a fair share', async (fixture) => {
    await deps(fixture).renew(SECOND, LEASE_MS)
    const [first, second] = await join(fixture)
    assert.deepEqual([first.length, second.length], [SHARDS / 2, SHARDS / 2])
    await deps(fixture).release(fixture.owner)
    assert.equal((await deps(fixture).renew(SECOND, LEASE_MS)).shards.length, SHARDS)
  })

  rule(
    'giving a shard back interrupts nothing: the shard is free once its deliveries in flight are settled',
    async (fixture) => {
      const webhooks = await Promise.all(Array.from({ length: 200 }, () => fixture.webhook()))
      await fixture.accept(webhooks)
      await fixture.accept(webhooks)
      const claims = await fixture.claim(webhooks, 1)
      assert.equal(new Set(webhooks.map(({ id }) => shardOf(id))).size > SHARDS / 2, true)
      const [first, early] = await join(fixture)
      assert.equal(first.length, SHARDS / 2)
      assert.deepEqual(await deps(fixture).orphans(SECOND, 999), [])
      const leaving = claims.filter(({ delivery }) => !first.includes(shardOf(delivery.webhookId)))
      assert.ok(leaving.length > 0)
      for (const { delivery } of leaving) {
        assert.equal(early.includes(shardOf(delivery.webhookId)), false)
        assert.deepEqual(await claimAs(fixture, fixture.owner, [delivery.webhookId]), [])
        await fixture.settle(delivery, 'delivered')
      }
      const second = (await deps(fixture).own(SECOND, LEASE_MS)).shards
      assert.equal(new Set([...first, ...second]).size, SHARDS)
      assert.deepEqual(await deps(fixture).orphans(SECOND, 999), [])
      assert.equal((await claimAs(fixture, SECOND, [leaving[0]!.delivery.webhookId])).length, 1)
    },
  )

  rule(
    'a shard given back with deliveries still in flight is taken over when its lease expires',
    async (fixture) => {
      const webhooks = await Promise.all(Array.from({ length: 200 }, () => fixture.webhook()))
      await fixture.accept(webhooks)
      await fixture.claim(webhooks)
      const [first] = await join(fixture)
      await fixture.advance(LEASE_MS - 1)
      await deps(fixture).renew(fixture.owner, LEASE_MS)
      await deps(fixture).renew(SECOND, LEASE_MS)
      await fixture.advance(1)
      const second = (await deps(fixture).own(SECOND, LEASE_MS)).shards
      assert.equal(first.length + second.length, SHARDS)
      const orphans = await deps(fixture).orphans(SECOND, 999)
      assert.ok(orphans.length > 0)
      assert.equal(
        orphans.every((row) => second.includes(shardOf(row.webhookId))),
        true,
      )
    },
  )

  rule('other nodes take the shards of a node that releases them', async (fixture) => {
    await join(fixture)
    await deps(fixture).release(SECOND)
    assert.equal((await deps(fixture).own(fixture.owner, LEASE_MS)).shards.length, SHARDS)
  })

  rule('concurrent claims of two nodes never return a delivery twice', async (fixture) => {
    await join(fixture)
    const webhooks = await Promise.all(Array.from({ length: 30 }, () => fixture.webhook()))
    const accepted = await fixture.accept(webhooks)
    const both = [fixture.owner, SECOND, fixture.owner, SECOND].map((owner) =>
      claimAs(fixture, owner, idsOf(webhooks)),
    )
    const claimed = (await Promise.all(both)).flat().map(({ delivery }) => delivery.id)
    assert.deepEqual(claimed.sort(), [...accepted].sort())
  })
}
