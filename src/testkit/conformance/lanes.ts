import assert from 'node:assert/strict'
import type { StoredDelivery } from '../../delivery/delivery-queries.js'
import { type DefineRule, type Fixture, idsOf } from './fixture.js'
import { acceptanceAt, acceptanceOf, keyOf, type Queued } from './node.js'
import { newDelivery, newEvent, newReplay } from './sample-data.js'

/** Loads the deliveries of all lanes, in the order of the load. */
const loadedKeys = async (fixture: Fixture) => (await fixture.node.load()).rows.map(keyOf)

/** Accepts events of one call, each with a delivery for the webhook, one after the other. */
async function acceptCall(fixture: Fixture, webhookId: Parameters<Fixture['accept']>[0], count: number) {
  const accepted: Queued[] = []
  for (let index = 0; index < count; index += 1)
    accepted.push(...(await fixture.accept(webhookId, { callId: 'call' })))
  return accepted
}

const aheadOf = (rows: readonly (StoredDelivery | undefined)[]) => rows.map((row) => row?.ahead)

/** Rules of the order within a lane. */
export function laneRules(rule: DefineRule): void {
  rule('a lane is loaded in order of acceptance, within a group and over several', async (fixture) => {
    const webhook = await fixture.webhook()
    const prepared = [1, 2, 3].map(() => fixture.prepare(webhook, { callId: 'call' }))
    const [first, second, third] = prepared.map(({ deliveries }) => keyOf(deliveries[0]!))
    await fixture.node.commit({ accepted: prepared.slice(0, 2).map(({ acceptance }) => acceptance) })
    await fixture.node.commit({ accepted: [prepared[2]!.acceptance] })
    assert.deepEqual(await loadedKeys(fixture), [first, second, third])
  })

  rule('a lane is in order of sequence numbers, even where positions are not', async (fixture) => {
    const webhook = await fixture.webhook()
    const base = fixture.node.lease.position + 2 ** 30
    const keys = []
    for (const offset of [500, 100, 900, 200]) {
      await fixture.acceptOne(acceptanceAt(base + offset, newEvent({ callId: 'call' }), [webhook]))
      keys.push({ webhookId: webhook.id, position: base + offset })
    }
    assert.deepEqual(await loadedKeys(fixture), keys)
  })

  rule('events of a lane without numbers are in order of positions', async (fixture) => {
    const webhook = await fixture.webhook()
    const base = fixture.node.lease.position + 2 ** 30
    for (const offset of [500, 100, 900]) {
      const event = newEvent({ callId: 'call', numbered: false })
      await fixture.acceptOne(acceptanceAt(base + offset, event, [webhook]))
    }
    assert.deepEqual(
      (await loadedKeys(fixture)).map(({ position }) => position - base),
      [100, 500, 900],
    )
  })

  rule('replays of one request are in the order of the request, over all calls', async (fixture) => {
    const webhook = await fixture.webhook()
    const events = ['a', 'a', 'a', 'b'].map((callId) => newEvent({ callId }))
    const firsts = events.map((event) => newDelivery(webhook, event))
    await fixture.acceptOne(acceptanceOf(events, firsts))
    for (const waiting of await fixture.waiting(webhook)) await fixture.settle(waiting, 'exhausted')
    const replays = [2, 3, 0].map((index) =>
      newReplay(webhook, events[index]!, firsts[index]!, { lane: 'replay/request' }),
    )
    await fixture.acceptOne(acceptanceOf([], replays))
    const { rows } = await fixture.node.load()
    assert.deepEqual(
      rows.map(({ position, sequence }) => [position, sequence]),
      replays.map(({ position }) => [position, 0]),
    )
  })

  rule('deliveries of one lane have one lane key, other lanes have others', async (fixture) => {
    const [first, second] = [await fixture.webhook({ accountId: 'parent' }), await fixture.webhook()]
    await fixture.accept([first, second], { accountId: 'child-1', callId: 'call' })
    await fixture.accept([first, second], { accountId: 'child-1', callId: 'call' })
    await fixture.accept(first, { accountId: 'child-2', callId: 'call' })
    await fixture.accept(first, { accountId: 'child-1', callId: 'another' })
    const { rows } = await fixture.node.load()
    const lanes = new Map<string, number>()
    for (const { webhookId, lane } of rows)
      lanes.set(`${webhookId} ${lane}`, (lanes.get(`${webhookId} ${lane}`) ?? 0) + 1)
    assert.deepEqual([...lanes.values()].sort(), [1, 1, 2, 2])
  })

  rule('deliveries of a webhook with ordering none are single', async (fixture) => {
    const webhook = await fixture.webhook({ settings: { ordering: 'none' } })
    await acceptCall(fixture, webhook, 3)
    const rows = await fixture.deliveriesOf(webhook)
    assert.deepEqual(aheadOf(rows), [0, 0, 0])
    assert.ok(rows.every(({ dueMs }) => dueMs !== undefined && dueMs <= fixture.now()))
    assert.equal(new Set(idsOf(rows)).size, 3)
  })

  rule('the first delivery of a lane has a due time', async (fixture) => {
    const webhook = await fixture.webhook()
    const [first, second] = await acceptCall(fixture, webhook, 2)
    const dueMs = async ({ id }: Queued) => (await fixture.delivery(id))?.dueMs
    assert.ok((await dueMs(first!))! <= fixture.now())
    const retried = await fixture.retry(first!, { dueMs: fixture.now() + 77 })
    assert.equal(await dueMs(first!), fixture.now() + 77)
    await fixture.settle(retried, 'exhausted')
    assert.ok((await dueMs(second!))! <= fixture.now())
  })
}

