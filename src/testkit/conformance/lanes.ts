import assert from 'node:assert/strict'
import { type DefineRule, type Fixture, idsOf } from './fixture.js'
import { acceptanceAt, acceptanceOf, keyOf, type Queued } from './node.js'
import { newDelivery, newEvent } from './sample-data.js'

/** Loads the deliveries of all lanes, in the order of the load. */
const loadedKeys = async (fixture: Fixture) => (await fixture.node.load()).rows.map(keyOf)

/** Accepts events of one call, each with a delivery for the webhook, one after the other. */
async function acceptCall(fixture: Fixture, webhookId: Parameters<Fixture['accept']>[0], count: number) {
  const accepted: Queued[] = []
  for (let index = 0; index < count; index += 1)
    accepted.push(...(await fixture.accept(webhookId, { callId: 'call' })))
  return accepted
}

/** Rules of the order within a lane, as loads and readers see it. */
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
    const ids = []
    for (const offset of [500, 100, 900, 200]) {
      const acceptance = acceptanceAt(base + offset, newEvent({ callId: 'call' }), [webhook])
      await fixture.acceptOne(acceptance)
      keys.push({ webhookId: webhook.id, position: base + offset })
      ids.push(acceptance.deliveries[0]!.id)
    }
    assert.deepEqual(await loadedKeys(fixture), keys)
    const rows = await Promise.all(ids.map((id) => fixture.store.deliveries.delivery('account', id)))
    assert.deepEqual(
      rows.map((row) => row?.ahead),
      [0, 1, 2, 3],
    )
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
      newDelivery(webhook, events[index]!, { replayOf: firsts[index]!.id, lane: 'replay/request' }),
    )
    await fixture.acceptOne(acceptanceOf([], replays))
    const { rows } = await fixture.node.load()
    assert.deepEqual(
      rows.map(({ position, sequence }) => [position, sequence]),
      replays.map(({ position }) => [position, 0]),
    )
    const ahead = await Promise.all(
      replays.map(async ({ id }) => (await fixture.store.deliveries.delivery('account', id))?.ahead),
    )
    assert.deepEqual(ahead, [0, 1, 2])
  })

  rule('deliveries of one lane have one lane key, other lanes have others', async (fixture) => {
    const [one, two] = [await fixture.webhook({ accountId: 'parent' }), await fixture.webhook()]
    await fixture.accept([one, two], { accountId: 'child-1', callId: 'call' })
    await fixture.accept([one, two], { accountId: 'child-1', callId: 'call' })
    await fixture.accept(one, { accountId: 'child-2', callId: 'call' })
    await fixture.accept(one, { accountId: 'child-1', callId: 'another' })
    const { rows } = await fixture.node.load()
    const lanes = new Map<string, number>()
    for (const { webhookId, lane } of rows)
      lanes.set(`${webhookId} ${lane}`, (lanes.get(`${webhookId} ${lane}`) ?? 0) + 1)
    assert.deepEqual([...lanes.values()].sort(), [1, 1, 2, 2])
  })

  rule('a delivery has the number of deliveries ahead of it in its lane', async (fixture) => {
    const webhook = await fixture.webhook()
    const accepted = await acceptCall(fixture, webhook, 4)
    await fixture.accept(webhook, { callId: 'another' })
    const ahead = async () => {
      const rows = await fixture.store.deliveries.deliveries({
        accountId: 'account',
        webhookId: webhook.id,
        ascending: true,
        limit: 9,
      })
      const { deliveries } = await fixture.store.deliveries.search({ webhookId: webhook.id, limit: 9 })
      const found = new Map(deliveries.map((row) => [row.id, row.ahead]))
      for (const row of rows) {
        assert.equal(found.get(row.id), row.ahead)
        const single = await fixture.store.deliveries.delivery('account', row.id)
        assert.equal(single?.ahead, row.ahead)
      }
      return rows.map((row) => row.ahead)
    }
    assert.deepEqual(await ahead(), [0, 1, 2, 3, 0])
    const retried = await fixture.retry(accepted[0]!)
    assert.deepEqual(await ahead(), [0, 1, 2, 3, 0])
    await fixture.settle(accepted[2]!, 'cancelled')
    assert.deepEqual(await ahead(), [0, 1, 0, 2, 0])
    await fixture.settle(retried, 'delivered')
    assert.deepEqual(await ahead(), [0, 0, 0, 1, 0])
  })

  rule('deliveries of a webhook with ordering none have nothing ahead', async (fixture) => {
    const webhook = await fixture.webhook({ settings: { ordering: 'none' } })
    await acceptCall(fixture, webhook, 3)
    const query = { accountId: 'account', webhookId: webhook.id, limit: 5 }
    const rows = await fixture.store.deliveries.deliveries(query)
    assert.deepEqual(
      rows.map((row) => row.ahead),
      [0, 0, 0],
    )
    assert.equal(new Set(idsOf(rows)).size, 3)
  })

  rule('only the first delivery of a lane has a due time', async (fixture) => {
    const webhook = await fixture.webhook()
    const [first, second] = await acceptCall(fixture, webhook, 2)
    const dueMs = async ({ id }: Queued) => (await fixture.store.deliveries.delivery('account', id))?.dueMs
    assert.ok(((await dueMs(first!)) ?? 0) <= fixture.now())
    assert.equal(await dueMs(second!), undefined)
    const retried = await fixture.retry(first!, { dueMs: fixture.now() + 77 })
    assert.equal(await dueMs(first!), fixture.now() + 77)
    assert.equal(await dueMs(second!), undefined)
    await fixture.settle(retried, 'exhausted')
    assert.ok(((await dueMs(second!)) ?? 0) <= fixture.now())
  })
}
