import assert from 'node:assert/strict'
import { type DefineRule, idsOf } from './fixture.js'
import { acceptanceOf, assertRefused } from './node.js'
import { freshId, newDelivery, newEvent, newReplay } from './sample-data.js'

/** Rules of acceptances, besides numbers and idempotency keys. */
export function acceptRules(rule: DefineRule): void {
  rule('an accepted delivery is read back completely: waiting, without attempts', async (fixture) => {
    const webhook = await fixture.webhook({ accountId: 'parent', settings: { httpVerb: 'put' } })
    const event = newEvent({ accountId: 'child' })
    const delivery = newDelivery(webhook, event, { encoding: 'form' })
    await fixture.acceptOne(acceptanceOf(event, [delivery]))
    const stored = await fixture.store.deliveries.delivery('parent', delivery.id)
    assert.ok(stored)
    const { dueMs = 0, ...rest } = stored
    assert.ok(dueMs <= fixture.now(), 'it may be sent at once')
    assert.deepEqual(rest, {
      ...delivery,
      position: event.position,
      state: 'waiting',
      attempts: 0,
      tries: 0,
      interruptions: 0,
      acceptedMs: fixture.now(),
      ahead: 0,
      sequence: 1,
    })
  })

  rule('an accepted delivery is loaded, with what the order of its lane depends on', async (fixture) => {
    const webhook = await fixture.webhook({ epoch: 3 })
    const [delivery] = await fixture.accept(webhook)
    const { rows, webhooks } = await fixture.node.load()
    assert.equal(rows.length, 1)
    const { lane, ...row } = rows[0]!
    assert.ok(Number.isSafeInteger(lane) && lane > 0)
    assert.deepEqual(row, {
      webhookId: webhook.id,
      position: delivery!.position,
      sequence: 1,
      dueMs: 0,
      epoch: 3,
      attempts: 0,
      tries: 0,
      interruptions: 0,
      failedMs: 0,
    })
    assert.deepEqual([...webhooks.values()], [webhook])
  })

  rule('an event without deliveries is accepted', async (fixture) => {
    const event = newEvent()
    const accepted = await fixture.acceptEvents(event)
    assert.deepEqual(accepted, [{ id: event.id, sequence: 1, duplicate: false }])
    assert.deepEqual((await fixture.node.load()).rows, [])
  })

  rule('one event goes to many webhooks, each with its own variant of the body', async (fixture) => {
    const webhooks = [await fixture.webhook(), await fixture.webhook(), await fixture.webhook()]
    const event = newEvent({
      bodies: [
        { head: '{"sequence":', tail: '}' },
        { head: 'a=\u{1F4DE}&sequence=', tail: '' },
        { head: 'no number' },
      ],
    })
    const deliveries = webhooks.map((webhook, variant) => newDelivery(webhook, event, { variant }))
    await fixture.acceptOne(acceptanceOf(event, deliveries))
    for (const [index, body] of ['{"sequence":1}', 'a=\u{1F4DE}&sequence=1', 'no number'].entries()) {
      const waiting = await fixture.waitingOne(webhooks[index]!)
      assert.equal(waiting.id, deliveries[index]!.id)
      assert.equal(waiting.body, body)
    }
  })

  rule('several events are accepted in one acceptance, in their order', async (fixture) => {
    const webhook = await fixture.webhook()
    const events = [1, 2, 3].map(() => newEvent({ callId: 'call' }))
    const deliveries = events.map((event) => newDelivery(webhook, event))
    const accepted = await fixture.acceptOne(acceptanceOf(events, deliveries))
    assert.deepEqual(accepted, {
      kind: 'accepted',
      events: events.map((event, index) => ({ id: event.id, sequence: index + 1, duplicate: false })),
      mayHaveGap: false,
    })
    const waiting = await fixture.waiting(webhook)
    assert.deepEqual(idsOf(waiting), idsOf(deliveries))
  })

  for (const end of ['delivered', 'exhausted', 'expired', 'cancelled'] as const) {
    rule(`a replay of a delivery that ended as ${end} has the same body`, async (fixture) => {
      const webhook = await fixture.webhook()
      const { acceptance, deliveries } = fixture.prepare(webhook)
      await fixture.acceptOne(acceptance)
      const [[event], [first]] = [acceptance.events, deliveries]
      const { body } = await fixture.waitingOne(webhook)
      await fixture.settle(first!, end)
      const replay = newReplay(webhook, event!, first!)
      const accepted = await fixture.acceptOne(acceptanceOf([], [replay]))
      assert.deepEqual(accepted, { kind: 'accepted', events: [], mayHaveGap: false })
      const waiting = await fixture.waitingOne(webhook)
      assert.deepEqual(
        [waiting.id, waiting.replayOf, waiting.originalPosition, waiting.body],
        [replay.id, first!.id, first!.position, body],
      )
      assert.equal(waiting.position, replay.position)
      const stored = await fixture.delivery(replay.id)
      assert.deepEqual(
        [stored?.state, stored?.replayOf, stored?.originalPosition, stored?.position, stored?.eventId],
        ['waiting', first!.id, first!.position, replay.position, event!.id],
      )
      assert.equal(await fixture.state(webhook, first!.id), end)
    })
  }

  rule('an event may have several replays to one webhook, each with its position', async (fixture) => {
    const webhook = await fixture.webhook()
    const event = newEvent()
    const first = newDelivery(webhook, event)
    await fixture.acceptOne(acceptanceOf(event, [first]))
    const replays = [1, 2].map(() => newReplay(webhook, event, first))
    await fixture.acceptOne(acceptanceOf([], replays))
    const waiting = await fixture.waiting(webhook)
    assert.deepEqual(idsOf(waiting).sort(), [first, ...replays].map(({ id }) => id).sort())
    await fixture.settle(waiting.find(({ id }) => id === replays[0]!.id)!, 'delivered')
    assert.deepEqual(await Promise.all([first, ...replays].map(({ id }) => fixture.state(webhook, id))), [
      'waiting',
      'delivered',
      'waiting',
    ])
  })

  rule('the lane of a delivery is read back, or names its kind', async (fixture) => {
    const ordered = await fixture.webhook()
    const free = await fixture.webhook({ settings: { ordering: 'none' } })
    const event = newEvent({ callId: 'call' })
    const test = newEvent({ numbered: false })
    const testDelivery = newDelivery(free, test, { lane: `test/${test.id}` })
    const deliveries = [newDelivery(ordered, event), newDelivery(free, event)]
    await fixture.acceptOne(acceptanceOf([event, test], [...deliveries, testDelivery]))
    const replay = newReplay(ordered, event, deliveries[0]!)
    await fixture.acceptOne(acceptanceOf([], [replay]))
    const laneOf = async (id: string) => (await fixture.delivery(id))?.lane
    assert.equal(await laneOf(deliveries[0]!.id), 'account/call')
    assert.match((await laneOf(deliveries[1]!.id)) ?? '', /^-\//)
    assert.match((await laneOf(testDelivery.id)) ?? '', /^test\//)
    assert.match((await laneOf(replay.id)) ?? '', /^replay\//)
    for (const waiting of await fixture.waiting()) await fixture.settle(waiting, 'delivered')
    assert.equal(await laneOf(deliveries[0]!.id), 'account/call')
    assert.match((await laneOf(replay.id)) ?? '', /^replay\//)
  })

  rule('ids of any form are accepted and found, related to each other or not', async (fixture) => {
    const webhook = await fixture.webhook()
    const event = newEvent({ id: freshId('événement "1"') })
    const first = newDelivery(webhook, event, { id: freshId('livraison/\u{1F4DE}') })
    const other = newEvent()
    const second = newDelivery(webhook, other, { id: freshId('delivery') })
    await fixture.acceptOne(acceptanceOf([event, other], [first, second]))
    for (const { id } of [first, second]) assert.equal(await fixture.state(webhook, id), 'waiting')
    for (const waiting of await fixture.waiting(webhook)) await fixture.settle(waiting, 'delivered')
    for (const { id } of [first, second]) {
      assert.equal(await fixture.state(webhook, id), 'delivered')
      assert.equal((await fixture.attempts({ deliveryId: id })).length, 1)
    }
    const replays = [first, second].map((original) =>
      newReplay(webhook, { ...(original.eventId === event.id ? event : other) }, original),
    )
    await fixture.acceptOne(acceptanceOf([], replays))
    assert.equal((await fixture.waiting(webhook)).length, 2)
  })

  rule('an acceptance is refused as a whole when it names an unknown event or webhook', async (fixture) => {
    const webhook = await fixture.webhook()
    const unknown = { ...webhook, id: freshId('webhook') }
    for (const wrong of [
      (event: ReturnType<typeof newEvent>) => newDelivery(unknown, event),
      () => newReplay(webhook, newEvent(), { id: 'an older one', position: 1 }),
    ]) {
      const event = newEvent({ callId: 'call' })
      const deliveries = [newDelivery(webhook, event), wrong(event)]
      assertRefused(await fixture.acceptOne(acceptanceOf(event, deliveries)), 'NotFound')
      assert.deepEqual(await fixture.waiting(), [])
      assert.equal(await fixture.delivery(deliveries[0]!.id), undefined)
      assert.deepEqual(await fixture.store.deliveries.legs('account', 'call'), [])
    }
  })

  rule('an acceptance with the id of a stored event or delivery is refused', async (fixture) => {
    const webhook = await fixture.webhook()
    const event = newEvent()
    const delivery = newDelivery(webhook, event)
    await fixture.acceptOne(acceptanceOf(event, [delivery]))
    const sameEvent = newEvent({ id: event.id, callId: 'call' })
    const other = newEvent({ callId: 'call' })
    const sameDelivery = newDelivery(webhook, other, { id: delivery.id })
    for (const acceptance of [
      acceptanceOf(sameEvent, [newDelivery(webhook, sameEvent, { id: freshId('delivery') })]),
      acceptanceOf(other, [sameDelivery]),
    ]) {
      assertRefused(await fixture.acceptOne(acceptance), 'Conflict', 'id')
    }
    assert.equal((await fixture.waiting(webhook)).length, 1)
    assert.deepEqual(await fixture.store.deliveries.legs('account', 'call'), [])
  })
}
