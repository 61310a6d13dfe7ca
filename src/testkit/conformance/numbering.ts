import assert from 'node:assert/strict'
import { type DefineRule, errorCodeOf, type Fixture } from './fixture.js'
import { newDelivery, newEvent } from './sample-data.js'

async function acceptNumbered(fixture: Fixture, overrides: Parameters<typeof newEvent>[0]): Promise<number> {
  const [accepted] = await fixture.acceptEvents(newEvent(overrides))
  return accepted!.sequence
}

function withKey(key: string, bodyHash: string, untilMs: number) {
  return { idempotency: { key, bodyHash, untilMs } }
}

/** Rules of sequence numbers and idempotency keys. */
export function numberingRules(rule: DefineRule): void {
  rule('events are numbered 1, 2, 3 per account and call', async (fixture) => {
    assert.equal(await acceptNumbered(fixture, { callId: 'a' }), 1)
    assert.equal(await acceptNumbered(fixture, { callId: 'a' }), 2)
    assert.equal(await acceptNumbered(fixture, { callId: 'b' }), 1)
    assert.equal(await acceptNumbered(fixture, { callId: 'a', accountId: 'other' }), 1)
    assert.equal(await acceptNumbered(fixture, { callId: 'a', otherLegCallId: 'b' }), 3)
  })

  rule('an event with numbered: false gets 0 and takes no number', async (fixture) => {
    assert.equal(await acceptNumbered(fixture, { callId: 'a' }), 1)
    assert.equal(await acceptNumbered(fixture, { callId: 'a', numbered: false }), 0)
    assert.equal(await acceptNumbered(fixture, { callId: 'a' }), 2)
  })

  rule('concurrently accepted events of a call get distinct numbers without gaps', async (fixture) => {
    const numbers = await Promise.all(
      Array.from({ length: 20 }, () => acceptNumbered(fixture, { callId: 'a' })),
    )
    assert.deepEqual(
      numbers.sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, index) => index + 1),
    )
  })

  rule(
    'an event with a used key and the same body is a duplicate, and nothing is written for it',
    async (fixture) => {
      const webhook = await fixture.webhook()
      const until = fixture.now() + 86_400_000
      const first = newEvent({ callId: 'a', ...withKey('key', 'hash', until) })
      await fixture.acceptEvents(newEvent({ callId: 'a' }), first)
      const again = newEvent({ callId: 'a', otherLegCallId: 'b', ...withKey('key', 'hash', until) })
      const late = newDelivery(webhook, again)
      const accepted = await fixture.store.deliveries.accept(
        { events: [again], deliveries: [late], maxPending: 0 },
        fixture.now(),
      )
      assert.deepEqual(accepted, [{ id: first.id, sequence: 2, duplicate: true }])
      assert.equal(await fixture.store.deliveries.delivery('account', late.id), undefined)
      assert.equal(await fixture.store.deliveries.pending(), 0)
      assert.equal(await acceptNumbered(fixture, { callId: 'a' }), 3)
    },
  )

  rule('idempotency keys are separate per account', async (fixture) => {
    const until = fixture.now() + 86_400_000
    await fixture.acceptEvents(newEvent({ accountId: 'one', ...withKey('key', 'hash', until) }))
    const [other] = await fixture.acceptEvents(
      newEvent({ accountId: 'two', ...withKey('key', 'another', until) }),
    )
    assert.equal(other?.duplicate, false)
  })

  rule('idempotency keys that differ in case, accents or spaces are different keys', async (fixture) => {
    const until = fixture.now() + 86_400_000
    const keys = [
      'Order-\u00e9',
      'order-\u00e9',
      'Order-e\u0301',
      'Order-e',
      'Order-\u00e9 ',
      ' Order-\u00e9',
    ]
    for (const key of keys) {
      const [accepted] = await fixture.acceptEvents(newEvent(withKey(key, 'hash', until)))
      assert.equal(accepted?.duplicate, false, JSON.stringify(key))
    }
    for (const key of keys) {
      const [again] = await fixture.acceptEvents(newEvent(withKey(key, 'hash', until)))
      assert.equal(again?.duplicate, true, JSON.stringify(key))
    }
  })

  rule('two events with the same key in one acceptance are one event', async (fixture) => {
    const webhook = await fixture.webhook()
    const until = fixture.now() + 86_400_000
    const events = [1, 2].map(() => newEvent({ callId: 'a', ...withKey('key', 'hash', until) }))
    const deliveries = events.map((event) => newDelivery(webhook, event))
    const accepted = await fixture.store.deliveries.accept(
      { events, deliveries, maxPending: 1 },
      fixture.now(),
    )
    assert.deepEqual(accepted, [
      { id: events[0]!.id, sequence: 1, duplicate: false },
      { id: events[0]!.id, sequence: 1, duplicate: true },
    ])
    assert.equal(await fixture.state(webhook, deliveries[0]!.id), 'waiting')
    assert.equal(await fixture.state(webhook, deliveries[1]!.id), undefined)
  })

  rule('a used key with another body rejects the whole acceptance with Conflict', async (fixture) => {
    const webhook = await fixture.webhook()
    const until = fixture.now() + 86_400_000
    await fixture.acceptEvents(newEvent(withKey('key', 'hash', until)))
    const before = newEvent({ callId: 'a', ...withKey('key before', 'hash', until) })
    const clash = newEvent({ callId: 'a', ...withKey('key', 'another hash', until) })
    const after = newEvent({ callId: 'a' })
    const events = [before, clash, after]
    const deliveries = events.map((event) => newDelivery(webhook, event))
    const accept = fixture.store.deliveries.accept({ events, deliveries, maxPending: 10 }, fixture.now())
    assert.equal(await errorCodeOf(accept), 'Conflict')
    assert.equal(await fixture.store.deliveries.pending(), 0)
    for (const { id } of deliveries)
      assert.equal(await fixture.store.deliveries.delivery('account', id), undefined)
    assert.equal(await acceptNumbered(fixture, { callId: 'a' }), 1)
    const [retried] = await fixture.acceptEvents(newEvent(withKey('key before', 'yet another', until)))
    assert.equal(retried?.duplicate, false)
  })

  rule('a key can be reused when its window has ended, pruned or not', async (fixture) => {
    const until = fixture.now() + 1_000
    await fixture.acceptEvents(newEvent(withKey('key', 'hash', until)))
    await fixture.advance(999)
    const [within] = await fixture.acceptEvents(newEvent(withKey('key', 'hash', until)))
    assert.equal(within?.duplicate, true)
    await fixture.advance(1)
    const again = newEvent(withKey('key', 'another hash', fixture.now() + 1_000))
    const [after] = await fixture.acceptEvents(again)
    assert.deepEqual(after, { id: again.id, sequence: 1, duplicate: false })
  })

  rule('concurrent acceptances with one key make one event', async (fixture) => {
    const until = fixture.now() + 86_400_000
    const accepted = await Promise.all(
      Array.from({ length: 10 }, () =>
        fixture.acceptEvents(newEvent({ callId: 'a', ...withKey('key', 'hash', until) })),
      ),
    )
    const events = accepted.map(([event]) => event!)
    assert.equal(new Set(events.map((event) => event.id)).size, 1)
    assert.equal(events.filter((event) => !event.duplicate).length, 1)
    assert.deepEqual([...new Set(events.map((event) => event.sequence))], [1])
  })

  rule('an acceptance rejected with QueueFull does not use the key', async (fixture) => {
    const webhook = await fixture.webhook()
    const event = newEvent(withKey('key', 'hash', fixture.now() + 1_000))
    const acceptance = { events: [event], deliveries: [newDelivery(webhook, event)] }
    const rejected = fixture.store.deliveries.accept({ ...acceptance, maxPending: 0 }, fixture.now())
    assert.equal(await errorCodeOf(rejected), 'QueueFull')
    const [accepted] = await fixture.store.deliveries.accept({ ...acceptance, maxPending: 1 }, fixture.now())
    assert.deepEqual(accepted, { id: event.id, sequence: 1, duplicate: false })
  })
}
