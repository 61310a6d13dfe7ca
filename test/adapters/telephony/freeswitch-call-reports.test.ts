import { describe, expect, it } from 'vitest'
import { accountFromRealm } from '../../../adapters/telephony/freeswitch/account-resolver.js'
import { subscribedEvents } from '../../../adapters/telephony/freeswitch/subscriptions.js'
import { DEFAULT_OPTIONAL_HOOKS, OPTIONAL_HOOKS } from '../../../adapters/telephony/source/optional-hooks.js'
import { account, createdMs, mapAll, syntheticEvent, time } from './freeswitch-mapped.js'
import { recorded, recordedEvents } from './freeswitch-recorded.js'

const ALL = { optionalHooks: OPTIONAL_HOOKS }
const OPTIONAL: ReadonlySet<string> = new Set(OPTIONAL_HOOKS)

type Headers = Readonly<Record<string, string>>

const of = (name: string, uuid: string, atMs: number, headers: Headers = {}) =>
  syntheticEvent(name, uuid, atMs, { ...account('acme'), ...headers })
const custom = (subclass: string, uuid: string, atMs: number, headers: Headers) =>
  of('CUSTOM', uuid, atMs, { 'Event-Subclass': subclass, ...headers })
/** A phone that is dialled for a leg. */
const phone = (uuid: string, caller: string, headers: Headers = {}) =>
  of('CHANNEL_CREATE', uuid, 0, {
    'Call-Direction': 'outbound',
    'Channel-Name': `sofia/internal/${uuid}@acme.example`,
    'Other-Leg-Unique-ID': caller,
    ...headers,
  })
const valet = (action: string, atMs: number, headers: Headers = {}) =>
  custom('valet_parking::info', 'a', atMs, { Action: action, 'Valet-Extension': '5901', ...headers })
const queue = (action: string, atMs: number, headers: Headers = {}) =>
  custom('callcenter::info', 'ignored', atMs, {
    'CC-Action': action,
    'CC-Queue': 'support@default',
    'CC-Member-Session-UUID': 'a',
    ...headers,
  })

/** The events of optional hooks that these events yield. */
const reportsOf = (
  ...events: Parameters<typeof mapAll>[0] extends Iterable<infer Event> ? Event[] : never
) => {
  const { published, problems } = mapAll(events, ALL)
  expect(problems).toEqual([])
  return published.filter(({ hook }) => OPTIONAL.has(hook))
}

