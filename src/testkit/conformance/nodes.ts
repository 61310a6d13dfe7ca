import assert from 'node:assert/strict'
import { SHARDS, shardOf } from '../../store/shards.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { type DefineRule, type Fixture, idsOf, LEASE_MS, valuesOf } from './fixture.js'
import { acceptanceAt, acceptanceOf, keyOf, keysOf, type StoreNode, startOf, startsOf } from './node.js'
import { DISABLING, newEvent, newWebhook } from './sample-data.js'

/** A second node, with half of the shards: the first one has handed them over. Both have loaded their shards. */
async function pairOf(fixture: Fixture): Promise<{ readonly first: StoreNode; readonly second: StoreNode }> {
  const first = fixture.node
  const second = await fixture.join('node-2')
  await first.renew()
  await first.store.deliveries.handOver(first.lease, first.lease.leaving)
  await first.renew()
  await second.renew()
  await first.load()
  await second.load()
  return { first, second }
}

/** A new webhook in one of the node's shards. */
async function webhookIn(fixture: Fixture, { lease }: StoreNode): Promise<Webhook> {
  assert.ok(lease.shards.length > 0, 'the node owns shards')
  for (;;) {
    const webhook = newWebhook()
    if (lease.shards.includes(shardOf(webhook.id))) return fixture.webhook(webhook)
  }
}

/** Renews the leases of all nodes in turn until nothing changes, and hands over what leaves. */
async function settleShares(nodes: readonly StoreNode[]): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    for (const node of nodes) {
      const lease = await node.renew()
      if (lease.leaving.length > 0) await node.store.deliveries.handOver(lease, lease.leaving)
    }
  }
  for (const node of nodes) await node.renew()
}

