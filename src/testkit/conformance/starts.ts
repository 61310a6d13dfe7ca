import assert from 'node:assert/strict'
import { shardOf } from '../../store/shards.js'
import { type DefineRule, errorCodeOf } from './fixture.js'
import { acceptanceOf, keyOf, keysOf, startOf, startsOf } from './node.js'
import { DISABLING, newDelivery, newEvent, WALL_MS } from './sample-data.js'

/** Rules of starts: what the next owner learns of attempts in flight. */
export function startRules(rule: DefineRule): void {
  rule('a start changes no delivery', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    const before = await fixture.delivery(delivery.id)
    const { rows } = await fixture.node.load()
    assert.deepEqual((await fixture.node.start(delivery)).notStarted, [])
    assert.deepEqual(await fixture.delivery(delivery.id), before)
    const again = await fixture.node.load()
    assert.deepEqual(again.rows, rows)
    assert.deepEqual(again.interrupted, [], 'the own starts of a node are not interrupted')
    assert.equal((await fixture.waitingOne(webhook)).state, 'waiting')
  })

  rule('the next owner finds the starts whose outcome was not stored, and no others', async (fixture) => {
    const [, unknown, waits, ended, released, unsent, retried] = await fixture.webhookWith(6)
    const second = await fixture.retry(retried!)
    await fixture.node.start(unknown, waits!, ended!, second)
    const { key } = await fixture.node.start(released!)
    await fixture.retry(waits!)
    await fixture.settle(ended!, 'delivered')
    await fixture.node.commit({ finished: [key] })
    const next = await fixture.takeOver()
    assert.deepEqual(next.loaded.interrupted, startsOf([unknown, second]))
    assert.deepEqual(keysOf(next.loaded.rows), keysOf([unknown, waits!, released!, unsent!, second]))
  })

  rule('an attempt that was put back and started again is interrupted once', async (fixture) => {
    const [, deliveryA, deliveryB] = await fixture.webhookWith(2)
    await fixture.node.start(deliveryA, deliveryB!)
    await fixture.node.start(deliveryA)
    const second = await fixture.takeOver('node-2')
    assert.deepEqual(second.loaded.interrupted, startsOf([deliveryA, deliveryB!]))
    await second.start(deliveryA)
    assert.deepEqual((await fixture.takeOver('node-3')).loaded.interrupted, startsOf([deliveryA, deliveryB!]))
  })

  rule('interrupted starts are found until they are settled or the takeover is complete', async (fixture) => {
    const [, first, second] = await fixture.webhookWith(2)
    await fixture.node.start(first, second!)
    const next = await fixture.takeOver()
    assert.equal((await next.load()).interrupted.length, 2)
    await next.retry(first, { interruptions: 1, reason: 'interrupted' })
    assert.deepEqual((await next.load()).interrupted, [startOf(second!)])
    await next.store.deliveries.completeTakeover(next.lease, next.lease.shards)
    const { interrupted, rows } = await next.load()
    assert.deepEqual(interrupted, [])
    assert.deepEqual(rows.map(({ interruptions }) => interruptions).sort(), [0, 1])
  })

  rule('an owner that dies before its takeover is complete leaves it to the next one', async (fixture) => {
    const [, deliveryA, deliveryB] = await fixture.webhookWith(2)
    await fixture.node.start(deliveryA)
    const second = await fixture.takeOver('node-2')
    await second.start(deliveryB!)
    const third = await fixture.takeOver('node-3')
    assert.deepEqual(third.loaded.interrupted, startsOf([deliveryA, deliveryB!]))
    await third.store.deliveries.completeTakeover(third.lease, third.lease.shards)
    assert.deepEqual((await fixture.takeOver('node-4')).loaded.interrupted, [])
  })

  rule('completing a takeover keeps the own starts of the node', async (fixture) => {
    const [, deliveryA, deliveryB] = await fixture.webhookWith(2)
    await fixture.node.start(deliveryA)
    const second = await fixture.takeOver('node-2')
    await second.start(deliveryB!)
    await second.store.deliveries.completeTakeover(second.lease, second.lease.shards)
    assert.deepEqual((await fixture.takeOver('node-3')).loaded.interrupted, [startOf(deliveryB!)])
  })

  rule('a takeover is complete per shard', async (fixture) => {
    const webhooks = await Promise.all(Array.from({ length: 9 }, () => fixture.webhook()))
    const accepted = await fixture.accept(webhooks)
    const shards = [...new Set(webhooks.map(({ id }) => shardOf(id)))]
    assert.ok(shards.length > 1)
    await fixture.node.start(...accepted)
    const next = await fixture.takeOver()
    const [first, ...others] = shards
    const startsIn = (some: readonly number[]) =>
      startsOf(accepted.filter(({ webhookId }) => some.includes(shardOf(webhookId))))
    assert.deepEqual((await next.load([first!])).interrupted, startsIn([first!]))
    await next.store.deliveries.completeTakeover(next.lease, [first!])
    assert.deepEqual((await next.load()).interrupted, startsIn(others))
  })

  rule('finished keys are forgotten, other keys are not', async (fixture) => {
    const [, deliveryA, deliveryB, deliveryC] = await fixture.webhookWith(3)
    const first = await fixture.node.start(deliveryA)
    await fixture.node.start(deliveryB!)
    await fixture.node.commit({
      starting: { key: 77, deliveries: [startOf(deliveryC!)] },
      finished: [first.key, 5_555],
    })
    const { interrupted } = (await fixture.takeOver()).loaded
    assert.deepEqual(interrupted, startsOf([deliveryB!, deliveryC!]))
  })

  rule('a group may start what it accepts, and what its settlements leave waiting', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    const { acceptance, deliveries } = fixture.prepare(webhook)
    const settlement = fixture.settlement(delivery, 'waiting', { next: { dueMs: fixture.now() } })
    const retried = { ...delivery, attempts: 1 }
    const { notStarted } = await fixture.node.commit({
      accepted: [acceptance],
      ended: [settlement],
      starting: { key: 1, deliveries: [startOf(deliveries[0]!), startOf(retried)] },
    })
    assert.deepEqual(notStarted, [])
    const { interrupted } = (await fixture.takeOver()).loaded
    assert.deepEqual(interrupted, startsOf([retried, deliveries[0]!]))
  })

  rule('a delivery that was refused, is a duplicate or is gone is not started', async (fixture) => {
    const [webhook, ended, gone, waiting] = await fixture.webhookWith(3)
    await fixture.settle(gone!, 'delivered')
    const until = fixture.now() + 9_000
    const keyed = () =>
      fixture.prepare(webhook, { idempotency: { key: 'key', bodyHash: 'hash', untilMs: until } })
    const [first, duplicate] = [keyed(), keyed()]
    const event = newEvent()
    const valid = newDelivery(webhook, event)
    const refused = acceptanceOf(event, [valid, newDelivery({ ...webhook, id: 'unknown' }, event)])
    const { accepted, notStarted } = await fixture.node.commit(
      fixture.node.group({
        accepted: [first.acceptance, duplicate.acceptance, refused],
        ended: [fixture.settlement(ended, 'delivered')],
      }),
    )
    assert.deepEqual(
      [accepted.map(({ kind }) => kind), notStarted],
      [['accepted', 'accepted', 'refused'], []],
    )
    const more = [keyed(), fixture.prepare(webhook)]
    const result = await fixture.node.commit({
      accepted: [more[0]!.acceptance, more[1]!.acceptance, refused],
      starting: {
        key: 1,
        deliveries: [
          startOf(waiting!),
          startOf(ended),
          startOf(gone!),
          startOf(more[0]!.deliveries[0]!),
          startOf(more[1]!.deliveries[0]!),
          { webhookId: webhook.id, position: valid.position!, attempt: 1, epoch: 1 },
        ],
      },
    })
    assert.deepEqual(result.notStarted, [1, 2, 3, 5])
    const { interrupted } = (await fixture.takeOver()).loaded
    assert.deepEqual(interrupted, startsOf([waiting!, more[1]!.deliveries[0]!]))
  })

  rule('an attempt that is not the next one of its delivery is not started', async (fixture) => {
    const [, delivery] = await fixture.webhookWith(1)
    const late = { ...startOf(delivery), attempt: 2 }
    const { notStarted } = await fixture.node.commit({ starting: { key: 1, deliveries: [late] } })
    assert.deepEqual(notStarted, [0])
    const retried = await fixture.retry(delivery)
    const repeated = await fixture.node.commit({ starting: { key: 2, deliveries: [startOf(delivery)] } })
    assert.deepEqual(repeated.notStarted, [0])
    assert.deepEqual((await fixture.node.start(retried)).notStarted, [])
  })

  rule('a settlement of an older epoch disables nothing and refuses no start', async (fixture) => {
    const [webhook, old] = await fixture.webhookWith(1)
    const enabled = await fixture.enable(await fixture.disable(webhook))
    await fixture.node.applyChanges()
    const [current] = await fixture.accept(enabled)
    const endpoint = { epoch: webhook.epoch, disable: { reason: 'gone', atMs: WALL_MS } }
    const { ended, notStarted } = await fixture.node.commit({
      ended: [fixture.settlement(old, 'exhausted', { endpoint })],
      starting: { key: 1, deliveries: [startOf(current!)] },
    })
    assert.deepEqual(ended, [{ kind: 'settled' }])
    assert.deepEqual(notStarted, [])
  })

  rule('a delivery of an older epoch than its webhook is not started', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    const healthy = await fixture.webhook()
    const [other] = await fixture.accept(healthy)
    const disabled = await fixture.disable(webhook)
    await fixture.node.applyChanges()
    const { acceptance, deliveries } = fixture.prepare(disabled)
    const late = fixture.prepare(webhook)
    const { notStarted } = await fixture.node.commit({
      accepted: [acceptance, late.acceptance],
      starting: {
        key: 1,
        deliveries: [delivery, other!, ...deliveries, ...late.deliveries].map(startOf),
      },
    })
    assert.deepEqual(notStarted, [0, 3])
    const { interrupted } = (await fixture.takeOver()).loaded
    assert.deepEqual(interrupted, startsOf([other!, ...deliveries]))
  })

  rule('a group that disables a webhook starts none of its older deliveries', async (fixture) => {
    const [, failing, waiting] = await fixture.webhookWith(2)
    const { notStarted, ended } = await fixture.node.commit({
      ended: [fixture.settlement(failing, 'exhausted', { endpoint: DISABLING })],
      starting: { key: 1, deliveries: [startOf(waiting!)] },
    })
    assert.ok(ended[0]?.kind === 'settled' && ended[0].disabled)
    assert.deepEqual(notStarted, [0])
    assert.deepEqual((await fixture.takeOver()).loaded.interrupted, [])
  })

  rule('release forgets the starts of a node', async (fixture) => {
    const [, delivery] = await fixture.webhookWith(1)
    await fixture.node.start(delivery)
    await fixture.store.deliveries.release(fixture.node.owner)
    assert.equal(await errorCodeOf(fixture.store.deliveries.release('stranger')), undefined)
    const next = await fixture.join('node-2')
    assert.deepEqual([next.loaded.interrupted, next.loaded.rows.map(keyOf)], [[], [keyOf(delivery)]])
  })

  rule('release leaves the starts of an earlier lease to the next owner', async (fixture) => {
    const [, delivery] = await fixture.webhookWith(1)
    await fixture.node.start(delivery)
    await fixture.takeOver('node-2')
    await fixture.node.own()
    await fixture.store.deliveries.release(fixture.node.owner)
    assert.deepEqual((await fixture.takeOver('node-3')).loaded.interrupted, [startOf(delivery)])
  })

  rule('the interrupted starts of erased deliveries are not found', async (fixture) => {
    const [webhook, erased] = await fixture.webhookWith(1, { callId: 'gone' })
    const [kept] = await fixture.accept(webhook, { callId: 'kept' })
    await fixture.node.start(erased, kept!)
    await fixture.erase({ accountId: 'account', callIds: ['gone'] })
    assert.deepEqual((await fixture.takeOver()).loaded.interrupted, [startOf(kept!)])
  })
}
