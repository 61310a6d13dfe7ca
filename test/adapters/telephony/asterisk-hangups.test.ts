import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Channel, SwitchEvent } from '../../../adapters/telephony/asterisk/switch-event.js'
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

  it('by the switch, without a reason, is the 603 that it sends and does not report', () => {
    const declined = ['CALL_REJECTED', 'sip:603', 'switch']
    for (const cause of [0, 16, 31]) {
      const { apply, trace } = createTracedMapping()
      apply(channelEvent('created', A), hungUp(A, RING_STATE, cause))
      const end = trace().events.at(-1)
      expect([end?.hangupCause, end?.hangupCode, end?.customChannelVars?.ended_by]).toEqual(declined)
    }
    expect(endOf(A, dialled('NOANSWER'), hungUp(A, RING_STATE, 16))).toEqual([
      ...['NO_USER_RESPONSE', 'sip:603', 'switch'],
    ])
    const line = { ...RING_STATE, name: 'DAHDI/i1/1001-1' }
    const { apply, trace } = createTracedMapping()
    apply(channelEvent('created', A, 0, line), hungUp(A, line, 16))
    expect([trace().events.at(-1)?.hangupCause, trace().events.at(-1)?.hangupCode]).toEqual([
      ...['NORMAL_UNSPECIFIED', undefined],
    ])
  })

  it('after a Dial() that called nobody is the missing route, whatever the dial plan makes of it', () => {
    const notDialled = { kind: 'not_dialled', atMs: T0, channel: channel(A) } as const
    const end = (...events: readonly SwitchEvent[]) => {
      const { apply, trace } = createTracedMapping()
      apply(channelEvent('created', A), ...events)
      return [trace().events.at(-1)?.hangupCause, trace().events.at(-1)?.hangupCode]
    }
    const congested = [requested(A, BUSY_STATE, 34, 503), hungUp(A, BUSY_STATE, 34, 503)]
    expect(end(notDialled, ...congested)).toEqual(['NO_ROUTE_DESTINATION', 'sip:503'])
    expect(end(notDialled, hungUp(A, RING_STATE, 3, 404))).toEqual(['NO_ROUTE_DESTINATION', 'sip:404'])
    expect(end(notDialled, requested(A, BUSY_STATE, 17, 486), hungUp(A, BUSY_STATE, 17, 486))).toEqual([
      ...['USER_BUSY', 'sip:486'],
    ])
    expect(end(...congested)).toEqual(['NORMAL_CIRCUIT_CONGESTION', 'sip:503'])
    // The variable is set as well after a phone refused.
    expect(endOf(A, notDialled, ...congested)[0]).toBe('NORMAL_CIRCUIT_CONGESTION')
  })

  it('has no code where Asterisk gave up and derived a code from its own cause', () => {
    expect(endOf(B, hungUp(B, DOWN_STATE, 127, 500)).slice(1, 2)).toEqual([undefined])
    expect(endOf(B, hungUp(B, DOWN_STATE, 19, 480)).slice(1, 2)).toEqual([undefined])
  })
})

describe('ended_by in a fork', () => {
  const isLocal = { direct: false, 'through Local channels': true }
  const half = (n: number, name: 1 | 2) =>
    channel(`1767225600.${n}${name}`, { name: `Local/20${n}@inner-${n};${name}`, state: name === 1 ? 0 : 4 })
  const phone = (n: number) => channel(`1767225600.5${n}`, { name: `PJSIP/200${n}-1`, state: 5 })
  const dials = (caller: Channel, called: Channel): SwitchEvent => ({
    ...{ kind: 'dialled', atMs: T0, caller, called, status: '' },
  })
  const branch = (n: number, isThroughLocal: boolean): readonly SwitchEvent[] => {
    const created = [{ kind: 'created', atMs: T0, channel: { ...phone(n), state: 0 } } as const]
    if (!isThroughLocal) return [...created, dials(channel(A), phone(n))]
    const halves = [half(n, 1), half(n, 2)].map(
      (local) => ({ kind: 'created', atMs: T0, channel: local }) as const,
    )
    return [...halves, dials(channel(A), half(n, 1)), ...created, dials(half(n, 2), phone(n))]
  }
  const refuses = (n: number): SwitchEvent => ({
    ...{ kind: 'hangup_requested', atMs: T0, channel: phone(n), cause: 17, techCause: 486 },
  })
  const ends = (...legs: readonly Channel[]) =>
    legs.map((leg) => ({ kind: 'hung_up', atMs: T0, channel: leg, cause: 0 }) as const)
  const endedBy = (isThroughLocal: boolean, ...events: readonly SwitchEvent[]) => {
    const { apply, trace } = createTracedMapping()
    const branches = [1, 2, 3].flatMap((n) => branch(n, isThroughLocal))
    apply(
      channelEvent('created', A),
      ...branches,
      ...events,
      ...ends(phone(1), phone(2), phone(3), channel(A)),
    )
    return Object.fromEntries(
      trace().events.flatMap(({ hook, callId, customChannelVars }) =>
        hook === 'channel_destroy' ? [[callId, customChannelVars?.ended_by]] : [],
      ),
    )
  }
  const [P1, P2, P3] = [1, 2, 3].map((n) => phone(n).id) as [string, string, string]

  it.each(Object.entries(isLocal))('%s is the caller on each branch when the caller gives up', (_, local) => {
    const [other, own] = ['other_leg', 'this_leg']
    expect(endedBy(local, requested(A, RING_STATE, 127, 487))).toEqual({
      [A]: own,
      [P1]: other,
      [P2]: other,
      [P3]: other,
    })
    // A branch that refused before.
    const late = endedBy(local, refuses(2), requested(A, RING_STATE, 127, 487))
    expect(late).toEqual({ [A]: own, [P1]: other, [P2]: own, [P3]: other })
  })

  it('is the switch where it ends the Local channel of a branch that lost the race', () => {
    const request: SwitchEvent = { kind: 'hangup_requested', atMs: T0, channel: half(2, 2), cause: 26 }
    expect(endedBy(true, request)).toEqual({ [A]: 'switch', [P1]: 'switch', [P2]: 'switch', [P3]: 'switch' })
  })

  it.each(Object.entries(isLocal))('%s is a branch that refuses only if no other rings', (_, local) => {
    fc.assert(
      fc.property(fc.subarray([1, 2, 3]), fc.boolean(), (refusing, isReversed) => {
        const order = isReversed ? refusing.toReversed() : refusing
        const result = endedBy(local, ...order.map(refuses))
        const own = (n: number) => (refusing.includes(n) ? 'this_leg' : 'switch')
        expect(result).toEqual({
          ...{ [P1]: own(1), [P2]: own(2), [P3]: own(3) },
          [A]: refusing.length === 3 ? 'other_leg' : 'switch',
        })
      }),
    )
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
