import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { ChannelEvent } from 'hookswitch'
import { accountFromAccountCode } from 'hookswitch/asterisk'
import { describe, expect, it } from 'vitest'
import type { SwitchEvent } from '../../../adapters/telephony/asterisk/switch-event.js'
import { restoreLeg } from '../../../adapters/telephony/freeswitch/saved-leg.js'
import { recordedCalls } from './asterisk-recorded.js'
import {
  amiEvents,
  createTracer,
  eventsOf,
  recordedLegId,
  recordedLegs,
  SWITCH_EVENTS,
  TRACES,
  traceOf,
  UNIQUE_IDS,
} from './asterisk-scenarios.js'
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
import { account, mapAll, syntheticEvent, time } from './freeswitch-mapped.js'
import { recorded, recordedEvents } from './freeswitch-recorded.js'

/** Of these legs ARI does not tell before the bridge who dials them: an attended transfer by feature code, and a program. */
const JOINED_LATER = ['1795174214.74', '1795174214.75', '1795174214.76', '1795174221.96']
/** The recording of a queue begins with its call. */
const BANNER = Buffer.from('Asterisk Call Manager/11.0.0\r\n')
const idOf = (sipCallId: string) => UNIQUE_IDS.get(sipCallId)!
const lastOf = (events: readonly ChannelEvent[], hook: string) =>
  events.findLast((event) => event.hook === `channel_${hook}`)
const partyOf = (event: ChannelEvent | undefined) => [
  event?.calleeIdNumber,
  event?.calleeIdName,
  event?.answeredBy,
]

describe.each(TRACES)('the calls of the recorded Asterisk over %s', (source, trace) => {
  const of = (call: string, index = 0) => eventsOf(trace, recordedLegId(call, index))

  it('name who answered from the answer on, also through Local channels', () => {
    for (const call of ['a01-caller-hangup-1', 'a13-local-kept-1', 'a14-local-optimised-1']) {
      const [caller, phone] = recordedLegs(call)
      const answeredBy = { number: phone!.phone, callId: idOf(phone!.callId) }
      for (const events of [of(call), of(call, 1)]) {
        expect(events[0]).not.toHaveProperty('answeredBy')
        for (const event of events.slice(1)) {
          expect(event.answeredBy).toMatchObject(answeredBy)
          expect(event.calleeIdNumber).toBe(phone!.phone)
        }
      }
      expect(of(call).map(({ to }) => to)).toEqual(of(call).map(() => caller!.dialled))
    }
  })

  it('name the phone that answered of those that rang', () => {
    const [, silent, answering] = recordedLegs('a11-forked-1')
    const events = of('a11-forked-1')
    expect(events.map(({ calleeIdNumber }) => calleeIdNumber)).toEqual(['2112', '2001', '2001', '2001'])
    expect(events[0]?.to).toBe('2112')
    expect(events.at(-1)?.to).toBe('2112')
    const ids = [silent, answering].map((leg) => idOf(leg!.callId))
    expect(events.slice(1).map(({ answeredBy }) => answeredBy?.callId)).toEqual(
      Array(3).fill(ids[[silent, answering].findIndex((leg) => leg!.answered)]),
    )
  })

  it('name the party that a call is transferred to', () => {
    const caller = of('a17-refer-1')
    const target = recordedLegs('a17-refer-1')[2]!
    expect(lastOf(caller, 'answer')?.calleeIdNumber).toBe('2011')
    expect(caller.filter(({ hook }) => hook === 'channel_bridge').map((e) => e.calleeIdNumber)).toEqual([
      '2011',
      '2017',
    ])
    expect(lastOf(caller, 'destroy')?.answeredBy).toMatchObject({
      number: '2017',
      callId: idOf(target.callId),
    })
    expect(lastOf(caller, 'destroy')?.to).toBe('2011')
  })

  it('name nobody where the switch answered, or nobody did', () => {
    for (const call of ['a20-self-answer-1', 'a21-self-hangup-1', 'a05-no-answer-1', 'a03-busy-1']) {
      for (const event of of(call)) expect(event).not.toHaveProperty('answeredBy')
    }
  })

  it('have one id each, that of the first leg', () => {
    for (const { call, legs, scenario } of recordedCalls) {
      // An attended transfer joins two calls.
      if (scenario === 'a30-attended-sip' || legs.every(({ callId }) => !UNIQUE_IDS.has(callId))) continue
      if (source === 'ARI' && legs.some(({ callId }) => JOINED_LATER.includes(idOf(callId)))) continue
      const ids = legs.flatMap(({ callId }) => eventsOf(trace, callId).map((event) => event.callGroupId))
      expect([call, ...new Set(ids)]).toEqual([call, idOf(legs[0]!.callId)])
    }
  })

  it('have the id of the older call once an attended transfer has joined them', () => {
    const [caller, , , target] = recordedLegs('a30-attended-sip-1')
    expect(lastOf(eventsOf(trace, target!.callId), 'destroy')?.callGroupId).toBe(idOf(caller!.callId))
    expect(new Set(eventsOf(trace, caller!.callId).map((event) => event.callGroupId)).size).toBe(1)
  })

  it('come from extensions', () => {
    for (const event of trace.events) {
      if (event.isInternalLeg) expect(event).not.toHaveProperty('endpoint')
      else expect(event.endpoint).toEqual({ kind: 'extension', name: expect.stringMatching(/^[12]\d{3}$/) })
    }
  })
})

