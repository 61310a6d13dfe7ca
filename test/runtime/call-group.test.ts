import { createHookswitch, memoryStore } from 'hookswitch'
import { manualClock } from 'hookswitch/testkit'
import { expect, it, onTestFinished } from 'vitest'
import { parseEvents, toWireFailure } from '../../src/wire/event-names.js'

async function startHost() {
  const hs = createHookswitch({ store: memoryStore(), clock: manualClock() })
  await hs.start()
  onTestFinished(() => hs.close())
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  const publish = (hook: 'channel_create' | 'channel_bridge' | 'channel_hold', callId: string, more = {}) =>
    hs.publish({ hook, accountId: 'acme', callId, callGroupId: 'a', ...more })
  const legsOf = async (callId: string) => {
    const { legs } = await hs.webhooks.call('acme', callId)
    return legs.map((leg) => leg.callId).sort()
  }
  return { publish, legsOf }
}

it('a call is found by its id with all its legs, also those that never met its first leg', async () => {
  const { publish, legsOf } = await startHost()
  await publish('channel_create', 'a')
  await publish('channel_create', 'b', { otherLegCallId: 'a' })
  // The caller has transferred `b` to `c`, and left.
  await publish('channel_create', 'c', { otherLegCallId: 'b' })
  await publish('channel_bridge', 'c', { otherLegCallId: 'b' })
  expect(await legsOf('a')).toEqual(['a', 'b', 'c'])
  expect(await legsOf('c')).toEqual(['a', 'b', 'c'])
})

it('a leg that joins a call without another leg is found by the id of the call', async () => {
  const { publish, legsOf } = await startHost()
  await publish('channel_hold', 'd')
  expect(await legsOf('a')).toEqual(['a', 'd'])
})

it('who answered has its wire names in requests, and in their failures', () => {
  const parsed = (answered_by: unknown) =>
    parseEvents({ hook_event: 'channel_answer', call_id: 'a', answered_by }, 'acme')
  expect(parsed({ number: '1003', call_id: 'b' })).toMatchObject({
    events: [{ answeredBy: { number: '1003', callId: 'b' } }],
  })
  // The name of this package is none of the wire, and a value of another type is left to the schema.
  expect(parsed({ call_id: 'b', callId: 'c' })).toMatchObject({
    events: [{ answeredBy: { call_id: 'b', callId: 'c' } }],
  })
  expect(parsed('1003')).toMatchObject({ events: [{ answeredBy: '1003' }] })
  const failure = { path: 'answeredBy.callId', rule: 'type', message: '', target: 'string' }
  expect(toWireFailure(failure).path).toBe('answered_by.call_id')
})
