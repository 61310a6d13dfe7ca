import assert from 'node:assert/strict'
import type { NewEvent } from '../../delivery/delivery-store.js'
import type { AcceptanceResult } from '../../delivery/queue-store.js'
import type { DefineRule, Fixture } from './fixture.js'
import { acceptanceOf, assertRefused } from './node.js'
import { newDelivery, newEvent } from './sample-data.js'

async function acceptNumbered(fixture: Fixture, overrides: Partial<NewEvent>): Promise<number> {
  const [accepted] = await fixture.acceptEvents(newEvent(overrides))
  return accepted!.sequence
}

const DAY_MS = 86_400_000

/** An idempotency key, of a day unless `untilMs` is given. */
const withKey = (fixture: Fixture, key: string, bodyHash = 'hash', untilMs = fixture.now() + DAY_MS) => ({
  idempotency: { key, bodyHash, untilMs },
})

/** Commits one acceptance per event, in one group. */
async function acceptGroup(
  fixture: Fixture,
  events: readonly NewEvent[],
): Promise<readonly AcceptanceResult[]> {
  return (await fixture.node.commit({ accepted: events.map((event) => acceptanceOf(event)) })).accepted
}

const summaryOf = (result: AcceptanceResult) =>
  result.kind === 'refused' ? result.error.code : result.events.map(({ sequence }) => sequence).join()

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
    const webhook = await fixture.webhook()
    assert.equal(await acceptNumbered(fixture, { callId: 'a' }), 1)
    await fixture.accept(webhook, { callId: 'a', numbered: false })
    assert.match((await fixture.waitingOne(webhook)).body, /"sequence":0}/)
    assert.equal((await fixture.node.load()).rows[0]?.sequence, 0)
    assert.equal(await acceptNumbered(fixture, { callId: 'a', numbered: false }), 0)
    assert.equal(await acceptNumbered(fixture, { callId: 'a' }), 2)
  })

  rule('events of a call are numbered in order over the acceptances of a group', async (fixture) => {
    await acceptNumbered(fixture, { callId: 'a' })
    const calls = ['a', 'b', 'a', 'c', 'a', 'b']
    const results = await acceptGroup(
      fixture,
      calls.map((callId) => newEvent({ callId })),
    )
    assert.deepEqual(results.map(summaryOf), ['2', '1', '3', '1', '4', '2'])
    const both = [newEvent({ callId: 'a' }), newEvent({ callId: 'b' }), newEvent({ callId: 'a' })]
    const { accepted } = await fixture.node.commit({
      accepted: [acceptanceOf(both), acceptanceOf([newEvent({ callId: 'a' })])],
    })
    assert.deepEqual(accepted.map(summaryOf), ['5,3,6', '7'])
  })

  rule('the number of an event is in its body, in loads and in its deliveries', async (fixture) => {
    const webhook = await fixture.webhook()
    await acceptNumbered(fixture, { callId: 'a' })
    await fixture.accept(webhook, { callId: 'a' })
    const { body, eventId } = await fixture.waitingOne(webhook)
    assert.equal(body, `{"event_id":"${eventId}","sequence":2}`)
    assert.equal((await fixture.node.load()).rows[0]?.sequence, 2)
  })

  rule('a refused acceptance takes no number and no key', async (fixture) => {
    const webhook = await fixture.webhook()
    const unknown = { ...webhook, id: 'unknown' }
    const [refused, kept] = [1, 2].map(() => newEvent({ callId: 'a', ...withKey(fixture, 'key') }))
    const { accepted } = await fixture.node.commit({
      accepted: [acceptanceOf(refused!, [newDelivery(unknown, refused!)]), acceptanceOf(kept!)],
    })
    assert.deepEqual(accepted.map(summaryOf), ['NotFound', '1'])
    assert.deepEqual(accepted[1], {
      kind: 'accepted',
      events: [{ id: kept!.id, sequence: 1, duplicate: false }],
      mayHaveGap: false,
    })
    assert.equal(await acceptNumbered(fixture, { callId: 'a' }), 2)
  })

  rule('an event with a used key and the same body is a duplicate: nothing is written', async (fixture) => {
    const webhook = await fixture.webhook()
    const first = newEvent({ callId: 'a', ...withKey(fixture, 'key') })
    await fixture.acceptEvents(newEvent({ callId: 'a' }), first)
    const again = newEvent({ callId: 'a', otherLegCallId: 'b', ...withKey(fixture, 'key') })
    const late = newDelivery(webhook, again)
    const result = await fixture.acceptOne(acceptanceOf(again, [late]))
    assert.ok(result.kind === 'accepted')
    assert.deepEqual(result.events, [{ id: first.id, sequence: 2, duplicate: true }])
    assert.equal(await fixture.delivery(late.id), undefined)
    assert.deepEqual(await fixture.waiting(), [])
    assert.deepEqual(await fixture.store.deliveries.legs('account', 'b'), [])
    assert.equal(await acceptNumbered(fixture, { callId: 'a' }), 3)
  })

  rule('a duplicate in an acceptance does not affect its other events', async (fixture) => {
    const webhook = await fixture.webhook()
    const first = newEvent({ callId: 'a', ...withKey(fixture, 'key') })
    await fixture.acceptEvents(first)
    const events = [newEvent({ callId: 'a', ...withKey(fixture, 'key') }), newEvent({ callId: 'a' })]
    const deliveries = events.map((event) => newDelivery(webhook, event))
    const result = await fixture.acceptOne(acceptanceOf(events, deliveries))
    assert.ok(result.kind === 'accepted')
    assert.deepEqual(result.events, [
      { id: first.id, sequence: 1, duplicate: true },
      { id: events[1]!.id, sequence: 2, duplicate: false },
    ])
    assert.equal((await fixture.waitingOne(webhook)).id, deliveries[1]!.id)
  })

  rule('idempotency keys are separate per account', async (fixture) => {
    await fixture.acceptEvents(newEvent({ accountId: 'one', ...withKey(fixture, 'key') }))
    const [other] = await fixture.acceptEvents(
      newEvent({ accountId: 'two', ...withKey(fixture, 'key', 'another') }),
    )
    assert.equal(other?.duplicate, false)
  })

  rule('idempotency keys that differ in case, accents or spaces are different keys', async (fixture) => {
    const keys = [
      'Order-\u00e9',
      'order-\u00e9',
      'Order-e\u0301',
      'Order-e',
      'Order-\u00e9 ',
      ' Order-\u00e9',
    ]
    for (const key of keys) {
      const [accepted] = await fixture.acceptEvents(newEvent(withKey(fixture, key)))
      assert.equal(accepted?.duplicate, false, JSON.stringify(key))
    }
    for (const key of keys) {
      const [again] = await fixture.acceptEvents(newEvent(withKey(fixture, key)))
      assert.equal(again?.duplicate, true, JSON.stringify(key))
    }
  })

  rule('two events with the same key in one acceptance are one event', async (fixture) => {
    const webhook = await fixture.webhook()
    const events = [1, 2].map(() => newEvent({ callId: 'a', ...withKey(fixture, 'key') }))
    const deliveries = events.map((event) => newDelivery(webhook, event))
    const result = await fixture.acceptOne(acceptanceOf(events, deliveries))
    assert.ok(result.kind === 'accepted')
    assert.deepEqual(result.events, [
      { id: events[0]!.id, sequence: 1, duplicate: false },
      { id: events[0]!.id, sequence: 1, duplicate: true },
    ])
    assert.equal(await fixture.state(webhook, deliveries[0]!.id), 'waiting')
    assert.equal(await fixture.state(webhook, deliveries[1]!.id), undefined)
  })

  rule('acceptances of one group with the same key are one event', async (fixture) => {
    const keyed = (hash: string) => newEvent({ callId: 'a', ...withKey(fixture, 'key', hash) })
    const events = [keyed('hash'), keyed('hash'), keyed('another hash'), keyed('hash')]
    const results = await acceptGroup(fixture, events)
    assert.deepEqual(results.map(summaryOf), ['1', '1', 'Conflict', '1'])
    const accepted = results.map((result) => (result.kind === 'accepted' ? result.events[0] : undefined))
    const first = events[0]!.id
    assert.deepEqual(
      accepted.map((event) => event && [event.id, event.duplicate]),
      [[first, false], [first, true], undefined, [first, true]],
    )
    assert.equal(await acceptNumbered(fixture, { callId: 'a' }), 2)
  })

  rule('a used key with another body refuses the whole acceptance with Conflict', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.acceptEvents(newEvent(withKey(fixture, 'key')))
    const before = newEvent({ callId: 'a', ...withKey(fixture, 'key before') })
    const clash = newEvent({ callId: 'a', ...withKey(fixture, 'key', 'another hash') })
    const after = newEvent({ callId: 'a' })
    const events = [before, clash, after]
    const deliveries = events.map((event) => newDelivery(webhook, event))
    assertRefused(
      await fixture.acceptOne(acceptanceOf(events, deliveries)),
      'Conflict',
      'events[1].idempotencyKey',
    )
    assert.deepEqual(await fixture.waiting(), [])
    for (const { id } of deliveries) assert.equal(await fixture.delivery(id), undefined)
    assert.equal(await acceptNumbered(fixture, { callId: 'a' }), 1)
    const [retried] = await fixture.acceptEvents(newEvent(withKey(fixture, 'key before', 'yet another')))
    assert.equal(retried?.duplicate, false)
  })

  rule('a key can be reused when its window has ended, pruned or not', async (fixture) => {
    const until = fixture.now() + 1_000
    await fixture.acceptEvents(newEvent(withKey(fixture, 'key', 'hash', until)))
    await fixture.advance(999)
    const [within] = await fixture.acceptEvents(newEvent(withKey(fixture, 'key', 'hash', until)))
    assert.equal(within?.duplicate, true)
    await fixture.advance(1)
    const again = newEvent(withKey(fixture, 'key', 'another hash', fixture.now() + 1_000))
    const [after] = await fixture.acceptEvents(again)
    assert.deepEqual(after, { id: again.id, sequence: 1, duplicate: false })
    const [duplicate] = await fixture.acceptEvents(
      newEvent(withKey(fixture, 'key', 'another hash', fixture.now())),
    )
    assert.deepEqual(duplicate, { id: again.id, sequence: 1, duplicate: true })
  })
}