describe('the calls of an Asterisk', () => {
  const dial = (status: string, from: string, to: string, over: Record<string, unknown> = {}) =>
    ({
      kind: 'dialled',
      atMs: T0 + 20,
      caller: channel(from),
      called: channel(to, { name: `PJSIP/2001-${to}`, state: 0, ...over }),
      status,
    }) as SwitchEvent
  const phone = (id: string, number: string, state: number, over: Record<string, unknown> = {}) =>
    channelEvent(state === 0 ? 'created' : 'updated', id, 10 + state, {
      name: `PJSIP/${number}-${id}`,
      callerNumber: number,
      state,
      ...over,
    })

  it('that are picked up were answered by the phone that took the channel', () => {
    const { apply, trace } = createTracedMapping()
    apply(channelEvent('created', A), phone(B, '2001', 0), dial('', A, B))
    apply(phone(B, '1003', 6, { callerName: 'Carol' }))
    apply(bridgeEvent('entered', B, bridge, { name: `PJSIP/1003-${B}`, callerNumber: '1003', ...UP_STATE }))
    apply(channelEvent('updated', A, 30, UP_STATE), bridgeEvent('entered', A))
    const events = trace().events.filter(({ callId }) => callId === A)
    expect(partyOf(lastOf(events, 'create'))).toEqual(['2001', undefined, undefined])
    expect(lastOf(events, 'bridge')?.answeredBy?.callId).toBe(B)
    expect(lastOf(events, 'answer')?.calleeIdNumber).toBe('1003')
  })

  it('name nobody where the phone that answered was never put through', () => {
    const { apply, trace } = createTracedMapping()
    apply(channelEvent('created', A), phone(B, '2001', 0), dial('', A, B), phone(B, '2001', 6))
    apply(hangupEvent(B, 40, 16, { name: `PJSIP/2001-${B}`, ...UP_STATE }), hangupEvent(A, 50))
    const ends = trace().events.filter(({ hook }) => hook === 'channel_destroy')
    expect(ends.map(({ answeredBy }) => answeredBy?.callId)).toEqual([B, undefined])
  })

  it('of two phones that called were answered by the later one', () => {
    const { apply, trace } = createTracedMapping()
    apply(channelEvent('created', A), channelEvent('updated', A, 1, UP_STATE))
    apply(channelEvent('created', C, 5, { callerNumber: '1003' }))
    apply(channelEvent('updated', C, 6, UP_STATE), bridgeEvent('entered', A), bridgeEvent('entered', C))
    const bridges = trace().events.filter(({ hook }) => hook === 'channel_bridge')
    expect(bridges.map(({ answeredBy }) => answeredBy)).toEqual(Array(2).fill({ number: '1003', callId: C }))
  })

  it.each([
    ['PJSIP/1001-1', {}, undefined, 'extension'],
    ['PJSIP/bob-1', { callerNumber: 'bob' }, undefined, 'extension'],
    ['PJSIP/bob-1', {}, undefined, undefined],
    ['PJSIP/voip-1', { context: 'from-trunk-pjsip-voip' }, undefined, 'trunk'],
    ['SIP/900-1', { context: 'from-pstn' }, undefined, 'trunk'],
    ['PJSIP/voip-1', { context: 'from-trunkless' }, undefined, undefined],
    ['PJSIP/voip-1', {}, ['voip'], 'trunk'],
    ['PJSIP/bob-1', { context: 'from-trunk' }, ['voip'], 'extension'],
  ] as const)('from %s with %j and the trunks %j are of the kind %s', (name, over, trunks, kind) => {
    const { apply, trace } = createTracedMapping(trunks ? { trunks } : {})
    apply(channelEvent('created', A, 0, { name, ...over }))
    expect(trace().events[0]?.endpoint?.kind).toBe(kind)
    expect(trace().events[0]?.endpoint?.name).toBe(name.slice(name.indexOf('/') + 1, -2))
  })

  it('to a number beside the endpoint lead to a trunk', () => {
    const { apply, trace } = createTracedMapping()
    apply(channelEvent('created', A), phone(B, '2001', 0))
    apply({ ...dial('', A, B), dialString: '0044123@carrier' } as SwitchEvent)
    expect(trace().events.at(-1)).toMatchObject({ callId: B, endpoint: { kind: 'trunk', name: '2001' } })
  })

  it('keep who answered, their id and their endpoint over a restart', () => {
    const first = createTracer({ accountOf: accountFromAccountCode() })
    first.apply(channelEvent('created', A), phone(B, '2001', 0))
    first.apply(dial('', A, B), phone(B, '2001', 6))
    first.apply(channelEvent('updated', A, 30, { ...UP_STATE, linkedId: '1767225500.7' }))
    const saved = first.mapping.savable.save(A)!
    const later = createTracer({ accountOf: accountFromAccountCode() })
    expect(later.mapping.savable.restore(A, JSON.parse(JSON.stringify(saved)))).toBe(true)
    later.push(later.mapping.reconcile(later.mapping.snapshot(), [], T0 + 9_000))
    const [answer] = first.trace().events.filter((e) => e.callId === A && e.hook === 'channel_answer')
    const { callGroupId, answeredBy, endpoint } = answer!
    expect([answeredBy?.callId, callGroupId]).toEqual([B, '1767225500.7'])
    expect(later.trace().events[0]).toMatchObject({
      hook: 'channel_destroy',
      callGroupId,
      answeredBy,
      endpoint,
    })
  })
})

