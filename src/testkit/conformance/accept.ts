import assert from 'node:assert/strict'
import { type DefineRule, errorCodeOf } from './fixture.js'
import { newDelivery, newEvent } from './sample-data.js'

/** Rules of `accept`, besides numbers and idempotency keys. */
export function acceptRules(rule: DefineRule): void {
  rule(
    'an accepted delivery is read back completely: waiting, without attempts, due at once',
    async (fixture) => {
      const webhook = await fixture.webhook({ accountId: 'parent', settings: { httpVerb: 'put' } })
      const event = newEvent({ accountId: 'child' })
      const delivery = newDelivery(webhook, event, { encoding: 'form', replayOf: 'an-older-one' })
      const now = fixture.now()
      await fixture.store.deliveries.accept({ events: [event], deliveries: [delivery], maxPending: 10 }, now)
      const stored = await fixture.store.deliveries.delivery('parent', delivery.id)
      assert.ok(stored)
      const { position, ...rest } = stored
      assert.ok(Number.isSafeInteger(position))
      assert.deepEqual(rest, {
        ...delivery,
        state: 'waiting',
        dueMs: now,
        attempts: 0,
        tries: 0,
        interruptions: 0,
        fence: 0,
        acceptedMs: now,
        ahead: 0,
      })
      assert.equal(await fixture.store.deliveries.pending(), 1)
    },
  )

  rule('an event without deliveries is accepted', async (fixture) => {
    const event = newEvent()
    const accepted = await fixture.acceptEvents(event)
    assert.deepEqual(accepted, [{ id: event.id, sequence: 1, duplicate: false }])
    assert.equal(await fixture.store.deliveries.pending(), 0)
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
    await fixture.store.deliveries.accept({ events: [event], deliveries, maxPending: 10 }, fixture.now())
    for (const [index, body] of ['{"sequence":1}', 'a=\u{1F4DE}&sequence=1', 'no number'].entries()) {
      const claim = await fixture.claimOne(webhooks[index]!)
      assert.equal(claim.delivery.id, deliveries[index]!.id)
      assert.equal(claim.body, body)
    }
  })

  rule('several events are accepted in one transaction, in their order', async (fixture) => {
    const webhook = await fixture.webhook()
    const events = [1, 2, 3].map(() => newEvent({ callId: 'call' }))
    const deliveries = events.map((event) => newDelivery(webhook, event))
    const accepted = await fixture.store.deliveries.accept(
      { events, deliveries, maxPending: 10 },
      fixture.now(),
    )
    assert.deepEqual(
      accepted,
      events.map((event, index) => ({ id: event.id, sequence: index + 1, duplicate: false })),
    )
    for (const delivery of deliveries) {
      const claim = await fixture.claimOne(webhook)
      assert.equal(claim.delivery.id, delivery.id)
      await fixture.settle(claim.delivery, 'delivered')
    }
  })

  rule('a replay refers to a stored event and has the same body', async (fixture) => {
    const webhook = await fixture.webhook()
    const event = newEvent()
    const first = newDelivery(webhook, event)
    await fixture.store.deliveries.accept(
      { events: [event], deliveries: [first], maxPending: 10 },
      fixture.now(),
    )
    const sent = await fixture.claimOne(webhook)
    await fixture.settle(sent.delivery, 'delivered')
    const replay = newDelivery(webhook, event, { replayOf: first.id, lane: 'replay' })
    const accepted = await fixture.store.deliveries.accept(
      { events: [], deliveries: [replay], maxPending: 10 },
      fixture.now(),
    )
    assert.deepEqual(accepted, [])
    const claim = await fixture.claimOne(webhook)
    assert.equal(claim.delivery.replayOf, first.id)
    assert.equal(claim.body, sent.body)
  })

  rule('a delivery of an unknown event rejects the whole acceptance', async (fixture) => {
    const webhook = await fixture.webhook()
    const event = newEvent({ callId: 'call' })
    const deliveries = [newDelivery(webhook, event), newDelivery(webhook, newEvent())]
    const accept = fixture.store.deliveries.accept(
      { events: [event], deliveries, maxPending: 10 },
      fixture.now(),
    )
    assert.equal(await errorCodeOf(accept), 'NotFound')
    assert.equal(await fixture.store.deliveries.pending(), 0)
    assert.equal(await fixture.store.deliveries.delivery('account', deliveries[0]!.id), undefined)
    assert.deepEqual(await fixture.store.deliveries.legs('account', 'call'), [])
  })

  rule('the number of pending deliveries can reach maxPending but not exceed it', async (fixture) => {
    const webhook = await fixture.webhook()
    const accept = (count: number, maxPending: number) => {
      const event = newEvent({ callId: 'call' })
      const deliveries = Array.from({ length: count }, () => newDelivery(webhook, event))
      return fixture.store.deliveries.accept({ events: [event], deliveries, maxPending }, fixture.now())
    }
    await accept(2, 3)
    assert.equal(await errorCodeOf(accept(2, 3)), 'QueueFull')
    assert.equal(await fixture.store.deliveries.pending(), 2)
    await accept(1, 3)
    assert.equal(await errorCodeOf(accept(1, 3)), 'QueueFull')
    const [event] = await accept(0, 3)
    assert.equal(event?.sequence, 3, 'a rejected event takes no number')
  })

  rule('deliveries in flight count as pending, ended ones do not', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    const { delivery } = await fixture.claimOne(webhook)
    assert.equal(await fixture.store.deliveries.pending(), 1)
    await fixture.settle(delivery, 'waiting')
    assert.equal(await fixture.store.deliveries.pending(), 1)
    await fixture.advance(1_000)
    await fixture.settle((await fixture.claimOne(webhook)).delivery, 'exhausted', {
      next: { reason: 'connection' },
    })
    assert.equal(await fixture.store.deliveries.pending(), 0)
  })

  rule('concurrent acceptances do not exceed maxPending', async (fixture) => {
    const webhook = await fixture.webhook()
    const codes = await Promise.all(
      Array.from({ length: 20 }, () => {
        const event = newEvent()
        const deliveries = [newDelivery(webhook, event)]
        return errorCodeOf(
          fixture.store.deliveries.accept({ events: [event], deliveries, maxPending: 7 }, fixture.now()),
        )
      }),
    )
    assert.equal(codes.filter((code) => code === undefined).length, 7)
    assert.equal(codes.filter((code) => code === 'QueueFull').length, 13)
    assert.equal(await fixture.store.deliveries.pending(), 7)
  })
}
