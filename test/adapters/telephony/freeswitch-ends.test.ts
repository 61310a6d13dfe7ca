import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { propertyRuns } from '../../support/property-runs.js'
import { account, createdMs, hooks, mapAll, syntheticEvent, time } from './freeswitch-mapped.js'

const acme = account('acme')
const isAnswered = { 'Caller-Channel-Answered-Time': time(2_000) }
const create = (uuid: string, headers = {}) =>
  syntheticEvent('CHANNEL_CREATE', uuid, 0, { ...acme, ...headers })

/** Ends a leg with this disposition, `atMs` after its create. */
const end = (uuid: string, disposition: string, atMs = 9_000, headers = {}) =>
  syntheticEvent('CHANNEL_DESTROY', uuid, atMs, {
    ...acme,
    'Caller-Channel-Hangup-Time': time(atMs),
    'Hangup-Cause': 'NORMAL_CLEARING',
    variable_sip_hangup_disposition: disposition,
    variable_sip_network_ip: '192.0.2.1',
    ...headers,
  })
/** The switch's own refusal of a leg whose address does not answer. */
const unreached = syntheticEvent('CHANNEL_DESTROY', 'a', 100, {
  ...acme,
  'Hangup-Cause': 'NORMAL_TEMPORARY_FAILURE',
  variable_sip_hangup_disposition: 'recv_refuse',
})
const bridge = (a: string, b: string, atMs: number, headers = {}) =>
  syntheticEvent('CHANNEL_BRIDGE', a, atMs, {
    ...acme,
    ...isAnswered,
    'Bridge-A-Unique-ID': a,
    'Bridge-B-Unique-ID': b,
    'Caller-Channel-Bridged-Time': time(atMs),
    ...headers,
  })
const unbridge = (a: string, b: string, atMs: number) =>
  syntheticEvent('CHANNEL_UNBRIDGE', a, atMs, { 'Bridge-A-Unique-ID': a, 'Bridge-B-Unique-ID': b })

describe('ended_by', () => {
  const lastBridge = (code: string) => ({ variable_last_bridge_proto_specific_hangup_cause: code })
  const endedBy = (events: Parameters<typeof mapAll>[0], callId = 'a') =>
    mapAll(events).published.find((e) => e.callId === callId && e.hook === 'channel_destroy')
      ?.customChannelVars?.ended_by

  it.each([
    ['the phone hung up', end('a', 'recv_bye', 9_000, isAnswered), 'this_leg'],
    ['the phone cancelled', end('a', 'recv_cancel'), 'this_leg'],
    ['the phone refused', end('a', 'recv_refuse'), 'this_leg'],
    ['the switch hung up', end('a', 'send_bye', 9_000, isAnswered), 'switch'],
    ['the switch refused', end('a', 'send_refuse'), 'switch'],
    [
      'the other phone hung up',
      end('a', 'send_bye', 9_000, { ...isAnswered, ...lastBridge('sip:200') }),
      'other_leg',
    ],
    ['the called phone refused', end('a', 'send_refuse', 9_000, lastBridge('sip:486')), 'other_leg'],
    [
      'a phone refused, and the switch answered',
      end('a', 'send_bye', 9_000, { ...isAnswered, ...lastBridge('sip:486') }),
      'switch',
    ],
    ['nobody was reached', unreached, 'switch'],
  ])('%s', (_, event, expected) => {
    expect(endedBy([create('a'), event])).toBe(expected)
  })

  it('a callee that redirects ends its leg, whose code is not known', () => {
    const redirected = {
      'Hangup-Cause': 'REDIRECTION_TO_NEW_DESTINATION',
      variable_sip_invite_failure_status: '487',
    }
    const outbound = { 'Call-Direction': 'outbound' }
    const { published } = mapAll([create('a', outbound), end('a', 'send_cancel', 900, redirected)])
    expect(published.at(-1)).toMatchObject({
      hangupCause: 'REDIRECTION_TO_NEW_DESTINATION',
      customChannelVars: { ended_by: 'this_leg' },
    })
    expect(published.at(-1)).not.toHaveProperty('hangupCode')
  })

  it('the other leg of a leg that goes on is not the reason of its later end', () => {
    const both = [create('a'), create('b'), bridge('a', 'b', 3_000)]
    const left = [...both, unbridge('a', 'b', 5_000), end('b', 'recv_bye', 5_000, isAnswered)]
    const stale = { ...isAnswered, ...lastBridge('sip:200') }
    expect(endedBy([...left, end('a', 'send_bye', 5_020, stale)])).toBe('other_leg')
    expect(endedBy([...left, end('a', 'send_bye', 9_000, stale)])).toBe('switch')
  })

  it('each phone that rings when the caller gives up is ended by the caller, unless the switch ended that leg', () => {
    const rings = (uuid: string) =>
      create(uuid, { 'Call-Direction': 'outbound', 'Other-Leg-Unique-ID': 'a', 'Other-Type': 'originator' })
    const cancelled = (uuid: string, atMs: number) =>
      end(uuid, 'send_cancel', atMs, { 'Call-Direction': 'outbound', 'Hangup-Cause': 'ORIGINATOR_CANCEL' })
    const phones = ['b', 'c', 'd']
    const fork = (disposition: string) => [
      create('a'),
      ...phones.map(rings),
      cancelled('b', 5_000),
      end('a', disposition, 5_000),
      cancelled('c', 5_010),
      cancelled('d', 5_020),
    ]
    for (const phone of phones) expect(endedBy(fork('recv_cancel'), phone)).toBe('other_leg')
    for (const phone of ['c', 'd']) expect(endedBy(fork('send_refuse'), phone)).toBe('switch')
  })

  it('a phone that lost the race to answer is not the reason of a later end', () => {
    const events = [
      create('a'),
      create('b', { 'Other-Leg-Unique-ID': 'a' }),
      create('c', { 'Other-Leg-Unique-ID': 'a' }),
      bridge('a', 'c', 3_000),
      end('b', 'send_cancel', 3_010),
      end('c', 'recv_bye', 9_000, isAnswered),
      end('a', 'send_bye', 9_010, { ...isAnswered, ...lastBridge('sip:200') }),
    ]
    expect(endedBy(events)).toBe('other_leg')
    expect(endedBy(events, 'b')).toBe('switch')
  })

  it('is not known behind a loopback pair, which carries no code, unless the other phone has ended before', () => {
    const half = (uuid: string, other: string) =>
      create(uuid, { 'Channel-Name': `loopback/1-${uuid}`, variable_other_loopback_leg_uuid: other })
    const talk = [
      create('a'),
      half('la', 'lb'),
      half('lb', 'la'),
      create('b'),
      bridge('lb', 'b', 3_000),
      bridge('a', 'la', 3_010),
    ]
    expect(endedBy([...talk, end('b', 'send_bye', 9_000, isAnswered)], 'b')).toBeUndefined()
    const hungUp = [...talk, end('a', 'recv_bye', 9_000, isAnswered)]
    expect(endedBy([...hungUp, end('b', 'send_bye', 9_020, isAnswered)], 'b')).toBe('other_leg')
  })
})