describe('what FreeSWITCH reports of a call', () => {
  it('is subscribed to behind all other events, the keys only if they are selected', () => {
    const byDefault = subscribedEvents('CHANNEL_DESTROY', ['CHANNEL_EXECUTE'], DEFAULT_OPTIONAL_HOOKS)
    expect(byDefault.slice(byDefault.indexOf('CHANNEL_DESTROY'))).toEqual([
      'CHANNEL_DESTROY',
      'CHANNEL_EXECUTE',
      'RECORD_START',
      'RECORD_STOP',
      'CUSTOM',
      'valet_parking::info',
      'vm::maintenance',
      'callcenter::info',
      'conference::maintenance',
    ])
    expect(subscribedEvents('CHANNEL_DESTROY', [], ['channel_dtmf']).at(-1)).toBe('DTMF')
    expect(subscribedEvents('CHANNEL_DESTROY', [], ['channel_transferee'])).not.toContain('CUSTOM')
  })

  it('changes nothing in the events of the recorded legs', () => {
    const selected = mapAll(recordedEvents('json'), ALL).published.filter(({ hook }) => !OPTIONAL.has(hook))
    expect(selected).toEqual(mapAll(recordedEvents('json')).published)
  })

  it('of the recorded transfers by REFER is both legs, and nothing of transfers by the switch', () => {
    const { published } = mapAll(recordedEvents('json'), ALL)
    const transfers = published.filter(({ hook }) => hook.startsWith('channel_transfer'))
    expect(
      transfers.map(({ hook, callId, transferType, transferTo }) => [hook, callId, transferType, transferTo]),
    ).toEqual([
      ['channel_transferor', '763fe4fb-a871-4106-b812-bd9482ea3111', 'blind', '2001'],
      ['channel_transferee', 'c20.5f3c67bd@phone.acme.example', 'blind', '2001'],
      ['channel_transferor', 'c21.5f3c86ac@phone.acme.example', 'blind', '3000'],
      ['channel_transferee', '8bcdf538-95b7-4316-b939-29c872f14b15', 'blind', '3000'],
    ])
  })

  it('of an attended transfer names the leg that the caller is transferred to', () => {
    const events = reportsOf(
      of('CHANNEL_CREATE', 'caller', 0),
      phone('b', 'caller'),
      of('CHANNEL_CREATE', 'b2', 1),
      phone('c', 'b2', { 'Caller-Callee-ID-Number': '2002' }),
      of('CHANNEL_DESTROY', 'b', 9, {
        'Call-Direction': 'outbound',
        variable_transfer_disposition: 'recv_replace',
        variable_transfer_to: 'att:c',
      }),
    )
    const details = { transferType: 'attended', transferTo: '2002', targetCallId: 'c' }
    expect(events).toMatchObject([
      { hook: 'channel_transferor', callId: 'b', ...details },
      { hook: 'channel_transferee', callId: 'caller', ...details },
    ])
  })

  it('of a transfer is one event for each leg, however often the switch shows it', () => {
    const shown = { variable_transfer_to: 'blind:b', variable_transfer_destination: 'blind:2002' }
    const events = reportsOf(
      of('CHANNEL_CREATE', 'a', 0),
      phone('b', 'a'),
      of('CHANNEL_UNBRIDGE', 'a', 5, shown),
      of('CHANNEL_DESTROY', 'a', 6, shown),
    )
    const transfers = events.filter(({ hook }) => hook.startsWith('channel_transfer'))
    expect(transfers.map(({ hook }) => hook)).toEqual(['channel_transferor', 'channel_transferee'])
  })

  it('of a parked call has its slot: parked and retrieved', () => {
    const events = reportsOf(
      of('CHANNEL_CREATE', 'a', 0),
      valet('hold', 1),
      valet('bridge', 5, { 'Bridge-To-UUID': 'b' }),
      valet('exit', 6),
    )
    expect(events).toMatchObject([
      {
        hook: 'parking',
        callId: 'a',
        eventName: 'PARK_PARKED',
        parkingSlot: '5901',
        timestampMs: createdMs + 1,
      },
      { hook: 'parking', eventName: 'PARK_RETRIEVED', parkingSlot: '5901', otherLegCallId: 'b' },
    ])
    expect(events).toHaveLength(2)
  })

  it('of a call whose time in the slot is over is how it goes on: somebody answers it, or it ends', () => {
    const parked = [of('CHANNEL_CREATE', 'a', 0), valet('hold', 1), valet('exit', 5)]
    expect(reportsOf(...parked).map(({ eventName }) => eventName)).toEqual(['PARK_PARKED'])
    const answered = of('CHANNEL_BRIDGE', 'a', 7, { 'Bridge-A-Unique-ID': 'a', 'Bridge-B-Unique-ID': 'b' })
    const ended = of('CHANNEL_DESTROY', 'a', 9)
    const essence = (...events: Parameters<typeof reportsOf>) =>
      reportsOf(...events).map(({ eventName, parkingSlot, otherLegCallId, timestampMs = 0 }) =>
        [eventName, parkingSlot, otherLegCallId, timestampMs - createdMs].join(' '),
      )
    expect(essence(...parked, answered, ended)).toEqual(['PARK_PARKED 5901  1', 'PARK_RETRIEVED 5901 b 7'])
    expect(essence(...parked, ended)).toEqual(['PARK_PARKED 5901  1', 'PARK_ABANDONED 5901  9'])
  })

  it('of a caller who hangs up in the slot is that the call was abandoned', () => {
    const hungUp = { 'Answer-State': 'hangup' }
    const events = reportsOf(of('CHANNEL_CREATE', 'a', 0), valet('hold', 1), valet('exit', 5, hungUp))
    expect(events.map(({ eventName }) => eventName)).toEqual(['PARK_PARKED', 'PARK_ABANDONED'])
  })

  it.each([
    ['in the name of its file', { 'VM-UUID': 'm1', 'VM-File-Path': '/vm/1001/msg_a.wav' }],
    [
      'in the name of its file, below a folder with such a name',
      { 'VM-UUID': 'm1', 'VM-File-Path': '/vm/msg_1001/msg_a.wav' },
    ],
    ['as the id of the message', { 'VM-UUID': 'a' }],
  ])('of a voicemail message belongs to the leg whose id is %s', (_, headers) => {
    const message = custom('vm::maintenance', '', 5, {
      'VM-Action': 'leave-message',
      'VM-User': '1001',
      'VM-Domain': 'acme.example',
      'VM-Message-Len': '12',
      ...headers,
    })
    expect(reportsOf(of('CHANNEL_CREATE', 'a', 0), message)).toMatchObject([
      {
        hook: 'voicemail_new',
        callId: 'a',
        voicemailBox: '1001@acme.example',
        voicemailId: headers['VM-UUID'],
        voicemailLengthMs: 12_000,
        toUser: '1001',
        toRealm: 'acme.example',
      },
    ])
  })

  it('of a message that is read, or of other state of queues, is nothing', () => {
    expect(
      reportsOf(
        of('CHANNEL_CREATE', 'a', 0),
        custom('vm::maintenance', 'a', 5, { 'VM-Action': 'mwi-update' }),
        queue('members-count', 6),
        custom('other::event', 'a', 7, {}),
      ),
    ).toEqual([])
  })

  it('of an agent who does not answer has how long the phone rang, unless the caller left or another one answered', () => {
    const failed = (cause: string) =>
      queue('bridge-agent-fail', 20, {
        'CC-Agent': '1007@default',
        'CC-Hangup-Cause': cause,
        'CC-Agent-Called-Time': '1795173740',
        'CC-Agent-Aborted-Time': '1795173755',
      })
    const events = reportsOf(
      of('CHANNEL_CREATE', 'a', 0),
      failed('NO_ANSWER'),
      failed('ORIGINATOR_CANCEL'),
      failed('LOSE_RACE'),
    )
    expect(events).toMatchObject([
      { hook: 'queue_agent_no_answer', callId: 'a', agentId: '1007@default', ringingMs: 15_000 },
    ])
  })

  it('of a queue is the whole way of a caller to an agent', () => {
    const times = { 'CC-Member-Joined-Time': '1795173739', 'CC-Agent-Answered-Time': '1795173747' }
    const events = reportsOf(
      of('CHANNEL_CREATE', 'a', 0),
      queue('member-queue-start', 1),
      queue('agent-offering', 2, { 'CC-Agent': '1007@default' }),
      queue('bridge-agent-start', 9, {
        'CC-Agent': '1007@default',
        'CC-Agent-UUID': 'b',
        ...times,
      }),
      queue('bridge-agent-end', 89, {
        'CC-Agent': '1007@default',
        'CC-Agent-UUID': 'b',
        ...times,
        'CC-Bridge-Terminated-Time': '1795173830',
      }),
      queue('member-queue-end', 90, { 'CC-Cause': 'Terminated' }),
    )
    const common = { callId: 'a', queueId: 'support@default' }
    expect(events).toMatchObject([
      { hook: 'queue_join', ...common },
      { hook: 'queue_agent_offer', ...common, agentId: '1007@default' },
      { hook: 'queue_leave', ...common, queueLeaveReason: 'answered', waitingSeconds: 8 },
      { hook: 'queue_agent_answer', ...common, agentCallId: 'b', otherLegCallId: 'b', waitingSeconds: 8 },
      { hook: 'queue_agent_complete', ...common, agentCallId: 'b', waitingSeconds: 8, talkingSeconds: 83 },
    ])
    expect(events).toHaveLength(5)
  })

  it.each([
    ['BREAK_OUT', 'abandoned'],
    ['TIMEOUT', 'timeout'],
    ['NO_AGENT_TIMEOUT', 'no_agent'],
    ['EXIT_WITH_KEY', 'key'],
    ['NONE', undefined],
  ])('of a caller who leaves a queue by %s has the reason %s', (cancelReason, queueLeaveReason) => {
    const [left] = reportsOf(
      of('CHANNEL_CREATE', 'a', 0),
      queue('member-queue-end', 9, { 'CC-Cause': 'Cancel', 'CC-Cancel-Reason': cancelReason }),
    )
    expect(left?.hook).toBe('queue_leave')
    expect(left?.queueLeaveReason).toBe(queueLeaveReason)
  })

  it('of keys has the duration in milliseconds', () => {
    const key = of('DTMF', 'a', 5, { 'DTMF-Digit': '#', 'DTMF-Duration': '960' })
    expect(reportsOf(of('CHANNEL_CREATE', 'a', 0), key)).toMatchObject([
      { hook: 'channel_dtmf', dtmfDigit: '#', dtmfDurationMs: 120 },
    ])
    expect(mapAll([of('CHANNEL_CREATE', 'a', 0), key]).published).toHaveLength(1)
  })

  it.each([
    ['success-maxtime', 'answered', 'max_length'],
    ['uri-failure', 'answered', 'failed'],
    ['success-silence', 'answered', 'stopped'],
    ['success-silence', 'hangup', 'hangup'],
    ['', 'hangup', 'hangup'],
  ])('of a recording that ended by %s on a leg that is %s has the reason %s', (cause, state, reason) => {
    const record = (name: string, atMs: number, headers: Headers = {}) =>
      of(name, 'a', atMs, { 'Record-File-Path': '/r/a.wav', 'Answer-State': state, ...headers })
    const events = reportsOf(
      of('CHANNEL_CREATE', 'a', 0),
      record('RECORD_START', 1),
      record('RECORD_STOP', 9, {
        variable_record_ms: '8000',
        ...(cause && { 'Record-Completion-Cause': cause }),
      }),
    )
    expect(events).toMatchObject([
      { hook: 'recording_started', path: '/r/a.wav', timestampMs: createdMs + 1 },
      { hook: 'recording_ready', path: '/r/a.wav', durationMs: 8_000, reason },
    ])
  })

  it('of talking in a conference is nothing', () => {
    const talking = custom('conference::maintenance', 'a', 5, {
      Action: 'start-talking',
      'Conference-Name': 'x',
    })
    expect(reportsOf(of('CHANNEL_CREATE', 'a', 0), talking)).toEqual([])
  })

  it('of a leg that is not open is a problem', () => {
    const { published, problems } = mapAll([queue('member-queue-start', 1)], ALL)
    expect(published).toEqual([])
    expect(problems).toEqual([{ kind: 'unknown_leg', message: 'queue_join of a leg that is not open' }])
  })
})

