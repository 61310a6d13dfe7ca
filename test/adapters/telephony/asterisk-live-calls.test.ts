import type { ChannelEvent } from 'hookswitch'
import { accountFromVariable } from 'hookswitch/asterisk'
import { describe, expect, it } from 'vitest'
import { STREAMS } from './asterisk-live-streams.js'
import { hooksOf, traceOf } from './asterisk-scenarios.js'

const accountOf = accountFromVariable('ACCOUNT_ID')

/** The legs of the calls from a phone to an extension, in order, each with its events. */
function legsOf(events: readonly ChannelEvent[], from: string, to: string): readonly ChannelEvent[][] {
  const legs = new Map<string, ChannelEvent[]>()
  for (const event of events) legs.set(event.callId, [...(legs.get(event.callId) ?? []), event])
  const all = [...legs.values()].sort(
    ([left], [right]) => (left?.timestampMs ?? 0) - (right?.timestampMs ?? 0),
  )
  const first = all.findIndex(
    ([create]) => create?.direction === 'inbound' && create.from === from && create.to === to,
  )
  const next = all.findIndex(
    ([create], index) => index > first && create?.direction === 'inbound' && !create.isInternalLeg,
  )
  return all.slice(first, next < 0 ? undefined : next)
}

/** A leg without what differs: `2001 create answer bridge destroy`. */
const outline = (events: readonly ChannelEvent[]) => `${events[0]?.to} ${hooksOf(events).join(' ')}`
const endOf = (events: readonly ChannelEvent[] = []) => {
  const end = events.at(-1)
  return [end?.hangupCause, end?.hangupCode, end?.customChannelVars?.ended_by]
}
type End = [cause: string, code: string | undefined, endedBy: string]
const ANSWERED = 'create answer bridge destroy'