describe('names', () => {
  it('have no backslashes of SIP', () => {
    const { published } = mapAll([
      create('a', {
        'Caller-Caller-ID-Name': 'Ann \\"The Boss\\" Lee \\\\o/',
        'Caller-Callee-ID-Name': 'Bob \\\\ Roe',
      }),
    ])
    expect(published[0]).toMatchObject({
      callerIdName: 'Ann "The Boss" Lee \\o/',
      calleeIdName: 'Bob \\ Roe',
    })
  })
})

describe('a leg that is first seen after a transfer', () => {
  const outbound = {
    'Call-Direction': 'outbound',
    'Channel-HIT-Dialplan': 'true',
    variable_sip_req_uri: '2001@acme.example',
    variable_sip_from_uri: '1001@127.0.0.1',
    variable_sip_to_uri: '2001@acme.example',
  }

  it('has its own parties, which the switch has swapped', () => {
    const { published } = mapAll([
      create('a', {
        ...outbound,
        'Caller-Caller-ID-Name': 'Outbound Call',
        'Caller-Caller-ID-Number': '2001',
        'Caller-Callee-ID-Name': 'Ann Lee',
        'Caller-Callee-ID-Number': '1001',
        'Caller-Destination-Number': '3000',
      }),
    ])
    expect(published[0]).toMatchObject({
      callerIdName: 'Ann Lee',
      callerIdNumber: '1001',
      calleeIdNumber: '2001',
      from: '1001@127.0.0.1',
      to: '2001@acme.example',
    })
    expect(published[0]).not.toHaveProperty('calleeIdName')
  })

  it('has its own caller where an older switch has only the callee', () => {
    const { published } = mapAll([
      create('a', {
        ...outbound,
        'Caller-Caller-ID-Number': '2001',
        variable_pre_transfer_caller_id_name: 'Ann Lee',
        variable_pre_transfer_caller_id_number: '1001',
      }),
    ])
    expect(published[0]).toMatchObject({
      callerIdName: 'Ann Lee',
      callerIdNumber: '1001',
      calleeIdNumber: '2001',
    })
  })

  it('has its own caller, which `uuid_bridge` has replaced by that of its partner', () => {
    const { published } = mapAll([
      create('a', {
        'Caller-Orig-Caller-ID-Name': 'Dee Moe',
        'Caller-Orig-Caller-ID-Number': '1004',
        'Caller-Caller-ID-Name': 'Cyd Fox',
        'Caller-Caller-ID-Number': '1003',
        'Caller-Callee-ID-Name': 'Dee Moe',
        'Caller-Callee-ID-Number': '1004',
        'Caller-Destination-Number': '3003',
      }),
    ])
    expect(published[0]).toMatchObject({
      callerIdName: 'Dee Moe',
      callerIdNumber: '1004',
      calleeIdNumber: '3003',
    })
    expect(published[0]).not.toHaveProperty('calleeIdName')
  })
})