describe('a registration', () => {
  const sofia = (subclass: string, headers: Headers = {}) =>
    syntheticEvent('CUSTOM', '', 5, {
      'Event-Subclass': `sofia::${subclass}`,
      'call-id': 'r1@phone',
      ...headers,
    })
  const user = { 'from-user': '1001', 'from-host': 'acme.example', contact: '<sip:1001@192.0.2.7:5060>' }
  const registrations = (...events: ReturnType<typeof sofia>[]) =>
    mapAll(events, { ...ALL, accountOf: accountFromRealm({ 'acme.example': 'acme' }) })
  const device = {
    accountId: 'acme',
    callId: 'r1@phone',
    from: '1001@acme.example',
    username: '1001',
    realm: 'acme.example',
  }

  it('is subscribed to only if it is selected', () => {
    expect(subscribedEvents('CHANNEL_DESTROY', [], DEFAULT_OPTIONAL_HOOKS).join()).not.toContain('sofia')
    const selected = subscribedEvents('CHANNEL_DESTROY', [], ['device_unregistered'])
    expect(selected.slice(-3)).toEqual(['CUSTOM', 'sofia::unregister', 'sofia::expire'])
  })

  it('has its device, in the account of its realm, and belongs to no leg', () => {
    const { published, problems, mapping } = registrations(
      sofia('register', { ...user, expires: '3600', 'user-agent': 'Yealink SIP-T46U', realm: 'unknown' }),
    )
    expect(published).toMatchObject([
      {
        hook: 'device_registered',
        ...device,
        contact: '<sip:1001@192.0.2.7:5060>',
        userAgent: 'Yealink SIP-T46U',
        expires: 3_600,
        timestampMs: createdMs + 5,
      },
    ])
    expect([problems, mapping.openLegs()]).toEqual([[], 0])
  })

  it('that is only renewed is nothing', () => {
    expect(registrations(sofia('register', { ...user, 'update-reg': 'true' })).published).toEqual([])
  })

  it('ends when the device cancels it, or does not renew it', () => {
    const expired = { user: '1001', host: 'acme.example', expires: '1795173739' }
    const { published } = registrations(sofia('unregister', user), sofia('expire', expired))
    expect(published).toMatchObject([
      { hook: 'device_unregistered', ...device },
      { hook: 'device_unregistered', ...device },
    ])
    expect(published[1]).not.toHaveProperty('expires')
  })

  it('without an account is reported like a leg without one', () => {
    const { published, unknown } = registrations(sofia('register', { ...user, 'from-host': 'other.example' }))
    expect(published).toEqual([])
    expect(unknown).toMatchObject([{ callId: 'r1@phone', reason: 'ended' }])
  })

  it('yields nothing where the hooks are not selected', () => {
    const { published, unknown, problems } = mapAll([sofia('register', user)])
    expect([published, unknown, problems]).toEqual([[], [], []])
  })
})

