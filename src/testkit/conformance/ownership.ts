import assert from 'node:assert/strict'
import { MAX_NODES } from '../../delivery/positions.js'
import { SHARDS } from '../../store/shards.js'
import { type DefineRule, LATE_MS, LEASE_MS, RETRY_MS, waitingDelivery } from './fixture.js'
import { acceptanceAt, acceptanceOf, keyOf, keysOf } from './node.js'
import { newEvent, newReplay } from './sample-data.js'

const HOUR_MS = 3_600_000
const ALL_SHARDS = Array.from({ length: SHARDS }, (_, shard) => shard)

/** Rules of leases that hold for every store. */
export function ownershipRules(rule: DefineRule): void {
  rule('a single node owns every shard, and further calls change nothing', async (fixture) => {
    const [, delivery] = await fixture.webhookWith(1)
    const { fence, node } = fixture.node.lease
    assert.ok(Number.isInteger(node) && node >= 0 && node < MAX_NODES, 'it fits into positions')
    for (const lease of [await fixture.node.own(), await fixture.node.renew(), await fixture.node.own()]) {
      assert.equal(lease.owner, fixture.node.owner)
      assert.deepEqual([lease.fence, lease.node], [fence, node])
      assert.deepEqual(lease.shards, ALL_SHARDS)
      assert.deepEqual(lease.leaving, [])
      assert.ok(lease.aliveUntilMs > fixture.now())
      assert.equal(lease.pendingElsewhere, 0)
    }
    await fixture.settle(delivery, 'delivered')
  })

  rule('a node that owns shards is listed until it releases them', async (fixture) => {
    const { owner } = fixture.node
    const [node, ...others] = await fixture.store.deliveries.nodes()
    const { aliveUntilMs } = fixture.node.lease
    assert.deepEqual([node, others], [{ owner, aliveUntilMs, shards: ALL_SHARDS.length, leaving: 0 }, []])
    await fixture.store.deliveries.release(owner)
    assert.deepEqual(await fixture.store.deliveries.nodes(), [])
  })

  rule('no row has a position above that of a later lease', async (fixture) => {
    const [webhook, last] = await fixture.webhookWith(3)
    assert.ok((await fixture.node.own()).position >= last.position)
    // The clock of the node that accepted it was ahead.
    const far = last.position + 2 ** 30
    const event = newEvent()
    const ahead = acceptanceAt(far, event, [webhook])
    await fixture.acceptOne(ahead)
    assert.ok((await fixture.node.renew()).position >= far)
    await fixture.acceptOne(acceptanceAt(far + 2 ** 30, newEvent(), []))
    assert.ok(
      (await fixture.node.renew()).position >= far + 2 ** 30,
      'events without deliveries have positions',
    )
    const replay = newReplay(webhook, event, ahead.deliveries[0]!)
    await fixture.acceptOne(acceptanceOf([], [replay]))
    assert.ok(replay.position! > far, 'positions of the node are higher')
    for (const waiting of await fixture.waiting(webhook)) await fixture.settle(waiting, 'delivered')
    const next = await fixture.takeOver()
    assert.ok(next.lease.position >= replay.position!)
    const [later] = await next.accept(webhook)
    assert.ok(later!.position > replay.position!)
  })

  rule('store time goes on while the wall clock is set back', async (fixture) => {
    const { delivery } = await waitingDelivery(fixture)
    await fixture.advance(RETRY_MS / 2)
    const before = await fixture.node.renew()
    fixture.jumpWall(-HOUR_MS)
    const after = await fixture.node.renew()
    assert.ok(after.storeMs >= before.storeMs)
    await fixture.advance(RETRY_MS / 2)
    const { storeMs } = await fixture.node.own()
    assert.ok(storeMs >= delivery.dueMs!)
    assert.ok(storeMs <= delivery.dueMs! + LATE_MS)
  })

  rule('store time goes on with the clock, and so does a stated time of day', async (fixture) => {
    const before = await fixture.node.own()
    await fixture.advance(5_000)
    const later = await fixture.node.renew()
    assert.ok(Math.abs(later.storeMs - before.storeMs - 5_000) <= LATE_MS)
    if (before.clockMs === undefined) assert.equal(later.clockMs, undefined)
    else assert.ok(Math.abs(later.clockMs! - before.clockMs - 5_000) <= LATE_MS)
  })

  rule('a node that released owns nothing, and its groups write nothing', async (fixture) => {
    const [webhook, first, second] = await fixture.webhookWith(2)
    const group = fixture.node.group({ ended: [fixture.settlement(first, 'delivered')] })
    await fixture.store.deliveries.release(fixture.node.owner)
    assert.deepEqual(await fixture.store.deliveries.commit(group), { kind: 'fenced' })
    const next = await fixture.join('node-2')
    assert.deepEqual(next.lease.shards, ALL_SHARDS)
    assert.deepEqual(keysOf(next.loaded.rows), keysOf([first, second!]))
    assert.deepEqual(next.loaded.interrupted, [])
    assert.equal(await fixture.state(webhook, first.id), 'waiting')
  })

  rule('a node that released may own again, with a higher fence', async (fixture) => {
    const [, delivery] = await fixture.webhookWith(1)
    const group = fixture.node.group()
    const { fence } = fixture.node.lease
    await fixture.store.deliveries.release(fixture.node.owner)
    const lease = await fixture.node.own()
    assert.ok(lease.fence > fence)
    assert.deepEqual(lease.shards, ALL_SHARDS)
    const { version } = await fixture.node.load().then(() => fixture.node)
    assert.deepEqual(await fixture.store.deliveries.commit({ ...group, version }), { kind: 'fenced' })
    await fixture.settle(delivery, 'delivered')
  })

  rule('the next owner loads what was edited, erased or accepted before it came', async (fixture) => {
    const [webhook, kept] = await fixture.webhookWith(1, { callId: 'kept' })
    await fixture.accept(webhook, { callId: 'gone' })
    await fixture.store.deliveries.release(fixture.node.owner)
    const disabled = await fixture.disable(webhook)
    await fixture.erase({ accountId: 'account', callIds: ['gone'] })
    const { acceptance, deliveries } = fixture.prepare(disabled)
    const result = await fixture.node.tryCommit({ lease: undefined, accepted: [acceptance] })
    assert.ok(result.kind === 'committed' && result.accepted[0]?.kind === 'accepted')
    const next = await fixture.join('node-2')
    assert.deepEqual(keysOf(next.loaded.rows), keysOf([kept, ...deliveries]))
    assert.deepEqual(next.loaded.webhooks.get(webhook.id), disabled)
    const { notStarted } = await next.start(kept, ...deliveries)
    assert.deepEqual(notStarted, [0])
  })

  rule('the next owner settles what it loaded, and late groups of the former do not', async (fixture) => {
    const [webhook, first] = await fixture.webhookWith(1, { callId: 'call' })
    await fixture.accept(webhook, { callId: 'call' })
    await fixture.node.start(first)
    const late = fixture.node.group({ ended: [fixture.settlement(first, 'delivered')] })
    const next = await fixture.takeOver()
    const [interrupted] = next.loaded.interrupted
    assert.deepEqual(keyOf(interrupted!), keyOf(first))
    await next.retry(first, { dueMs: fixture.now(), interruptions: 1, reason: 'interrupted' })
    assert.deepEqual(await fixture.store.deliveries.commit(late), { kind: 'fenced' })
    const stored = await fixture.delivery(first.id)
    assert.deepEqual([stored?.state, stored?.attempts, stored?.interruptions], ['waiting', 1, 1])
    assert.equal((await fixture.attempts({ deliveryId: first.id })).length, 1)
  })
}

