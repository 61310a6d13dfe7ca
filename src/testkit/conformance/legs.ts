import assert from 'node:assert/strict'
import type { DefineRule, Fixture } from './fixture.js'
import { newEvent } from './sample-data.js'

async function sortedLegs(fixture: Fixture, accountId: string, callId: string): Promise<string[]> {
  return [...(await fixture.store.deliveries.legs(accountId, callId))].sort()
}

/** Rules of call legs. */
export function legRules(rule: DefineRule): void {
  rule('a call exists from its first event, and comes first in its own list of legs', async (fixture) => {
    assert.deepEqual(await sortedLegs(fixture, 'account', 'a'), [])
    await fixture.acceptEvents(newEvent({ callId: 'a' }), newEvent({ callId: 'a', otherLegCallId: 'b' }))
    assert.equal((await fixture.store.deliveries.legs('account', 'a'))[0], 'a')
    assert.equal((await fixture.store.deliveries.legs('account', 'b'))[0], 'b')
  })

  rule('each leg of a call lists the other leg once', async (fixture) => {
    await fixture.acceptEvents(newEvent({ callId: 'a' }))
    assert.deepEqual(await sortedLegs(fixture, 'account', 'a'), ['a'])
    await fixture.acceptEvents(
      newEvent({ callId: 'a', otherLegCallId: 'b' }),
      newEvent({ callId: 'b', otherLegCallId: 'a' }),
      newEvent({ callId: 'a', otherLegCallId: 'b' }),
    )
    assert.deepEqual(await sortedLegs(fixture, 'account', 'a'), ['a', 'b'])
    assert.deepEqual(await sortedLegs(fixture, 'account', 'b'), ['a', 'b'])
  })

  rule('a transferred call has several other legs, which are not legs of each other', async (fixture) => {
    await fixture.acceptEvents(
      newEvent({ callId: 'a', otherLegCallId: 'b' }),
      newEvent({ callId: 'a', otherLegCallId: 'c' }),
    )
    assert.deepEqual(await sortedLegs(fixture, 'account', 'a'), ['a', 'b', 'c'])
    assert.deepEqual(await sortedLegs(fixture, 'account', 'c'), ['a', 'c'])
  })

  rule('an account has the calls of its events and of its deliveries, no others', async (fixture) => {
    const webhook = await fixture.webhook({ accountId: 'parent' })
    await fixture.accept(webhook, { accountId: 'child', callId: 'a', otherLegCallId: 'b' })
    await fixture.acceptEvents(newEvent({ accountId: 'child', callId: 'quiet' }))
    assert.deepEqual(await sortedLegs(fixture, 'child', 'a'), ['a', 'b'])
    assert.deepEqual(await sortedLegs(fixture, 'parent', 'a'), ['a', 'b'])
    assert.deepEqual(await sortedLegs(fixture, 'parent', 'quiet'), [])
    assert.deepEqual(await sortedLegs(fixture, 'stranger', 'a'), [])
  })

  rule('an event without a call has no leg and no number', async (fixture) => {
    const { callId: _none, ...event } = newEvent({ numbered: false })
    const [accepted] = await fixture.acceptEvents(event)
    assert.deepEqual(accepted, { id: event.id, sequence: 0, duplicate: false })
  })
}