describe.each(STREAMS)('calls on a live Asterisk, over %s', (_, stream) => {
  const { events, unknown, problems, openLegs } = traceOf(stream, { accountOf })

  it('end, each with its create, and without problems', () => {
    expect([problems, openLegs]).toEqual([[], 0])
    for (const leg of new Set(events.map(({ callId }) => callId))) {
      const hooks = hooksOf(events.filter(({ callId }) => callId === leg))
      expect([hooks[0], hooks.at(-1)]).toEqual(['create', 'destroy'])
    }
    // Halves of Local channels, and two calls to the trunk by a phone whose variable is not inherited.
    const phones = unknown.filter(({ events: [create] }) => !create?.isInternalLeg)
    expect(phones.map(({ events: [create] }) => create?.to)).toEqual(['00441234', '551234'])
  })

  it('are published as soon as the dial plan sets the account, also in a Stasis application', () => {
    for (const [to, afterMs] of [
      ['1', 20],
      ['5', 1_050],
      ['3', 20],
    ] as const) {
      const [caller] = legsOf(events, 'late', to)
      expect(caller?.[0]).toMatchObject({ hook: 'channel_create', accountId: 'alpha' })
      const id = caller?.[0]?.callId
      const at = stream.filter((switchEvent) => 'channel' in switchEvent && switchEvent.channel.id === id)
      const known = at.find(
        (switchEvent) => 'channel' in switchEvent && switchEvent.channel.variable('ACCOUNT_ID') !== undefined,
      )
      expect(known?.kind).toBe('variable_set')
      expect((known?.atMs ?? Number.NaN) - (at[0]?.atMs ?? Number.NaN)).toBeLessThan(afterMs)
    }
  })

  it('keep the account of a phone that has its own, and inherit that of the caller otherwise', () => {
    const accounts = (to: string) => legsOf(events, 'late', to).map(([create]) => create?.accountId)
    expect(accounts('2')).toEqual(['alpha', 'beta'])
    expect(accounts('6')).toEqual(['alpha', 'alpha'])
    expect(accounts('4')).toEqual(['alpha', 'alpha'])
    expect(legsOf(events, '1002', '2001').map(([create]) => create?.accountId)).toEqual(['beta', 'alpha'])
  })

  it('have the dialled number as callee', () => {
    expect(legsOf(events, 'late', '4').map(([create]) => create?.to)).toEqual(['4', '00441234'])
    expect(legsOf(events, 'late', '2').map(([create]) => create?.calleeIdNumber)).toEqual(['2', '2005'])
  })

  it.each([
    // A phone that redirects, by each `redirect_method`; `uri_pjsip` does it inside the leg.
    ['2013', ['NORMAL_CLEARING', 'REDIRECTION_TO_NEW_DESTINATION', 'NORMAL_CLEARING']],
    ['2014', ['NORMAL_CLEARING', 'REDIRECTION_TO_NEW_DESTINATION', 'NORMAL_CLEARING']],
    ['2015', ['NORMAL_CLEARING', 'NORMAL_CLEARING']],
  ])('to %s are redirected', (to, causes) => {
    const legs = legsOf(events, '1001', to).filter(([create]) => !create?.isInternalLeg)
    expect(legs.map((leg) => leg.at(-1)?.hangupCause)).toEqual(causes)
  })

  it.each<[string, End, End?]>([
    ['2002', ['USER_BUSY', 'sip:486', 'other_leg'], ['USER_BUSY', 'sip:486', 'this_leg']],
    [
      '2004',
      ['NORMAL_CIRCUIT_CONGESTION', 'sip:503', 'other_leg'],
      ['NORMAL_CIRCUIT_CONGESTION', 'sip:503', 'this_leg'],
    ],
    ['2103', ['USER_BUSY', 'sip:486', 'switch'], ['NO_ANSWER', undefined, 'switch']],
    ['2104', ['USER_BUSY', 'sip:486', 'switch'], ['NO_USER_RESPONSE', undefined, 'switch']],
    ['3001', ['USER_BUSY', 'sip:486', 'switch']],
    ['3002', ['CALL_REJECTED', 'sip:403', 'switch']],
    ['3005', ['USER_BUSY', 'sip:486', 'switch']],
    ['3006', ['NORMAL_CIRCUIT_CONGESTION', 'sip:503', 'switch']],
    ['3009', ['USER_BUSY', 'sip:486', 'switch']],
    ['3013', ['SUBSCRIBER_ABSENT', 'sip:480', 'switch']],
    ['3014', ['ORIGINATOR_CANCEL', 'sip:487', 'this_leg']],
  ])('to %s end with their cause and code, by who ended them', (to, caller, callee) => {
    const [inbound, outbound] = legsOf(events, '1001', to)
    expect(endOf(inbound)).toEqual(caller)
    if (callee) expect(endOf(outbound)).toEqual(callee)
  })

  it.each(['4001', '4002', '4003', '4004'])(
    'to %s through Local channels name and bridge only the phones',
    (to) => {
      // What a webhook without `include_internal_legs` receives.
      const legs = legsOf(events, '1001', to)
      const [caller = [], ...callees] = legs
      const answered = callees.find(([create]) => create?.to === '2001') ?? []
      expect(outline(caller)).toBe(`${to} ${ANSWERED}`)
      expect(outline(answered)).toBe(`2001 ${ANSWERED}`)
      const [callerId, answeredId] = [caller[0]?.callId, answered[0]?.callId]
      for (const { otherLegCallId } of answered) expect(otherLegCallId).toBe(callerId)
      expect(caller.slice(1).map(({ otherLegCallId }) => otherLegCallId)).toEqual([
        ...[answeredId, answeredId, answeredId],
      ])
      // The phone of the other branch of the fork, which lost.
      const lost = callees.filter((leg) => leg !== answered)
      expect(lost.map(outline)).toEqual(['4001', '4002'].includes(to) ? ['2006 create destroy'] : [])
      for (const { otherLegCallId } of lost.flat()) expect(otherLegCallId).toBe(callerId)
    },
  )

  it('have durations that add up', () => {
    const ends = events.filter(({ hook }) => hook === 'channel_destroy')
    for (const { durationSeconds, ringingSeconds = 0, billingSeconds = 0 } of ends)
      expect(ringingSeconds + billingSeconds).toBe(durationSeconds)
  })
})
