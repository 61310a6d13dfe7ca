import assert from 'node:assert/strict'
import { newDelivery, newEvent } from './fixtures.js'
import { codeOf, type Promised } from './workbench.js'

export function acceptPromises(promised: Promised): void {
  promised('an accepted delivery is read back whole: waiting, never tried, due at once', async (bench) => {
    const webhook = await bench.webhook({ accountId: 'parent', settings: { httpVerb: 'put' } })
    const event = newEvent({ accountId: 'child' })
    const delivery = newDelivery(webhook, event, { encoding: 'form', replayOf: 'an-older-one' })
    const now = bench.now()
    await bench.store.deliveries.accept({ events: [event], deliveries: [delivery], maxPending: 10 }, now)
    const stored = await bench.store.deliveries.delivery('parent', delivery.id)
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
    assert.equal(await bench.store.deliveries.pending(), 1)
  })

  promised('an event with no deliveries is accepted', async (bench) => {
    const event = newEvent()
    const accepted = await bench.acceptEvents(event)
    assert.deepEqual(accepted, [{ id: event.id, sequence: 1, duplicate: false }])
    assert.equal(await bench.store.deliveries.pending(), 0)
  })

  promised('one event goes to many webhooks, each with its own variant of the body', async (bench) => {
    const webhooks = [await bench.webhook(), await bench.webhook(), await bench.webhook()]
    const event = newEvent({
      bodies: [
        { head: '{"sequence":', tail: '}' },
        { head: 'a=\u{1F4DE}&sequence=', tail: '' },
        { head: 'no number' },
      ],
    })
    const deliveries = webhooks.map((webhook, variant) => newDelivery(webhook, event, { variant }))
    await bench.store.deliveries.accept({ events: [event], deliveries, maxPending: 10 }, bench.now())
    for (const [index, body] of ['{"sequence":1}', 'a=\u{1F4DE}&sequence=1', 'no number'].entries()) {
      const claim = await bench.claimOne(webhooks[index]!)
      assert.equal(claim.delivery.id, deliveries[index]!.id)
      assert.equal(claim.body, body)
    }
  })

  promised('several events are accepted in one transaction, in their order', async (bench) => {
    const webhook = await bench.webhook()
    const events = [1, 2, 3].map(() => newEvent({ callId: 'call' }))
    const deliveries = events.map((event) => newDelivery(webhook, event))
    const accepted = await bench.store.deliveries.accept({ events, deliveries, maxPending: 10 }, bench.now())
    assert.deepEqual(
      accepted,
      events.map((event, index) => ({ id: event.id, sequence: index + 1, duplicate: false })),
    )
    for (const delivery of deliveries) {
      const claim = await bench.claimOne(webhook)
      assert.equal(claim.delivery.id, delivery.id)
      await bench.settle(claim.delivery, 'delivered')
    }
  })

  promised('a replay refers to a stored event and gets the very same body', async (bench) => {
    const webhook = await bench.webhook()
    const event = newEvent()
    const first = newDelivery(webhook, event)
    await bench.store.deliveries.accept({ events: [event], deliveries: [first], maxPending: 10 }, bench.now())
    const sent = await bench.claimOne(webhook)
    await bench.settle(sent.delivery, 'delivered')
    const replay = newDelivery(webhook, event, { replayOf: first.id, lane: 'replay' })
    const accepted = await bench.store.deliveries.accept(
      { events: [], deliveries: [replay], maxPending: 10 },
      bench.now(),
    )
    assert.deepEqual(accepted, [])
    const claim = await bench.claimOne(webhook)
    assert.equal(claim.delivery.replayOf, first.id)
    assert.equal(claim.body, sent.body)
  })

  promised('a delivery of an unknown event is refused, with all that came along', async (bench) => {
    const webhook = await bench.webhook()
    const event = newEvent({ callId: 'call' })
    const deliveries = [newDelivery(webhook, event), newDelivery(webhook, newEvent())]
    const accept = bench.store.deliveries.accept({ events: [event], deliveries, maxPending: 10 }, bench.now())
    assert.equal(await codeOf(accept), 'NotFound')
    assert.equal(await bench.store.deliveries.pending(), 0)
    assert.equal(await bench.store.deliveries.delivery('account', deliveries[0]!.id), undefined)
    assert.deepEqual(await bench.store.deliveries.legs('account', 'call'), [])
  })

  promised('the bound on pending deliveries may be reached, not passed', async (bench) => {
    const webhook = await bench.webhook()
    const accept = (count: number, maxPending: number) => {
      const event = newEvent({ callId: 'call' })
      const deliveries = Array.from({ length: count }, () => newDelivery(webhook, event))
      return bench.store.deliveries.accept({ events: [event], deliveries, maxPending }, bench.now())
    }
    await accept(2, 3)
    assert.equal(await codeOf(accept(2, 3)), 'QueueFull')
    assert.equal(await bench.store.deliveries.pending(), 2)
    await accept(1, 3)
    assert.equal(await codeOf(accept(1, 3)), 'QueueFull')
    const [event] = await accept(0, 3)
    assert.equal(event?.sequence, 3, 'a refused event takes no number')
  })

  promised('deliveries in flight are pending, ended ones are not', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    const { delivery } = await bench.claimOne(webhook)
    assert.equal(await bench.store.deliveries.pending(), 1)
    await bench.settle(delivery, 'waiting')
    assert.equal(await bench.store.deliveries.pending(), 1)
    await bench.advance(1_000)
    await bench.settle((await bench.claimOne(webhook)).delivery, 'exhausted', {
      next: { reason: 'connection' },
    })
    assert.equal(await bench.store.deliveries.pending(), 0)
  })

  promised('under many acceptances at once the bound is not passed', async (bench) => {
    const webhook = await bench.webhook()
    const codes = await Promise.all(
      Array.from({ length: 20 }, () => {
        const event = newEvent()
        const deliveries = [newDelivery(webhook, event)]
        return codeOf(
          bench.store.deliveries.accept({ events: [event], deliveries, maxPending: 7 }, bench.now()),
        )
      }),
    )
    assert.equal(codes.filter((code) => code === undefined).length, 7)
    assert.equal(codes.filter((code) => code === 'QueueFull').length, 13)
    assert.equal(await bench.store.deliveries.pending(), 7)
  })
}