/** Rules of stores that are not shared between nodes. */
export function singleNodeRules(rule: DefineRule): void {
  rule('the lease of the only node never expires', async (fixture) => {
    const { aliveUntilMs } = await fixture.store.deliveries.own(fixture.node.owner, 1)
    assert.equal(aliveUntilMs, Number.POSITIVE_INFINITY)
    const webhook = await fixture.webhook()
    await fixture.advance(86_400_000)
    await fixture.accept(webhook)
    assert.equal((await fixture.waiting(webhook)).length, 1)
  })

  rule('a new owner takes all shards at once, and the former owner is fenced', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    const { deliveries } = fixture.store
    const { lease, version } = fixture.node
    const group = fixture.node.group({ ended: [fixture.settlement(delivery, 'delivered')] })
    const taken = await deliveries.own('node-2', LEASE_MS)
    assert.deepEqual(taken.shards, ALL_SHARDS)
    assert.notEqual(taken.fence, lease.fence)
    assert.deepEqual(await deliveries.commit(group), { kind: 'fenced' })
    assert.equal(await deliveries.load(lease, lease.shards), undefined)
    assert.equal(await deliveries.poll(lease), undefined)
    assert.equal(await deliveries.changes(lease, version), undefined)
    assert.equal(await fixture.state(webhook, delivery.id), 'waiting')
    assert.deepEqual((await deliveries.renew(lease.owner, LEASE_MS)).shards, [])
    const { shards, fence } = await deliveries.renew('node-2', LEASE_MS)
    assert.deepEqual([shards, fence], [ALL_SHARDS, taken.fence])
  })
}