/** What is ahead in a lane, for readers of a node that does not own the webhook. */
export function sharedLaneRules(rule: DefineRule): void {
  rule('a delivery has the number of deliveries ahead of it in its lane', async (fixture) => {
    const webhook = await fixture.webhook()
    const accepted = await acceptCall(fixture, webhook, 4)
    await fixture.accept(webhook, { callId: 'another' })
    const ahead = async () => {
      const rows = await fixture.deliveriesOf(webhook, { ascending: true })
      const { deliveries } = await fixture.store.deliveries.search({ webhookId: webhook.id, limit: 9 })
      const found = new Map(deliveries.map((row) => [row.id, row.ahead]))
      for (const row of rows) {
        assert.equal(found.get(row.id), row.ahead)
        const single = await fixture.delivery(row.id)
        assert.equal(single?.ahead, row.ahead)
      }
      return aheadOf(rows)
    }
    assert.deepEqual(await ahead(), [0, 1, 2, 3, 0])
    const retried = await fixture.retry(accepted[0]!)
    assert.deepEqual(await ahead(), [0, 1, 2, 3, 0])
    await fixture.settle(accepted[2]!, 'cancelled')
    assert.deepEqual(await ahead(), [0, 1, 0, 2, 0])
    await fixture.settle(retried, 'delivered')
    assert.deepEqual(await ahead(), [0, 0, 0, 1, 0])
  })

  rule('what is ahead is counted per webhook and lane, in one page as for single rows', async (fixture) => {
    const webhooks = [await fixture.webhook(), await fixture.webhook()]
    for (const callId of ['a', 'b', 'a', 'a', 'b']) await fixture.accept(webhooks, { callId })
    await fixture.accept([webhooks[1]!], { callId: 'a' })
    for (const [index, counts] of [
      [0, 0, 1, 2, 1],
      [0, 0, 1, 2, 1, 3],
    ].entries()) {
      const query = { accountId: 'account', webhookId: webhooks[index]!.id, ascending: true }
      const rows = await fixture.store.deliveries.deliveries({ ...query, limit: 9 })
      assert.deepEqual(aheadOf(rows), counts)
      const [second] = await fixture.store.deliveries.deliveries({
        ...query,
        cursor: rows[2]!.position,
        limit: 1,
      })
      assert.equal(second!.ahead, 2)
    }
  })

  rule('what is ahead of a replay are earlier replays of its request', async (fixture) => {
    const webhook = await fixture.webhook()
    const events = ['a', 'a', 'a', 'b'].map((callId) => newEvent({ callId }))
    const firsts = events.map((event) => newDelivery(webhook, event))
    await fixture.acceptOne(acceptanceOf(events, firsts))
    const replays = [2, 3, 0, 1].map((index) =>
      newReplay(webhook, events[index]!, firsts[index]!, {
        lane: index === 0 ? 'replay/other' : 'replay/request',
      }),
    )
    await fixture.acceptOne(acceptanceOf([], replays))
    const rows = await fixture.deliveriesOf(webhook)
    const ahead = new Map(rows.map((row) => [row.id, row.ahead]))
    assert.deepEqual(
      [...firsts, ...replays].map(({ id }) => ahead.get(id)),
      [0, 1, 2, 0, 0, 1, 0, 2],
    )
  })

  rule('a delivery of an older epoch is not ahead of a new one in its lane', async (fixture) => {
    const webhook = await fixture.webhook()
    await acceptCall(fixture, webhook, 2)
    const enabled = await fixture.enable(await fixture.disable(webhook))
    const [fresh, behind] = await acceptCall(fixture, enabled, 2)
    assert.equal((await fixture.delivery(fresh!.id))?.ahead, 0)
    assert.equal((await fixture.delivery(behind!.id))?.ahead, 1)
  })

  rule('only the first delivery of a lane has a due time', async (fixture) => {
    const webhook = await fixture.webhook()
    const [first, second] = await acceptCall(fixture, webhook, 2)
    const dueMs = async ({ id }: Queued) => (await fixture.delivery(id))?.dueMs
    assert.equal(await dueMs(second!), undefined)
    const retried = await fixture.retry(first!, { dueMs: fixture.now() + 77 })
    assert.equal(await dueMs(second!), undefined)
    await fixture.settle(retried, 'exhausted')
    assert.ok((await dueMs(second!))! <= fixture.now())
  })
}