describe('phones and loopback pairs', () => {
  it('a phone that rings behind a loopback pair names no half of it, also if it loses the race', () => {
    const half = (uuid: string, other: string, originator?: string) =>
      create(uuid, {
        'Channel-Name': `loopback/1-${uuid}`,
        variable_other_loopback_leg_uuid: other,
        ...(originator ? { 'Other-Leg-Unique-ID': originator } : {}),
      })
    const behind = (uuid: string, half: string) =>
      create(uuid, { 'Other-Leg-Unique-ID': half, 'Other-Leg-Channel-Name': `loopback/1-${half}` })
    const { published } = mapAll([
      create('a'),
      half('la', 'lb', 'a'),
      half('lb', 'la'),
      behind('b', 'lb'),
      behind('c', 'unknown'),
      end('b', 'send_cancel', 4_000),
      end('c', 'send_cancel', 4_000),
    ])
    const others = (callId: string) =>
      published.filter((e) => e.callId === callId).map((e) => e.otherLegCallId)
    expect(others('b')).toEqual(['a', 'a'])
    expect(others('c')).toEqual([undefined, undefined])
  })

  it('a leg that is handed over alone is not bridged with half of a pair', () => {
    const other = { 'Other-Leg-Channel-Name': 'loopback/2001-a' }
    const { published } = mapAll([create('a'), bridge('a', 'la', 3_000, other), bridge('a', 'b', 5_000)])
    const bridges = published.filter((e) => e.hook === 'channel_bridge')
    expect(bridges.map((e) => e.otherLegCallId)).toEqual(['b'])
  })

  it('a phone that was bridged directly is bridged again with the same phone after an unbridge', () => {
    const { published } = mapAll([
      create('a'),
      create('b'),
      bridge('a', 'b', 3_000),
      unbridge('a', 'b', 4_000),
      bridge('a', 'b', 5_000),
    ])
    expect(hooks(published.filter((e) => e.callId === 'a'))).toEqual(['create', 'answer', 'bridge', 'bridge'])
  })

  it('any order of bridges connects two phones at the ends of a chain once, and nobody else', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }).chain((pairs) =>
          fc.tuple(
            fc.constant(pairs),
            fc.shuffledSubarray(
              Array.from({ length: pairs + 1 }, (_, at) => at),
              { minLength: pairs + 1 },
            ),
            fc.boolean(),
          ),
        ),
        ([pairs, order, isBypassed]) => {
          // a — l0a l0b — l1a l1b — … — b
          const chain = ['a', ...Array.from({ length: pairs }, (_, at) => [`l${at}a`, `l${at}b`]).flat(), 'b']
          const legs = chain.map((uuid) => {
            const other = uuid.endsWith('a') ? uuid.replace(/a$/, 'b') : uuid.replace(/b$/, 'a')
            const isHalf = uuid.startsWith('l')
            return create(
              uuid,
              isHalf ? { 'Channel-Name': `loopback/${uuid}`, variable_other_loopback_leg_uuid: other } : {},
            )
          })
          const bridges = order.map((at, nth) =>
            bridge(chain[2 * at] as string, chain[2 * at + 1] as string, 3_000 + nth),
          )
          const bypass = isBypassed ? [bridge('a', 'b', 9_000)] : []
          const { published } = mapAll([...legs, ...bridges, ...bypass])
          const seen = published.filter((e) => e.hook === 'channel_bridge' && !e.isInternalLeg)
          expect(seen.map((e) => [e.callId, e.otherLegCallId]).sort()).toEqual([
            ['a', 'b'],
            ['b', 'a'],
          ])
          for (const { timestampMs } of seen) expect(timestampMs).toBe(createdMs + 3_000 + pairs)
        },
      ),
      { numRuns: propertyRuns(200) },
    )
  })
})

describe('durations', () => {
  it('are the time before the answer plus the billed time, for any times', () => {
    const ms = fc.integer({ min: 0, max: 5_000_000 })
    fc.assert(
      fc.property(ms, ms, fc.boolean(), (answerMs, talkMs, isTalk) => {
        const answeredAt = isTalk ? { 'Caller-Channel-Answered-Time': time(answerMs) } : {}
        const { published } = mapAll([create('a'), end('a', 'recv_bye', answerMs + talkMs, answeredAt)])
        const { durationSeconds, ringingSeconds, billingSeconds } = published.at(-1)!
        expect(durationSeconds).toBe(ringingSeconds! + billingSeconds!)
        expect(durationSeconds).toBe(Math.floor((answerMs + talkMs) / 1000))
        if (!isTalk) expect(billingSeconds).toBe(0)
        else expect(billingSeconds).toBe(Math.floor(talkMs / 1000))
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('are left out of a leg during which the clock was set back, which is a problem', () => {
    const { published, problems } = mapAll([
      create('a', isAnswered),
      end('a', 'recv_bye', -3_600_000, isAnswered),
    ])
    expect(hooks(published)).toEqual(['create', 'answer', 'destroy'])
    for (const field of ['durationSeconds', 'ringingSeconds', 'billingSeconds'])
      expect(published[2]).not.toHaveProperty(field)
    const message = 'the clock of the switch was set back during a leg: its durations are left out'
    expect(problems).toEqual([{ kind: 'clock', message, callId: 'a' }])
  })
})
