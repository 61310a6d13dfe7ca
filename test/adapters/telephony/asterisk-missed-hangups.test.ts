import { describe, expect, it } from 'vitest'
import type { ListedChannel, SwitchEvent } from '../../../adapters/telephony/asterisk/switch-event.js'
import {
  A,
  B,
  bridge,
  bridgeEvent,
  C,
  channel,
  channelEvent,
  createTracedMapping,
  hangupEvent,
  T0,
  UP_STATE,
} from './asterisk-switch-events.js'

const DOWN = { state: 0 }
const listed = (id: string, isBridged = true): ListedChannel => ({
  channel: channel(id, UP_STATE),
  ...(isBridged ? { bridge } : {}),
})
const dialBegins = (called: string): SwitchEvent => ({
  ...{ kind: 'dialled', atMs: T0, caller: channel(A), called: channel(called, DOWN), status: '' },
})
const requests = (id: string): SwitchEvent => ({
  ...{ kind: 'hangup_requested', atMs: T0, channel: channel(id, UP_STATE), cause: 16 },
})

/** A call from A to B in mid-call, whose connection was cut; then the list arrives. */
function resyncedCall(...list: readonly ListedChannel[]) {
  const { apply, push, mapping, trace } = createTracedMapping()
  apply(channelEvent('created', A), channelEvent('created', B, 0, DOWN), dialBegins(B))
  for (const id of [A, B]) apply(channelEvent('updated', id, 100, UP_STATE))
  for (const id of [A, B]) apply(bridgeEvent('entered', id))
  const resync = (...channels: readonly ListedChannel[]) =>
    push(mapping.reconcile(mapping.snapshot(), channels, T0 + 5_000))
  resync(...list)
  const endedBy = (id: string) => {
    const end = trace().events.find(({ callId, hook }) => callId === id && hook === 'channel_destroy')
    expect(end).toBeDefined()
    return end?.customChannelVars?.ended_by
  }
  return { apply, resync, endedBy }
}

describe('ended_by after a connection was lost', () => {
  it('is absent where the hangup request may have been missed', () => {
    const { apply, endedBy } = resyncedCall(listed(A), listed(B))
    apply(hangupEvent(B, 5_001, 16, UP_STATE), hangupEvent(A, 5_002, 16, UP_STATE))
    expect([endedBy(A), endedBy(B)]).toEqual([undefined, undefined])
  })

  it('is absent where the other leg has ended meanwhile', () => {
    const { apply, endedBy } = resyncedCall(listed(A, false))
    apply(hangupEvent(A, 5_002, 16, UP_STATE))
    expect([endedBy(A), endedBy(B)]).toEqual([undefined, undefined])
  })

  it('is absent for a leg that was first seen in mid-call', () => {
    const { apply, resync, endedBy } = resyncedCall(listed(A), listed(B))
    resync(listed(A), listed(B), listed(C, false))
    apply(hangupEvent(C, 5_002, 16, UP_STATE))
    expect(endedBy(C)).toBe(undefined)
  })

  it('names the phone whose request arrives afterwards', () => {
    const { apply, endedBy } = resyncedCall(listed(A), listed(B))
    apply(requests(B), hangupEvent(B, 5_001, 16, UP_STATE), hangupEvent(A, 5_002, 16, UP_STATE))
    expect([endedBy(A), endedBy(B)]).toEqual(['other_leg', 'this_leg'])
  })

  it.each<[string, readonly SwitchEvent[]]>([
    ['dials again', [channelEvent('created', C, 0, DOWN), dialBegins(C)]],
    [
      'is bridged again',
      [
        channelEvent('created', C, 0, UP_STATE),
        ...[bridgeEvent('entered', C, { ...bridge, id: 'b2' }), bridgeEvent('left', A)],
        bridgeEvent('entered', A, { ...bridge, id: 'b2' }),
      ],
    ],
  ])('is the switch again for a leg that %s and ends without a request', (_, events) => {
    const { apply, endedBy } = resyncedCall(listed(A, false))
    apply(...events, hangupEvent(A, 5_002, 16, UP_STATE))
    expect(endedBy(A)).toBe('switch')
  })

  it('is the switch for a leg that begins after the list was requested', () => {
    const { apply, endedBy } = resyncedCall(listed(A), listed(B))
    apply(channelEvent('created', C), hangupEvent(C, 20))
    expect(endedBy(C)).toBe('switch')
  })
})

describe('a leg during which the clock of Asterisk was set back', () => {
  const DURATIONS = [
    'durationSeconds',
    'ringingSeconds',
    'billingSeconds',
    'durationMs',
    'ringingMs',
    'billingMs',
  ]
  const message = 'the clock of the switch was set back during a leg: its durations are left out'

  it.each([
    ['before its end', 4_000, -3_600_000],
    ['before its answer', -3_600_000, 9_000],
  ])('has no durations if it was set back %s, which is one problem', (_, answeredMs, endedMs) => {
    const { apply, trace } = createTracedMapping()
    apply(channelEvent('created', A), channelEvent('updated', A, answeredMs, UP_STATE))
    apply(hangupEvent(A, endedMs, 16, UP_STATE))
    const { events, problems } = trace()
    expect(events.map(({ hook }) => hook)).toEqual(['channel_create', 'channel_answer', 'channel_destroy'])
    for (const field of DURATIONS) expect(events[2]).not.toHaveProperty(field)
    expect(problems).toEqual([{ kind: 'clock', message, callId: A }])
  })

  it('has its durations if the times differ by less than a second', () => {
    const { apply, trace } = createTracedMapping()
    apply(channelEvent('created', A), channelEvent('updated', A, 10, UP_STATE))
    apply(hangupEvent(A, 5, 16, UP_STATE))
    expect(trace().events[2]).toMatchObject({ durationSeconds: 0, ringingSeconds: 0, billingSeconds: 0 })
    expect(trace().problems).toEqual([])
  })
})