describe('the queue of a live Asterisk with members behind Local channels', () => {
  const bytes = gunzipSync(
    readFileSync(new URL('asterisk-recordings/queue-local-members.ami.txt.gz', import.meta.url)),
  )
  const { events } = traceOf(amiEvents([BANNER, bytes]), { accountOf: () => 'acme' })

  it('was answered by the phone of the agent, in one call', () => {
    const [{ callId } = { callId: '' }] = events
    const caller = events.filter((event) => event.callId === callId)
    const phone = events.find(({ endpoint }) => endpoint?.name === '1003')!
    expect(lastOf(caller, 'answer')?.answeredBy).toMatchObject({ number: '1003', callId: phone.callId })
    expect(lastOf(caller, 'destroy')?.calleeIdNumber).toBe('1003')
    expect(new Set(events.map(({ callGroupId }) => callGroupId))).toEqual(new Set([callId]))
  })
})

describe('the calls of the recorded FreeSWITCH', () => {
  const { of } = mapAll(recordedEvents('json'))

  it('have one id each, that of the first leg, but for those that were joined', () => {
    const parked = recorded.calls.find(({ id }) => id === 'C22')!.legs[0]!.uuid
    for (const { id, legs } of recorded.calls) {
      const ids = new Set(legs.flatMap(({ uuid }) => of(uuid).map((event) => event.callGroupId)))
      // Two parked callers are bridged.
      expect([id, ...ids]).toEqual([id, legs[0]!.uuid, ...(id === 'C23' ? [parked] : [])])
    }
  })

  it('name who answered, from the answer on', () => {
    let answered = 0
    for (const { legs } of recorded.calls) {
      const [caller, ...others] = legs
      if (caller?.direction !== 'inbound' || !caller.bridgedWith) continue
      const end = lastOf(of(caller.uuid) as ChannelEvent[], 'destroy')
      const partner = others.find(({ uuid }) => uuid === end?.answeredBy?.callId)
      if (!partner) continue
      answered += 1
      expect(partner).toMatchObject({ answered: true, direction: 'outbound' })
      expect(of(partner.uuid).at(-1)?.answeredBy?.callId).toBe(partner.uuid)
      expect(end?.calleeIdNumber).toBe(of(partner.uuid)[0]?.calleeIdNumber)
    }
    expect(answered).toBeGreaterThan(20)
  })

  it('name nobody before the answer', () => {
    for (const { legs } of recorded.calls)
      for (const { uuid, internal } of legs) {
        expect(of(uuid)[0]).not.toHaveProperty('answeredBy')
        if (internal) for (const event of of(uuid)) expect(event).not.toHaveProperty('answeredBy')
      }
  })
})