describe('a missed call on FreeSWITCH', () => {
  const ended = of('CHANNEL_DESTROY', 'a', 9)
  const hooksOf = (...events: Parameters<typeof reportsOf>) => reportsOf(...events).map(({ hook }) => hook)

  it('is a call to a phone that ends unanswered: one event, before the end of the caller', () => {
    const { published } = mapAll([of('CHANNEL_CREATE', 'a', 0), phone('b', 'a'), ended], ALL)
    const ofCaller = published.filter(({ callId }) => callId === 'a')
    expect(ofCaller.map(({ hook }) => hook)).toEqual(['channel_create', 'missed_call', 'channel_destroy'])
    expect(ofCaller[1]).toMatchObject({ callBridged: false, messageLeft: false })
  })

  it('is each of the recorded calls that no phone answered, also one that the switch answered itself', () => {
    const { published } = mapAll(recordedEvents('json'), { ...ALL, accountOf: () => 'acme' })
    const missed = published.filter(({ hook }) => hook === 'missed_call').map(({ callId }) => callId)
    const calls = missed.map(
      (id) => recorded.calls.find(({ legs }) => legs.some(({ uuid }) => uuid === id))?.id,
    )
    expect(calls.sort()).toEqual(['C03', 'C04', 'C05', 'C06', 'C07', 'C10', 'C26'])
  })

  it('is one also if early media was heard', () => {
    const early = of('CHANNEL_BRIDGE', 'a', 3, { 'Bridge-A-Unique-ID': 'a', 'Bridge-B-Unique-ID': 'b' })
    expect(hooksOf(of('CHANNEL_CREATE', 'a', 0), phone('b', 'a'), early, ended)).toEqual(['missed_call'])
  })

  it('is none if the call was answered by a phone', () => {
    const answered = { 'Caller-Channel-Answered-Time': time(3) }
    const bridged = of('CHANNEL_BRIDGE', 'a', 3, {
      'Bridge-A-Unique-ID': 'a',
      'Bridge-B-Unique-ID': 'b',
      ...answered,
    })
    expect(hooksOf(of('CHANNEL_CREATE', 'a', 0), phone('b', 'a'), bridged, ended)).toEqual([])
  })

  it('is none through a gateway, or without a phone', () => {
    const trunk = phone('b', 'a', { variable_sip_gateway_name: 'carrier' })
    expect(hooksOf(of('CHANNEL_CREATE', 'a', 0), trunk, ended)).toEqual([])
    expect(hooksOf(of('CHANNEL_CREATE', 'a', 0), ended)).toEqual([])
  })

  it('is none if the caller left a message', () => {
    const message = custom('vm::maintenance', '', 5, { 'VM-Action': 'leave-message', 'VM-UUID': 'a' })
    expect(hooksOf(of('CHANNEL_CREATE', 'a', 0), phone('b', 'a'), message, ended)).toEqual(['voicemail_new'])
  })

  it('is known after a restart', () => {
    const before = mapAll([of('CHANNEL_CREATE', 'a', 0), phone('b', 'a')], ALL)
    const saved = before.mapping.savable.save('a')
    const { mapping, add, published } = mapAll([], ALL)
    expect(saved && mapping.savable.restore('a', saved)).toBe(true)
    add(mapping.map(ended))
    expect(published.map(({ hook }) => hook)).toEqual(['missed_call', 'channel_destroy'])
  })
})
