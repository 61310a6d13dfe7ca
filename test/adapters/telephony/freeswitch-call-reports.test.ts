import { describe, expect, it } from 'vitest'
import { accountFromRealm } from '../../../adapters/telephony/freeswitch/account-resolver.js'
import { type EslEvent, eventFromJson, parseEvent } from '../../../adapters/telephony/freeswitch/event.js'
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
/** Headers: mod_callcenter.c of FreeSWITCH. */
const queue = (action: string, atMs: number, headers: Headers = {}) =>
  custom('callcenter::info', 'ignored', atMs, {
    'CC-Action': action,
    'CC-Queue': 'support@default',
    'CC-Member-Session-UUID': 'a',
    ...headers,
  })

/** Headers: mod_fifo.c of FreeSWITCH 1.10. */
const fifo = (action: string, uuid: string, atMs: number, headers: Headers = {}) =>
  custom('fifo::info', uuid, atMs, { 'FIFO-Action': action, 'FIFO-Name': 'sales', ...headers })

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
      'fifo::info',
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

  const executing = { 'Answer-State': 'answered', 'Channel-State-Number': '4' }
  const hungUp = { 'Answer-State': 'hangup', 'Channel-State-Number': '10' }
  const transferred = { 'Answer-State': 'answered', 'Channel-State-Number': '2' }

  it.each([
    ['BREAK_OUT and the hangup', 'abandoned', 'BREAK_OUT', hungUp],
    [
      'BREAK_OUT and the hangup after a key',
      'abandoned',
      'BREAK_OUT',
      { ...hungUp, variable_cc_exit_key: '1' },
    ],
    ['BREAK_OUT and a key', 'key', 'BREAK_OUT', { ...executing, variable_cc_exit_key: '1' }],
    ['BREAK_OUT alone', undefined, 'BREAK_OUT', executing],
    ['TIMEOUT', 'timeout', 'TIMEOUT', executing],
    ['NO_AGENT_TIMEOUT', 'no_agent', 'NO_AGENT_TIMEOUT', executing],
    ['constructor', undefined, 'constructor', executing],
    ['EXIT_WITH_KEY', 'key', 'EXIT_WITH_KEY', executing],
    ['NONE', undefined, 'NONE', executing],
  ])('of a caller who leaves a queue by %s has the reason %s', (_, reason, cancelReason, headers) => {
    const [left] = reportsOf(
      of('CHANNEL_CREATE', 'a', 0),
      queue('member-queue-end', 9, { 'CC-Cause': 'Cancel', 'CC-Cancel-Reason': cancelReason, ...headers }),
    )
    expect(left?.hook).toBe('queue_leave')
    expect(left?.queueLeaveReason).toBe(reason)
  })

  it('of a caller who comes back to the old place in a queue is that it joins', () => {
    const events = reportsOf(of('CHANNEL_CREATE', 'a', 0), queue('member-queue-resume', 1))
    expect(events).toMatchObject([{ hook: 'queue_join', queueId: 'support@default' }])
  })

  it.each([
    ['agent', { 'Answer-State': 'hangup', variable_sip_hangup_disposition: 'recv_bye' }],
    ['caller', { 'Answer-State': 'answered' }],
    [
      'caller',
      {
        'Answer-State': 'hangup',
        variable_sip_hangup_disposition: 'send_bye',
        variable_last_bridge_proto_specific_hangup_cause: 'sip:200',
      },
    ],
    [undefined, { 'Answer-State': 'hangup', variable_sip_hangup_disposition: 'send_bye' }],
    ['transfer', { 'Answer-State': 'hangup', variable_transfer_to: 'blind:c' }],
  ])('of a talk with an agent that ended by %s says so', (reason, headers) => {
    const ended = queue('bridge-agent-end', 90, { 'CC-Agent': '1007', 'CC-Agent-UUID': 'b', ...headers })
    const [complete] = reportsOf(of('CHANNEL_CREATE', 'a', 0), ended)
    expect(complete?.hook).toBe('queue_agent_complete')
    expect(complete?.reason).toBe(reason)
  })

  it("of an agent of a queue has the account and the call of the caller, and the agent's number", () => {
    const agentLeg = syntheticEvent('CHANNEL_CREATE', 'b', 2, {
      'Call-Direction': 'outbound',
      'Caller-Callee-ID-Number': '1007',
      variable_cc_member_session_uuid: 'a',
    })
    const answered = queue('bridge-agent-start', 9, { 'CC-Agent': '1007@default', 'CC-Agent-UUID': 'b' })
    const { published } = mapAll([of('CHANNEL_CREATE', 'a', 0), agentLeg, answered], ALL)
    expect(published).toMatchObject([
      { hook: 'channel_create', callId: 'a', accountId: 'acme', callGroupId: 'a' },
      { hook: 'channel_create', callId: 'b', accountId: 'acme', callGroupId: 'a', otherLegCallId: 'a' },
      { hook: 'queue_leave', callId: 'a' },
      { hook: 'queue_agent_answer', callId: 'a', agentCallId: 'b', agentNumber: '1007' },
    ])
  })

  it('of a queue of mod_fifo is the whole way of a caller to an agent', () => {
    const members = { 'caller-uuid': 'a', 'FIFO-Outbound-UUID-List': 'm1,m2' }
    const agentLeg = syntheticEvent('CHANNEL_CREATE', 'b', 2_500, {
      'Call-Direction': 'outbound',
      'Caller-Callee-ID-Number': '1007',
      variable_fifo_bridge_uuid: 'a',
    })
    const consumer = {
      'FIFO-Consumer-Outbound-ID': 'm2',
      variable_fifo_target: 'a',
      variable_fifo_epoch_start_bridge: '1795173748',
    }
    const { published, problems } = mapAll(
      [
        of('CHANNEL_CREATE', 'a', 0),
        fifo('push', 'a', 1_000),
        fifo('pre-dial', 'a', 2_000, members),
        agentLeg,
        fifo('bridge-consumer-start', 'b', 9_000, consumer),
        fifo('bridge-caller-start', 'a', 9_001),
        fifo('bridge-consumer-stop', 'b', 89_000, {
          ...consumer,
          'Answer-State': 'hangup',
          variable_sip_hangup_disposition: 'recv_bye',
        }),
        fifo('bridge-caller-stop', 'a', 89_001),
      ],
      ALL,
    )
    expect(problems).toEqual([])
    const queued = published.filter(({ hook }) => hook.startsWith('queue_'))
    const common = { callId: 'a', queueId: 'sales' }
    const agent = { ...common, agentId: 'm2', agentCallId: 'b', agentNumber: '1007', waitingSeconds: 8 }
    expect(queued).toMatchObject([
      { hook: 'queue_join', ...common },
      { hook: 'queue_agent_offer', ...common, agentId: 'm1' },
      { hook: 'queue_agent_offer', ...common, agentId: 'm2' },
      { hook: 'queue_leave', ...common, queueLeaveReason: 'answered', waitingSeconds: 8 },
      { hook: 'queue_agent_answer', ...agent },
      { hook: 'queue_agent_complete', ...agent, talkingSeconds: 80, reason: 'agent' },
    ])
    expect(queued).toHaveLength(6)
    expect(new Set(queued.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(6)
    expect(published.find(({ callId }) => callId === 'b')).toMatchObject({
      accountId: 'acme',
      callGroupId: 'a',
    })
  })

  it('of members of mod_fifo who do not answer is each of them, unless the caller left', () => {
    const dialled = (cause: string) =>
      fifo('post-dial', 'ignored', 20, {
        'caller-uuid': 'a',
        'FIFO-Outbound-UUID-List': 'm1,m2',
        result: 'failure',
        cause,
      })
    const events = reportsOf(
      of('CHANNEL_CREATE', 'a', 0),
      dialled('NO_ANSWER'),
      dialled('ORIGINATOR_CANCEL'),
      fifo('post-dial', 'b', 30, {
        'caller-uuid': 'a',
        'FIFO-Outbound-UUID-List': 'm1,m2',
        result: 'success',
      }),
    )
    expect(events.map(({ hook, agentId }) => [hook, agentId])).toEqual([
      ['queue_agent_no_answer', 'm1'],
      ['queue_agent_no_answer', 'm2'],
    ])
  })

  it.each([
    ['timeout', 'timeout', executing],
    ['abort', 'abandoned', { ...hungUp, variable_fifo_caller_exit_key: '1' }],
    ['abort', 'key', { ...executing, variable_fifo_caller_exit_key: '1' }],
    ['abort', undefined, { ...transferred, variable_fifo_caller_exit_key: '1' }],
    ['abort', undefined, executing],
  ])('of a caller who leaves a queue of mod_fifo by %s has the reason %s', (action, reason, headers) => {
    const [, left] = reportsOf(
      of('CHANNEL_CREATE', 'a', 0),
      fifo('push', 'a', 1_000),
      fifo(action, 'a', 6_900, headers),
    )
    expect(left).toMatchObject({ hook: 'queue_leave', queueId: 'sales', waitingSeconds: 5 })
    expect(left?.queueLeaveReason).toBe(reason)
  })

  it('of a caller whose agent of mod_fifo hangs up before the talk is one way through the queue', () => {
    const events = reportsOf(
      of('CHANNEL_CREATE', 'a', 0),
      fifo('push', 'a', 1),
      fifo('push', 'a', 9, { variable_fifo_status: 'WAITING' }),
    )
    expect(events.map(({ hook }) => hook)).toEqual(['queue_join'])
  })

  it('of calls that mod_fifo only tracks, and of outbound dialling for nobody, is nothing', () => {
    expect(
      reportsOf(
        of('CHANNEL_CREATE', 'a', 0),
        fifo('bridge-consumer-start', 'a', 1, { 'FIFO-Name': 'manual_calls', variable_fifo_target: 'x' }),
        fifo('pre-dial', '', 2, { 'FIFO-Outbound-UUID': 'm1', 'outbound-strategy': 'enterprise' }),
      ),
    ).toEqual([])
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
    ['constructor', 'hangup', 'hangup'],
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

/** An event without a leg. */
const legless = (name: string, atMs: number, headers: Headers) => {
  const event = eventFromJson({
    'Event-Name': name,
    'Core-UUID': 'run-1',
    'Event-Date-Timestamp': time(atMs),
    'Event-Sequence': String(100 + atMs),
    ...headers,
  })
  if (!event) throw new Error('not an event')
  return event
}

describe('a registration', () => {
  /** Headers: sofia_reg.c of FreeSWITCH 1.10. */
  const sofia = (subclass: string, headers: Headers = {}) =>
    legless('CUSTOM', 5, { 'Event-Subclass': `sofia::${subclass}`, 'call-id': 'r1@phone', ...headers })
  const user = { 'from-user': '1001', 'from-host': 'acme.example', contact: '<sip:1001@192.0.2.7:5060>' }
  const registrations = (...events: EslEvent[]) =>
    mapAll(events, { ...ALL, accountOf: accountFromRealm({ 'acme.example': 'acme' }) })
  const device = {
    accountId: 'acme',
    callId: 'device/r1@phone',
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

  it('whose phone chooses the id of a leg, or one that no event can have, changes no leg', () => {
    const { published, unknown, bufferedLegs } = registrations(
      syntheticEvent('CHANNEL_CREATE', 'a', 0, { 'Call-Direction': 'inbound' }),
      sofia('register', { ...user, 'call-id': 'a' }),
      sofia('register', { ...user, 'call-id': `\u0001${'x'.repeat(300)}` }),
    )
    expect(published.map(({ callId }) => callId)).toEqual([
      'device/a',
      expect.stringMatching(/^sha256\/.{43}$/),
    ])
    expect([unknown, bufferedLegs()]).toEqual([[], 1])
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
    expect(unknown).toMatchObject([{ callId: 'device/r1@phone', reason: 'ended' }])
  })

  it('yields nothing where the hooks are not selected', () => {
    const { published, unknown, problems } = mapAll([sofia('register', user)])
    expect([published, unknown, problems]).toEqual([[], [], []])
  })
})

describe('an agent of a queue', () => {
  const accountOf = accountFromRealm({ 'acme.example': 'acme' })
  const status = (agent: string, value: string, atMs: number) =>
    legless('CUSTOM', atMs, {
      'Event-Subclass': 'callcenter::info',
      'CC-Action': 'agent-status-change',
      'CC-Agent': agent,
      'CC-Agent-Status': value,
    })

  it('logs in, pauses, is back and logs out by its status, in the account of its realm', () => {
    const agentId = '1007@acme.example'
    const statuses = [
      'Available',
      'Available',
      'On Break',
      'Available (On Demand)',
      'Available',
      'Logged Out',
      'Available',
      'Unknown',
    ]
    const { published, problems, mapping } = mapAll(
      statuses.map((value, index) => status(agentId, value, index)),
      { ...ALL, accountOf },
    )
    expect(published.map(({ hook, timestampMs = 0 }) => [hook, timestampMs - createdMs])).toEqual([
      ['queue_agent_login', 0],
      ['queue_agent_pause', 2],
      ['queue_agent_resume', 3],
      ['queue_agent_logout', 5],
      ['queue_agent_login', 6],
    ])
    expect(published[0]).toMatchObject({ accountId: 'acme', callId: `agent/${agentId}`, agentId })
    expect(published[0]).not.toHaveProperty('queueId')
    expect([problems, mapping.openLegs()]).toEqual([[], 0])
  })

  it('whose status before is not known to one of two nodes has one event', () => {
    const agentId = '1007@acme.example'
    const back = status(agentId, 'Available', 9)
    const whole = mapAll([status(agentId, 'On Break', 1), back], { ...ALL, accountOf }).published.at(-1)
    const started = mapAll([back], { ...ALL, accountOf }).published.at(-1)
    expect([whole?.hook, started?.hook]).toEqual(['queue_agent_resume', 'queue_agent_login'])
    expect(started?.idempotencyKey).toBe(whole?.idempotencyKey)
  })

  it('of mod_fifo logs in to each queue for which it waits on the line', () => {
    const consumer = (action: string, atMs: number, headers: Headers = {}) =>
      fifo(action, 'agent-leg', atMs, {
        'FIFO-Name': 'sales!3,support',
        variable_current_application_data: 'sales!3,support out wait',
        variable_fifo_consumer_id: 'agent-7',
        ...headers,
      })
    const { published } = mapAll(
      [
        consumer('consumer_start', 1),
        consumer('consumer_stop', 9),
        consumer('consumer_start', 10, { variable_current_application_data: 'sales out nowait' }),
        consumer('consumer_start', 11, { 'Call-Direction': 'outbound' }),
      ],
      ALL,
    )
    expect(
      published.map(({ hook, queueId, agentId, agentNumber }) => [hook, queueId, agentId, agentNumber]),
    ).toEqual([
      ['queue_agent_login', 'sales', 'agent-7', '1001'],
      ['queue_agent_login', 'support', 'agent-7', '1001'],
      ['queue_agent_logout', 'sales', 'agent-7', '1001'],
      ['queue_agent_logout', 'support', 'agent-7', '1001'],
    ])
    expect(new Set(published.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(4)
  })

  it('who waits on the line has the account of that leg', () => {
    const other = {
      'FIFO-Name': 'sales',
      variable_current_application_data: 'sales out wait',
      ...account('beta'),
    }
    const { published } = mapAll(
      [of('CHANNEL_CREATE', 'agent-leg', 0), fifo('consumer_start', 'agent-leg', 1, other)],
      ALL,
    )
    expect(published.map(({ hook, accountId }) => [hook, accountId])).toEqual([
      ['channel_create', 'acme'],
      ['queue_agent_login', 'acme'],
    ])
  })

  it('of whom a second node knows less has one event', () => {
    const statuses = ['On Break', 'Available'].map((value, index) =>
      status('1007@acme.example', value, index),
    )
    const keyOfLast = (events: EslEvent[]) =>
      mapAll(events, { ...ALL, accountOf }).published.at(-1)?.idempotencyKey
    expect(keyOfLast(statuses.slice(1))).toBe(keyOfLast(statuses))
  })

  it('is subscribed to only if it is selected', () => {
    expect(subscribedEvents('CHANNEL_DESTROY', [], ['queue_agent_pause']).slice(-3)).toEqual([
      'CUSTOM',
      'callcenter::info',
      'fifo::info',
    ])
    expect(mapAll([status('1007@acme.example', 'Available', 1)], { accountOf }).published).toEqual([])
  })

  it('with a status for each of very many agents is remembered for the last ones', () => {
    const { published } = mapAll(
      [
        status('first@acme.example', 'Available', 0),
        ...Array.from({ length: 10_000 }, (_, index) => status(`${index}@acme.example`, 'Available', index)),
        status('first@acme.example', 'Available', 10_001),
        status('9999@acme.example', 'Available', 10_002),
      ],
      { ...ALL, accountOf },
    )
    expect(published).toHaveLength(10_002)
  })
})

describe('a text message', () => {
  const accountOf = accountFromRealm({ 'acme.example': 'acme' })
  /** Headers: sofia_presence.c of FreeSWITCH 1.10. */
  const headers = {
    proto: 'sip',
    dest_proto: 'sip',
    from: '1001@acme.example',
    from_user: '1001',
    from_host: 'acme.example',
    to: 'internal/1002@acme.example',
    to_user: '1002',
    to_host: 'acme.example',
    subject: 'SIMPLE MESSAGE',
    type: 'text/plain',
  }
  const sms = {
    hook: 'sms',
    accountId: 'acme',
    callId: 'sms/run-1-105',
    direction: 'inbound',
    from: '1001',
    fromRealm: 'acme.example',
    to: '1002',
    toRealm: 'acme.example',
    body: 'Hello 100 %41',
  }
  const messages = (...events: EslEvent[]) => mapAll(events, { ...ALL, accountOf })

  it('has its parties and its text, in the account of its sender', () => {
    const { published, problems, mapping } = messages(
      legless('MESSAGE', 5, { ...headers, _body: 'Hello 100 %41' }),
    )
    expect(published).toMatchObject([{ ...sms, timestampMs: createdMs + 5 }])
    expect([problems, mapping.openLegs()]).toEqual([[], 0])
    const upperCase = messages(legless('MESSAGE', 5, { ...headers, type: 'Text/Plain' }))
    expect(upperCase.published).toHaveLength(1)
  })

  it('has its text in the format plain too', () => {
    const lines = Object.entries({
      'Event-Name': 'MESSAGE',
      'Core-UUID': 'run-1',
      'Event-Date-Timestamp': time(5),
      'Event-Sequence': '105',
      ...headers,
    }).map(([name, value]) => `${name}: ${encodeURIComponent(value)}`)
    const text = `${lines.join('\n')}\nContent-Length: 13\n\nHello 100 %41`
    const event = parseEvent('plain', Buffer.from(text))
    expect(event && messages(event).published).toMatchObject([sms])
  })

  it('from an address alone has its parties', () => {
    const addresses = {
      proto: 'sip',
      from: 'sip:1001@acme.example',
      to: 'internal/sip:1002@ACME.example:5060',
    }
    const { published } = messages(legless('MESSAGE', 5, addresses))
    expect(published).toMatchObject([
      { from: '1001', fromRealm: 'acme.example', to: '1002', toRealm: 'acme.example' },
    ])
    expect(published[0]).not.toHaveProperty('body')
  })

  it('that is no text, or has nobody, is nothing', () => {
    const { published, problems } = messages(
      legless('MESSAGE', 5, { ...headers, type: 'message/imdn+xml' }),
      legless('MESSAGE', 6, { ...headers, proto: 'GLOBAL' }),
      legless('MESSAGE', 7, { proto: 'sip' }),
    )
    expect([published, problems]).toEqual([[], []])
  })

  it('is subscribed to only if it is selected', () => {
    expect(subscribedEvents('CHANNEL_DESTROY', [], DEFAULT_OPTIONAL_HOOKS)).not.toContain('MESSAGE')
    expect(subscribedEvents('CHANNEL_DESTROY', [], ['sms']).at(-1)).toBe('MESSAGE')
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

  it('is no caller who gives up a queue, whose agents rang, but one whom the queue sends on to a phone', () => {
    const agentLeg = of('CHANNEL_CREATE', 'b', 2, {
      'Call-Direction': 'outbound',
      variable_cc_member_session_uuid: 'a',
    })
    const answered = { 'Caller-Channel-Answered-Time': time(1) }
    const caller = of('CHANNEL_ANSWER', 'a', 1, answered)
    const left = of('CHANNEL_DESTROY', 'a', 9, answered)
    const timeout = queue('member-queue-end', 5, { 'CC-Cause': 'Cancel', 'CC-Cancel-Reason': 'TIMEOUT' })
    const joined = queue('member-queue-start', 1)
    expect(hooksOf(caller, joined, agentLeg, left)).toEqual(['queue_join'])
    expect(hooksOf(caller, joined, agentLeg, timeout, left)).toEqual(['queue_join', 'queue_leave'])
    const sentOn = hooksOf(caller, joined, agentLeg, timeout, phone('c', 'a'), left)
    expect(sentOn).toEqual(['queue_join', 'queue_leave', 'missed_call'])
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