/** Rules of several nodes. */
export function nodeRules(rule: DefineRule): void {
  rule('a second node gets its fair share once the first hands over, and none before', async (fixture) => {
    const second = await fixture.join('node-2')
    assert.deepEqual(second.lease.shards, [])
    const renewed = await fixture.node.renew()
    assert.equal(renewed.shards.length, SHARDS)
    assert.equal(renewed.leaving.length, SHARDS / 2)
    assert.ok(renewed.leaving.every((shard) => renewed.shards.includes(shard)))
    assert.deepEqual((await second.renew()).shards, [], 'a leaving shard is not free')
    await fixture.store.deliveries.handOver(renewed, renewed.leaving)
    const kept = await fixture.node.renew()
    const taken = await second.renew()
    assert.deepEqual(kept.leaving, [])
    assert.deepEqual(
      [...taken.shards],
      renewed.leaving.toSorted((a, b) => a - b),
    )
    const all = [...kept.shards, ...taken.shards].sort((a, b) => a - b)
    assert.deepEqual(
      all,
      Array.from({ length: SHARDS }, (_, shard) => shard),
    )
    assert.equal(kept.fence, renewed.fence, 'handing over is no new lease')
  })

  rule('the nodes are listed by name, with their shards and those to give up', async (fixture) => {
    const second = await fixture.join('node-0')
    const { leaving } = await fixture.node.renew()
    const counts = async () =>
      (await second.store.deliveries.nodes()).map((node) => [node.owner, node.shards, node.leaving])
    assert.deepEqual(await counts(), [
      ['node-0', 0, 0],
      ['node-1', SHARDS, SHARDS / 2],
    ])
    await fixture.store.deliveries.handOver(fixture.node.lease, leaving)
    const kept = await fixture.node.renew()
    const { aliveUntilMs } = await second.renew()
    assert.deepEqual(await fixture.store.deliveries.nodes(), [
      { owner: 'node-0', aliveUntilMs, shards: SHARDS / 2, leaving: 0 },
      { owner: 'node-1', aliveUntilMs: kept.aliveUntilMs, shards: SHARDS / 2, leaving: 0 },
    ])
    await fixture.advance(LEASE_MS)
    await second.renew()
    assert.deepEqual(
      valuesOf(await second.store.deliveries.nodes(), 'owner'),
      ['node-0'],
      'the lease of the other node has ended',
    )
  })

  rule('three nodes converge to a fair share each, and have different numbers', async (fixture) => {
    const nodes = [fixture.node, await fixture.join('node-2'), await fixture.join('node-3')]
    await settleShares(nodes)
    const shards = nodes.map(({ lease }) => lease.shards)
    assert.equal(new Set(shards.flat()).size, SHARDS)
    assert.equal(shards.flat().length, SHARDS)
    for (const share of shards) {
      assert.ok(share.length <= Math.ceil(SHARDS / 3) && share.length > 0)
      assert.deepEqual(
        share,
        share.toSorted((a, b) => a - b),
      )
    }
    assert.equal(new Set(nodes.map(({ lease }) => lease.node)).size, 3)
  })

  rule('a leaving shard may be settled in, and its next owner finds nothing interrupted', async (fixture) => {
    const webhooks = await Promise.all(Array.from({ length: 60 }, () => fixture.webhook()))
    const accepted = await fixture.accept(webhooks)
    await fixture.node.start(...accepted)
    const second = await fixture.join('node-2')
    const { leaving } = await fixture.node.renew()
    const [moving, staying] = [true, false].map((moves) =>
      accepted.filter(({ webhookId }) => leaving.includes(shardOf(webhookId)) === moves),
    )
    assert.ok(moving!.length > 1 && staying!.length > 0)
    const [ended, retried, ...unsent] = moving!
    await fixture.settle(ended!, 'delivered')
    await fixture.retry(retried!)
    // The others were never sent: nothing is in flight there.
    await fixture.store.deliveries.handOver(fixture.node.lease, leaving)
    await second.renew()
    const { rows, interrupted } = await second.load()
    assert.deepEqual(keysOf(rows), keysOf([retried!, ...unsent]))
    assert.deepEqual(interrupted, [])
    await second.settle({ ...retried!, attempts: 1 }, 'delivered')
    await fixture.advance(LEASE_MS / 2)
    await second.renew()
    await fixture.advance(LEASE_MS / 2)
    await second.renew()
    const all = await second.load()
    assert.deepEqual(all.interrupted, startsOf(staying!), 'starts of shards that were kept')
  })

  rule('when a lease ends, not before, its owner is fenced and another takes over', async (fixture) => {
    const [webhook, deliveryA, deliveryB, deliveryC] = await fixture.webhookWith(3)
    await fixture.node.start(deliveryB!)
    const second = await fixture.join('node-2')
    await fixture.advance(LEASE_MS - 1)
    assert.deepEqual((await second.renew()).shards, [])
    await fixture.settle(deliveryA, 'delivered')
    await fixture.advance(1)
    const late = fixture.node.group({ ended: [fixture.settlement(deliveryB!, 'delivered')] })
    assert.deepEqual(await fixture.store.deliveries.commit(late), { kind: 'fenced' })
    const { lease, version } = fixture.node
    assert.equal(await fixture.store.deliveries.load(lease, lease.shards), undefined)
    assert.equal(await fixture.store.deliveries.poll(lease), undefined)
    assert.equal(await fixture.store.deliveries.changes(lease, version), undefined)
    assert.equal((await second.renew()).shards.length, SHARDS)
    const { rows, interrupted } = await second.load()
    assert.deepEqual(keysOf(rows), keysOf([deliveryB!, deliveryC!]))
    assert.deepEqual(interrupted, [startOf(deliveryB!)])
    assert.deepEqual(await fixture.store.deliveries.commit(late), { kind: 'fenced' })
    assert.equal(await fixture.state(webhook, deliveryB!.id), 'waiting')
  })

  rule('a renewal extends the lease', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.advance(LEASE_MS - 1)
    const { fence } = fixture.node.lease
    const renewed = await fixture.node.renew()
    assert.equal(renewed.aliveUntilMs, renewed.storeMs + LEASE_MS)
    assert.equal(renewed.fence, fence)
    await fixture.advance(LEASE_MS - 1)
    await fixture.accept(webhook)
    assert.deepEqual((await fixture.join('node-2')).lease.shards, [])
  })

  rule('a lease that has ended is granted again with a higher fence', async (fixture) => {
    const [, first, second] = await fixture.webhookWith(2)
    await fixture.node.start(first)
    const before = fixture.node.lease
    const late = fixture.node.group({ ended: [fixture.settlement(first, 'delivered')] })
    await fixture.advance(LEASE_MS)
    const lease = await fixture.node.renew()
    assert.ok(lease.fence > before.fence)
    assert.equal(lease.shards.length, SHARDS)
    assert.deepEqual(await fixture.store.deliveries.commit(late), { kind: 'fenced' })
    assert.equal(await fixture.store.deliveries.load(before, lease.shards), undefined)
    const { rows, interrupted } = await fixture.node.load()
    assert.deepEqual(keysOf(rows), keysOf([first, second!]))
    assert.deepEqual(interrupted, [startOf(first)], 'starts of the earlier lease')
    assert.equal((await fixture.node.tryCommit()).kind, 'committed')
  })

  rule('keys of starts belong to a lease: another lease may use them again', async (fixture) => {
    const [, first, second, third] = await fixture.webhookWith(3)
    await fixture.node.commit({ starting: { key: 1, deliveries: [startOf(first)] } })
    await fixture.node.commit({ starting: { key: 2, deliveries: [startOf(second!)] } })
    await fixture.advance(LEASE_MS)
    await fixture.node.renew()
    await fixture.node.load()
    await fixture.node.commit({ starting: { key: 1, deliveries: [startOf(third!)] } })
    await fixture.node.commit({ finished: [2] })
    const next = await fixture.takeOver()
    assert.deepEqual(next.loaded.interrupted, startsOf([first, second!, third!]))
  })

  rule('a dead node whose shards were taken over comes back with a higher fence', async (fixture) => {
    const before = fixture.node.lease
    const group = fixture.node.group()
    const second = await fixture.takeOver()
    assert.equal(second.lease.shards.length, SHARDS)
    assert.deepEqual(await fixture.store.deliveries.commit(group), { kind: 'fenced' })
    const again = await fixture.node.renew()
    assert.ok(again.fence > before.fence)
    assert.deepEqual(again.shards, [])
    assert.deepEqual(await fixture.store.deliveries.commit(group), { kind: 'fenced' })
    await fixture.node.load()
    assert.equal((await fixture.node.tryCommit()).kind, 'committed')
  })

  rule('no lease ends when the wall clock jumps forward', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    const webhook = await webhookIn(fixture, first)
    const [delivery] = await first.accept(webhook)
    const before = [first.lease, second.lease]
    await fixture.advance(1_000)
    fixture.jumpWall(2 * LEASE_MS)
    for (const [index, node] of [second, first].entries()) {
      const lease = await node.renew()
      const { fence, shards } = before[1 - index]!
      assert.deepEqual([lease.fence, lease.shards], [fence, shards])
    }
    await first.settle(delivery!, 'delivered')
  })

  rule('other nodes take the shards of a node that releases them', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    const webhook = await webhookIn(fixture, second)
    const [delivery] = await second.accept(webhook)
    await second.store.deliveries.release(second.owner)
    assert.equal((await first.renew()).shards.length, SHARDS)
    assert.deepEqual((await first.load()).rows.map(keyOf), [keyOf(delivery!)])
  })

  rule('a delivery for a shard of another node is polled by its owner, once', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    const [mine, theirs] = [await webhookIn(fixture, first), await webhookIn(fixture, second)]
    const { acceptance, deliveries } = first.prepare([mine, theirs], { callId: 'call' })
    await first.commit({ accepted: [acceptance] })
    const expected = deliveries[1]!
    assert.deepEqual((await first.poll()).rows, [])
    const polled = await second.poll()
    assert.deepEqual(polled.rows.map(keyOf), [keyOf(expected)])
    assert.deepEqual(polled.webhooks, [theirs])
    assert.deepEqual([polled.rows[0]?.sequence, polled.rows[0]?.attempts], [1, 0])
    assert.deepEqual((await second.poll()).rows, [])
    const [content] = await fixture.store.deliveries.bodies([keyOf(expected)])
    assert.equal(content?.delivery.id, expected.id)
    assert.deepEqual((await second.load()).rows.map(keyOf), [keyOf(expected)])
    assert.deepEqual((await first.load()).rows.map(keyOf), [keyOf(deliveries[0]!)])
    await second.settle(expected, 'delivered')
  })

  rule('a delivery for the shard of a node that died is found by the next owner', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    const theirs = await webhookIn(fixture, second)
    const [delivery] = await first.accept(theirs)
    await fixture.advance(LEASE_MS / 2)
    await first.renew()
    await fixture.advance(LEASE_MS / 2)
    assert.equal(await second.store.deliveries.poll(second.lease), undefined)
    assert.equal((await first.renew()).shards.length, SHARDS)
    assert.deepEqual((await first.load()).rows.map(keyOf), [keyOf(delivery!)])
    const found = [...(await first.poll()).rows, ...(await first.poll()).rows]
    assert.ok(found.length <= 1)
    assert.deepEqual([...(await first.poll()).rows], [])
  })

  rule('edits and erasures are changes of the node alone that owns the webhook', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    const [mine, theirs] = [await webhookIn(fixture, first), await webhookIn(fixture, second)]
    await first.accept(mine, { callId: 'mine' })
    const [delivery] = await second.accept(theirs, { callId: 'theirs' })
    const disabled = await fixture.disable(mine)
    assert.equal((await second.tryCommit()).kind, 'committed')
    assert.deepEqual(await first.tryCommit(), { kind: 'outdated' })
    assert.deepEqual((await first.applyChanges()).webhooks, [disabled])
    await fixture.erase({ accountId: 'account', callIds: ['theirs'] })
    assert.deepEqual(await second.tryCommit(), { kind: 'outdated' })
    assert.deepEqual((await second.applyChanges()).removed.map(keyOf), [keyOf(delivery!)])
    await first.applyChanges()
    await first.commit()
  })

  rule('a settlement that disables a webhook raises only the version of its owner', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    const mine = await webhookIn(fixture, first)
    const [delivery] = await first.accept(mine)
    const result = await first.tryCommit({
      ended: [first.settlement(delivery!, 'exhausted', { endpoint: DISABLING })],
    })
    assert.ok(result.kind === 'committed' && result.ended[0]?.kind === 'settled')
    assert.equal(result.ended[0].disabled?.epoch, 2)
    assert.equal((await first.tryCommit()).kind, 'committed')
    assert.equal((await second.tryCommit()).kind, 'committed')
  })

  rule('a webhook that is edited before its shard moves is current at the next owner', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    const disabled = await fixture.disable(webhook)
    const next = await fixture.takeOver()
    assert.deepEqual(next.loaded.webhooks.get(webhook.id), disabled)
    const { notStarted } = await next.commit({ starting: { key: 1, deliveries: [startOf(delivery)] } })
    assert.deepEqual(notStarted, [0])
  })

  rule('a call is numbered over all nodes, and a node learns that others were there', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    const accept = async (node: StoreNode, callId = 'call') => {
      const result = await node.acceptOne(acceptanceOf(newEvent({ callId })))
      assert.ok(result.kind === 'accepted')
      return [result.events[0]?.sequence, result.mayHaveGap]
    }
    assert.deepEqual(await accept(first), [1, false])
    assert.deepEqual(await accept(first), [2, false])
    assert.deepEqual(await accept(second), [3, true])
    assert.deepEqual(await accept(second), [4, false])
    assert.deepEqual(await accept(first), [5, true])
    assert.deepEqual(await accept(second, 'another'), [1, false])
  })

  rule('the repeat of a group names a gap that its first answer named', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    await first.acceptOne(acceptanceOf(newEvent({ callId: 'call' })))
    const accepted = [acceptanceOf(newEvent({ callId: 'call' }))]
    for (const isRepeat of [false, true]) {
      const [result] = (await second.commit({ accepted, isRepeat })).accepted
      assert.ok(result?.kind === 'accepted')
      assert.deepEqual([result.events[0]?.sequence, result.mayHaveGap], [2, true])
    }
  })

  rule('the order of a lane is that of the numbers, whatever the clocks of the nodes', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    const webhook = await webhookIn(fixture, first)
    const base = first.lease.position + 2 ** 30
    const ids: string[] = []
    for (const [index, node] of [first, second, first, second].entries()) {
      const event = newEvent({ callId: 'call' })
      const position = node === first ? base + 1_000_000 + index : base + index
      const acceptance = acceptanceAt(position, event, [webhook])
      ids.push(acceptance.deliveries[0]!.id)
      await node.acceptOne(acceptance)
    }
    const { rows } = await first.load()
    assert.deepEqual(valuesOf(rows, 'sequence'), [1, 2, 3, 4])
    const stored = await Promise.all(ids.map((id) => fixture.delivery(id)))
    assert.deepEqual(
      stored.map((row) => row?.ahead),
      [0, 1, 2, 3],
    )
  })

  rule('an idempotency key holds for all nodes', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    const until = fixture.now() + 9_000
    const keyed = () => newEvent({ idempotency: { key: 'key', bodyHash: 'hash', untilMs: until } })
    const results = await Promise.all(
      [first, second, first, second].map((node) => node.acceptEvents(keyed())),
    )
    const events = results.map(([event]) => event!)
    assert.equal(new Set(idsOf(events)).size, 1)
    assert.equal(events.filter(({ duplicate }) => !duplicate).length, 1)
    assert.deepEqual([...new Set(events.map(({ sequence }) => sequence))], [1])
  })

  rule('events that nodes accept for one call at once are numbered without gaps', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    const numbers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const node = index % 2 === 0 ? first : second
        return (await node.acceptEvents(newEvent({ callId: 'call' })))[0]!.sequence
      }),
    )
    assert.deepEqual(
      numbers.sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, index) => index + 1),
    )
  })

  rule('nodes learn how many deliveries wait elsewhere', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    const report = async () => {
      for (const [node, pending] of [
        [first, 5],
        [second, 7],
      ] as const) {
        await node.commit({ pending })
        await fixture.advance(2_000)
        await node.commit({ pending })
        await node.renew()
      }
    }
    await report()
    await report()
    assert.equal((await first.renew()).pendingElsewhere, 7)
    assert.equal((await first.poll()).pendingElsewhere, 7)
    assert.equal((await second.poll()).pendingElsewhere, 5)
    await second.store.deliveries.release(second.owner)
    assert.equal((await first.renew()).pendingElsewhere, 0)
  })

  rule('a node whose lease has ended hands nothing over', async (fixture) => {
    const old = fixture.node.lease
    await fixture.takeOver('node-2')
    await fixture.advance(LEASE_MS)
    const again = await fixture.node.renew()
    assert.equal(again.shards.length, SHARDS)
    await fixture.store.deliveries.handOver(old, old.shards)
    const late = await fixture.join('node-3')
    assert.deepEqual(late.lease.shards, [])
  })

  rule('no row of any node has a position above that of a later lease', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    const webhook = await webhookIn(fixture, second)
    const far = second.lease.position + 2 ** 30
    await second.acceptOne(acceptanceAt(far, newEvent(), [webhook]))
    assert.ok((await first.renew()).position >= far)
    assert.ok((await fixture.join('node-3')).lease.position >= far)
  })

  rule('nodes that start at once have different numbers, and shards one owner each', async (fixture) => {
    await fixture.store.deliveries.release(fixture.node.owner)
    const nodes = await Promise.all(['a', 'b', 'c', 'd'].map((name) => fixture.join(name)))
    const shards = nodes.flatMap(({ lease }) => lease.shards)
    assert.equal(shards.length, SHARDS)
    assert.equal(new Set(shards).size, SHARDS)
    assert.equal(new Set(nodes.map(({ lease }) => lease.node)).size, 4)
  })

  rule('groups of two nodes with the same calls in opposite orders are both committed', async (fixture) => {
    const { first, second } = await pairOf(fixture)
    const until = fixture.now() + 9_000
    for (let round = 0; round < 10; round += 1) {
      const names = Array.from({ length: 8 }, (_, index) => `${round}-${index}`)
      const accept = async (node: StoreNode, order: readonly string[]) => {
        const accepted = order.map((name) =>
          acceptanceOf([
            newEvent({ callId: name }),
            newEvent({ callId: name, idempotency: { key: name, bodyHash: 'hash', untilMs: until } }),
          ]),
        )
        return (await node.commit({ accepted })).accepted
      }
      const results = await Promise.all([accept(first, names), accept(second, names.toReversed())])
      const [resultA, resultB] = [results[0], results[1].toReversed()]
      for (const index of names.keys()) {
        const events = [resultA[index]!, resultB[index]!].flatMap((result) =>
          result.kind === 'accepted' ? result.events : [],
        )
        assert.equal(events.length, 4)
        assert.equal(events.filter(({ duplicate }) => duplicate).length, 1)
        const numbers = events.filter(({ duplicate }) => !duplicate).map(({ sequence }) => sequence)
        assert.deepEqual(numbers.sort(), [1, 2, 3])
      }
    }
  })
}