describe('the calls of a FreeSWITCH', () => {
  const leg = (name: string, uuid: string, atMs: number, headers: Record<string, string> = {}) =>
    syntheticEvent(name, uuid, atMs, { ...account('acme'), ...headers })
  const callee = {
    'Call-Direction': 'outbound',
    'Other-Leg-Unique-ID': 'a',
    'Caller-Caller-ID-Number': '1001',
    'Caller-Callee-ID-Number': '1003',
    'Caller-Callee-ID-Name': 'Carol',
    'Caller-Channel-Created-Time': time(5),
  }
  const answeredAt = (ms: number) => ({ 'Caller-Channel-Answered-Time': time(ms) })

  it('to a ring group become calls to who answered', () => {
    const dialled = {
      'Caller-Destination-Number': '602',
      variable_sip_from_uri: '1001@acme.example',
      variable_sip_to_uri: '602@acme.example',
      variable_sip_req_uri: '602@acme.example',
    }
    const { of } = mapAll([
      leg('CHANNEL_CREATE', 'a', 0, dialled),
      leg('CHANNEL_CREATE', 'b', 5, callee),
      leg('CHANNEL_ANSWER', 'b', 50, { ...callee, ...answeredAt(50) }),
      leg('CHANNEL_ANSWER', 'a', 60, { ...dialled, ...answeredAt(60) }),
      leg('CHANNEL_BRIDGE', 'a', 70, { ...dialled, ...answeredAt(60), 'Bridge-B-Unique-ID': 'b' }),
      leg('CHANNEL_DESTROY', 'b', 90, { ...callee, ...answeredAt(50) }),
      leg('CHANNEL_DESTROY', 'a', 95, { ...dialled, ...answeredAt(60) }),
    ])
    const carol = { number: '1003', name: 'Carol', callId: 'b' }
    expect(of('a').map((event) => partyOf(event as ChannelEvent))).toEqual([
      ['602', undefined, undefined],
      ...Array(3).fill(['1003', 'Carol', carol]),
    ])
    expect(of('a').map(({ originalNumber }) => originalNumber)).toContain('602')
    expect(new Set(of('a').flatMap(({ to, request }) => [to, request]))).toEqual(
      new Set(['602@acme.example']),
    )
    expect(of('b').map(({ answeredBy }) => answeredBy)).toEqual([undefined, carol, carol, carol])
  })

  it('that are picked up were answered by the phone that picked them up', () => {
    const picking = { 'Caller-Channel-Created-Time': time(20), 'Caller-Caller-ID-Number': '1003' }
    const { of } = mapAll([
      leg('CHANNEL_CREATE', 'a', 0),
      leg('CHANNEL_CREATE', 'p', 20, picking),
      leg('CHANNEL_BRIDGE', 'a', 30, { 'Bridge-B-Unique-ID': 'p' }),
      leg('CHANNEL_ANSWER', 'p', 31, { ...picking, ...answeredAt(31) }),
      leg('CHANNEL_ANSWER', 'a', 32, answeredAt(32)),
    ])
    expect(of('a').at(-1)?.answeredBy).toEqual({ number: '1003', callId: 'p' })
    expect(of('a').at(-1)?.calleeIdNumber).toBe('1003')
    expect([...of('a'), ...of('p')].map(({ callGroupId }) => callGroupId)).toEqual(
      expect.arrayContaining(['a']),
    )
    expect(of('p').at(-1)?.callGroupId).toBe('a')
  })

  it('of which only one leg is known name who answered from the bridge on', () => {
    const other = {
      'Bridge-B-Unique-ID': 'b',
      'Other-Leg-Direction': 'outbound',
      'Other-Leg-Callee-ID-Number': '1003',
      'Other-Leg-Callee-ID-Name': 'Outbound Call',
      'Other-Leg-Channel-Answered-Time': time(50),
    }
    const { of } = mapAll([
      leg('CHANNEL_CREATE', 'a', 0),
      leg('CHANNEL_BRIDGE', 'a', 70, { ...answeredAt(60), ...other }),
    ])
    expect(of('a').at(-1)).toMatchObject({
      hook: 'channel_bridge',
      calleeIdNumber: '1003',
      answeredBy: { number: '1003', callId: 'b' },
    })
    expect(of('a').at(-1)).not.toHaveProperty('calleeIdName')
  })

  it('name nobody where the phone that answered was never put through', () => {
    const { of } = mapAll([
      leg('CHANNEL_CREATE', 'a', 0),
      leg('CHANNEL_CREATE', 'b', 5, callee),
      leg('CHANNEL_ANSWER', 'b', 50, { ...callee, ...answeredAt(50) }),
      leg('CHANNEL_DESTROY', 'b', 60, { ...callee, ...answeredAt(50) }),
      leg('CHANNEL_DESTROY', 'a', 90),
    ])
    expect(of('b').at(-1)?.answeredBy?.callId).toBe('b')
    expect(of('a').at(-1)).not.toHaveProperty('answeredBy')
  })

  it.each([
    [{ variable_sip_gateway_name: 'carrier' }, { kind: 'gateway', name: 'carrier' }],
    [{ variable_sip_gateway: 'carrier' }, { kind: 'gateway', name: 'carrier' }],
    [
      { variable_user_name: '1001', variable_domain_name: 'acme.example' },
      { kind: 'extension', name: '1001@acme.example' },
    ],
    [
      { variable_dialed_user: '1001', variable_dialed_domain: 'acme.example' },
      { kind: 'extension', name: '1001@acme.example' },
    ],
    [{ variable_sip_acl_authed_by: 'carriers' }, { kind: 'trunk', name: 'carriers' }],
    [
      { 'variable_ecallmgr_Authorizing-Type': 'device', 'variable_ecallmgr_Authorizing-ID': 'd1' },
      { kind: 'extension', name: 'd1' },
    ],
    [
      { 'variable_ecallmgr_Authorizing-Type': 'resource', 'variable_ecallmgr_Authorizing-ID': 'r1' },
      { kind: 'trunk', name: 'r1' },
    ],
    [
      { 'variable_ecallmgr_Authorizing-Type': 'constructor', 'variable_ecallmgr_Authorizing-ID': 'r1' },
      undefined,
    ],
    [{}, undefined],
  ])('with %j lead to %j', (variables, endpoint) => {
    const { of } = mapAll([leg('CHANNEL_CREATE', 'a', 0, variables)])
    expect(of('a')[0]?.endpoint).toEqual(endpoint)
  })

  it('keep who answered, their id and their endpoint over a restart', () => {
    const { mapping, of } = mapAll([
      leg('CHANNEL_CREATE', 'a', 0, { variable_user_name: '1001' }),
      leg('CHANNEL_CREATE', 'b', 5, callee),
      leg('CHANNEL_ANSWER', 'b', 50, { ...callee, ...answeredAt(50) }),
      leg('CHANNEL_ANSWER', 'a', 60, answeredAt(60)),
    ])
    const [, restored] = restoreLeg('a', JSON.parse(JSON.stringify(mapping.savable.save('a'))))!
    const { answeredBy, endpoint, callGroupId } = of('a').at(-1)!
    expect(answeredBy?.callId).toBe('b')
    expect(restored).toMatchObject({ answeredBy, endpoint, group: { id: callGroupId } })
  })
})

describe('a stream that names the whole call', () => {
  it('has the same ids over ARI as over AMI', () => {
    const ids = (stream: keyof typeof SWITCH_EVENTS) => {
      const { events } = traceOf(SWITCH_EVENTS[stream])
      const all = events.map(({ callId, hook, callGroupId }) => [callId, hook, callGroupId].join(' '))
      return new Set(all.filter((line) => !JOINED_LATER.some((id) => line.startsWith(`${id} `))))
    }
    expect(ids('ARI')).toEqual(ids('AMI'))
  })
})
