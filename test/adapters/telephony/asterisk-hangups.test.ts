import { describe, expect, it } from 'vitest'
import type { SwitchEvent } from '../../../adapters/telephony/asterisk/switch-event.js'
import { A, B, channel, channelEvent, createTracedMapping, T0 } from './asterisk-switch-events.js'

const RING_STATE = { state: 4 }
const BUSY_STATE = { state: 7 }
const DOWN_STATE = { state: 0 }

const dialled = (status: string, over: object = {}): SwitchEvent => ({
  kind: 'dialled',
  atMs: T0,
  caller: channel(A),
  called: channel(B, DOWN_STATE),
  status,
  ...over,
})
const requested = (id: string, state: object, cause?: number, techCause?: number) =>
  ({ kind: 'hangup_requested', atMs: T0, channel: channel(id, state), cause, techCause }) as SwitchEvent
const hungUp = (id: string, state: object, cause: number, techCause?: number) =>
  ({ kind: 'hung_up', atMs: T0, channel: channel(id, state), cause, techCause }) as SwitchEvent

/** Returns the end of a leg after a call from A to B with these events. */
function endOf(id: string, ...events: readonly SwitchEvent[]) {
  const { apply, trace } = createTracedMapping()
  apply(channelEvent('created', A), channelEvent('created', B, 0, DOWN_STATE), dialled(''), ...events)
  const end = trace().events.find(({ callId, hook }) => callId === id && hook === 'channel_destroy')
  return [end?.hangupCause, end?.hangupCode, end?.customChannelVars?.ended_by]
}

describe('the end of a leg that was not answered', () => {
  it.each([
    ['302', requested(B, DOWN_STATE, 23, 302), hungUp(B, DOWN_STATE, 23, 302), 'sip:302'],
    [
      'a redirection that only the dial shows',
      dialled('CANCEL', { isForwarded: true }),
      hungUp(B, DOWN_STATE, 0),
      undefined,
    ],
  ])('by %s is a redirection', (_, first, second, code) => {
    expect(endOf(B, first, second).slice(0, 2)).toEqual(['REDIRECTION_TO_NEW_DESTINATION', code])
  })

  it('by a refusal has the cause of the Reason header where Asterisk reports both', () => {
    const busy = ['USER_BUSY', 'sip:486', 'this_leg']
    expect(endOf(B, requested(B, DOWN_STATE, 17, 486), hungUp(B, DOWN_STATE, 17, 486))).toEqual(busy)
    const rejected = ['CALL_REJECTED', 'sip:486', 'this_leg']
    for (const [first, second] of [
      [21, 17],
      [17, 21],
      [21, 21],
    ] as const) {
      const events = [requested(B, DOWN_STATE, first, 486), hungUp(B, DOWN_STATE, second, 486)]
      expect(endOf(B, ...events)).toEqual(rejected)
    }
  })

  it('without a cause has that of the final status code', () => {
    expect(endOf(B, requested(B, DOWN_STATE, 0, 404), hungUp(B, DOWN_STATE, 0, 404))).toEqual([
      ...['UNALLOCATED_NUMBER', 'sip:404', 'this_leg'],
    ])
    // The end overtook the hangup request.
    expect(endOf(B, hungUp(B, DOWN_STATE, 0, 404)).slice(0, 2)).toEqual(['UNALLOCATED_NUMBER', 'sip:404'])
    expect(endOf(A, hungUp(A, RING_STATE, 0, 404)).slice(0, 2)).toEqual(['UNALLOCATED_NUMBER', 'sip:404'])
  })

  it('has no code where Asterisk gave up and derived a code from its own cause', () => {
    expect(endOf(B, hungUp(B, DOWN_STATE, 127, 500)).slice(1, 2)).toEqual([undefined])
    expect(endOf(B, hungUp(B, DOWN_STATE, 19, 480)).slice(1, 2)).toEqual([undefined])
  })
})

describe('ended_by of a caller', () => {
  it.each([
    ['in state Busy', BUSY_STATE, 17, 486],
    ['before the state that shows the refusal', RING_STATE, 17, 486],
    ['of Congestion() before the state', RING_STATE, 34, 503],
  ])('is the switch when its phone acknowledges a refusal %s', (_, state, cause, code) => {
    const events = [requested(A, state, cause, code), hungUp(A, state, cause, code)]
    expect(endOf(A, ...events)[2]).toBe('switch')
  })

  it('is the phone when it cancels', () => {
    const events = [requested(A, RING_STATE, 127, 487), hungUp(A, RING_STATE, 127, 487)]
    expect(endOf(A, ...events)).toEqual(['ORIGINATOR_CANCEL', 'sip:487', 'this_leg'])
    expect(endOf(A, requested(A, RING_STATE), hungUp(A, RING_STATE, 0))[2]).toBe('this_leg')
  })
})
