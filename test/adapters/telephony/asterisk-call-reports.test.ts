import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { parseAmiEvent } from '../../../adapters/telephony/asterisk/ami-event.js'
import { createAmiMessage } from '../../../adapters/telephony/asterisk/ami-message.js'
import { parseAriEvent } from '../../../adapters/telephony/asterisk/ari-event.js'
import type { SwitchEvent } from '../../../adapters/telephony/asterisk/switch-event.js'
import { OPTIONAL_HOOKS } from '../../../adapters/telephony/source/optional-hooks.js'
import { amiEvents, ariEvents, createTracer, SWITCH_EVENTS, traceOf } from './asterisk-scenarios.js'
import {
  A,
  B,
  bridgeEvent,
  C,
  channel,
  channelEvent,
  hangupEvent,
  T0,
  UP_STATE,
} from './asterisk-switch-events.js'

const ALL = {
  optionalHooks: OPTIONAL_HOOKS,
  accountOf: (leg: { accountCode: string | undefined }) => leg.accountCode,
}
const OPTIONAL: ReadonlySet<string> = new Set(OPTIONAL_HOOKS)

/** The events of optional hooks in a recorded stream, without fields of the leg. */
const reportedIn = (stream: keyof typeof SWITCH_EVENTS) =>
  traceOf(SWITCH_EVENTS[stream], { optionalHooks: OPTIONAL_HOOKS }).events.filter(({ hook }) =>
    OPTIONAL.has(hook),
  )

const essence = (events: ReturnType<typeof reportedIn>) =>
  events.map(({ hook, callId, transferType, transferTo, targetCallId, dtmfDigit }) =>
    Object.values({ hook, callId, transferType, transferTo, targetCallId, dtmfDigit })
      .filter((value) => value !== undefined)
      .join(' '),
  )

/** An AMI message of a leg with these lines. */
const ami = (event: string, id: string, ...lines: string[]) => {
  const text = [
    `Event: ${event}`,
    `Timestamp: ${T0 / 1000 + 9}`,
    `Channel: PJSIP/1001-${id}`,
    'ChannelState: 6',
    'CallerIDNum: 1001',
    'AccountCode: acme',
    'Exten: 2001',
    `Uniqueid: ${id}`,
    ...lines,
  ].join('\r\n')
  const parsed = parseAmiEvent(createAmiMessage(Buffer.from(`${text}\r\n`)), T0)
  if (typeof parsed === 'string') throw new Error(parsed)
  return parsed === undefined ? [] : [parsed]
}

/** The events of a recorded queue, whose stream begins with its call. */
const queueOf = (name: string) => {
  const url = new URL(`asterisk-recordings/${name}.ami.txt.gz`, import.meta.url)
  const chunks = [Buffer.from('Asterisk Call Manager/11.0.0\r\n'), gunzipSync(readFileSync(url))]
  return traceOf(amiEvents(chunks), { optionalHooks: OPTIONAL_HOOKS, accountOf: () => 'acme' }).events
}

/** The events of a recorded call over ARI. */
const ariCallOf = (name: string) => {
  const bytes = readFileSync(new URL(`asterisk-recordings/${name}.ari.ndjson.gz`, import.meta.url))
  const frames = gunzipSync(bytes).toString('utf8').trim().split('\n')
  return traceOf(ariEvents(frames), { optionalHooks: OPTIONAL_HOOKS, accountOf: () => 'acme' }).events
}

const parkee = (id: string) => [
  `ParkeeChannel: PJSIP/1001-${id}`,
  'ParkeeChannelState: 6',
  'ParkeeAccountCode: acme',
  `ParkeeUniqueid: ${id}`,
  'ParkingSpace: 701',
]

/** The events of optional hooks after these switch events. */
const reportsOf = (...switchEvents: Parameters<ReturnType<typeof createTracer>['apply']>) => {
  const { apply, trace } = createTracer(ALL)
  apply(...switchEvents)
  expect(trace().problems).toEqual([])
  return trace().events.filter(({ hook }) => OPTIONAL.has(hook))
}

/** A calls B, whose phone has this name. */
const dialled = (name = `PJSIP/2001-${B}`, dialString = '2001') =>
  [
    channelEvent('created', A),
    channelEvent('created', B, 1, { name, state: 0, callerNumber: '2001' }),
    {
      kind: 'dialled',
      atMs: T0 + 2,
      caller: channel(A),
      called: channel(B, { name, state: 0 }),
      status: '',
      dialString,
    },
  ] as const

describe('what Asterisk reports of a call', () => {
  it('is published only if its hook is selected', () => {
    for (const stream of ['AMI', 'ARI'] as const) {
      expect(traceOf(SWITCH_EVENTS[stream]).events.filter(({ hook }) => OPTIONAL.has(hook))).toEqual([])
      const keys = traceOf(SWITCH_EVENTS[stream], { optionalHooks: ['channel_dtmf'] }).events.filter(
        ({ hook }) => OPTIONAL.has(hook),
      )
      expect(new Set(keys.map(({ hook }) => hook))).toEqual(new Set(['channel_dtmf']))
    }
  })

  it('changes nothing in the events of the legs', () => {
    for (const stream of ['AMI', 'ARI'] as const) {
      const selected = traceOf(SWITCH_EVENTS[stream], { optionalHooks: OPTIONAL_HOOKS }).events
      expect(selected.filter(({ hook }) => !OPTIONAL.has(hook))).toEqual(
        traceOf(SWITCH_EVENTS[stream]).events,
      )
    }
  })

  it('of the recorded conference is who joins and leaves, with how many phones are in it then', () => {
    const events = reportedIn('AMI').filter(({ hook }) => hook.startsWith('conference_'))
    const rows = events.map(({ hook, callId, name, members }) => [hook, callId, name, members])
    expect(rows).toEqual([
      ['conference_join', '1795174218.83', 'team', 1],
      ['conference_join', '1795174218.84', 'team', 2],
      ['conference_join', '1795174219.91', 'team', 3],
      ['conference_leave', '1795174219.91', 'team', 2],
      ['conference_leave', '1795174218.84', 'team', 1],
      ['conference_leave', '1795174218.83', 'team', 0],
    ])
  })

  it('of the recorded transfers and keys is the same over AMI and ARI', () => {
    const shared = (stream: 'AMI' | 'ARI') =>
      essence(reportedIn(stream).filter(({ hook }) => /transfer|dtmf/.test(hook)))
    expect(shared('AMI')).toEqual(shared('ARI'))
    expect(shared('AMI').filter((line) => line.includes('transfer'))).toEqual([
      'channel_transferor 1795174211.54 blind 2017',
      'channel_transferee 1795174211.52 blind 2017',
      'channel_transferor 1795174213.65 attended 2001 1795174214.69',
      'channel_transferee 1795174213.63 attended 2001 1795174214.69',
      expect.stringMatching(/^channel_transferor 1795174213\.62 attended 2001 /),
      expect.stringMatching(/^channel_transferee 1795174213\.60 attended 2001 /),
    ])
    // Four more keys were heard by the halves of Local channels that they passed through.
    expect(shared('AMI').filter((line) => line.includes('dtmf'))).toHaveLength(6)
  })

  it('of an attended transfer names the phone behind a Local channel', () => {
    const [, , , , transferor] = reportedIn('AMI').filter(({ hook }) => hook.startsWith('channel_transfer'))
    const target = traceOf(SWITCH_EVENTS.AMI).events.find(({ callId }) => callId === transferor?.targetCallId)
    expect(target).toMatchObject({ isInternalLeg: false, direction: 'outbound' })
  })

  it('of the recorded queue belongs to the caller, and names the agent', () => {
    const events = reportedIn('AMI').filter(({ hook }) => hook.startsWith('queue_'))
    expect(events.map(({ hook, callId }) => `${hook} ${callId}`)).toEqual([
      'queue_join 1795174219.92',
      'queue_agent_offer 1795174219.92',
      'queue_leave 1795174219.92',
      'queue_agent_answer 1795174219.92',
      // The caller had hung up.
      'queue_agent_complete 1795174220.93',
    ])
    expect(events[0]).toMatchObject({ queueId: 'support', queuePosition: 1 })
    const agent = { agentId: 'Support Agent', agentCallId: '1795174220.93', otherLegCallId: '1795174220.93' }
    expect(events[1]).toMatchObject({ queueId: 'support', agentNumber: '2001', ...agent })
    expect(events[2]).toMatchObject({ queueLeaveReason: 'answered', waitingSeconds: 0 })
    expect(events[3]).toMatchObject({ queueId: 'support', waitingSeconds: 0, ...agent })
  })

  it('of the recorded parked call has its slot, and that nobody answered when its time was over', () => {
    const events = reportedIn('AMI').filter(({ hook }) => hook === 'parking')
    expect(events.map(({ callId, eventName, parkingSlot }) => [callId, eventName, parkingSlot])).toEqual([
      ['1795174213.61', 'PARK_PARKED', '701'],
      ['1795174213.61', 'PARK_ABANDONED', '701'],
    ])
  })

  it('has a key of its own for each event', () => {
    const keys = reportedIn('AMI').map(({ idempotencyKey }) => idempotencyKey)
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('of a retrieved call names who retrieved it, and an abandoned one ends in its slot', () => {
    const [retrieved, abandoned] = reportsOf(
      channelEvent('created', A),
      ...ami('UnParkedCall', A, ...parkee(A), `RetrieverUniqueid: ${B}`),
      ...ami('ParkedCallGiveUp', A, ...parkee(A)),
    )
    expect(retrieved).toMatchObject({ hook: 'parking', eventName: 'PARK_RETRIEVED', otherLegCallId: B })
    expect(abandoned).toMatchObject({ hook: 'parking', eventName: 'PARK_ABANDONED', parkingSlot: '701' })
  })

  it('of a parked call whose time is over is retrieved by who answers it, or abandoned', () => {
    const timedOut = ami('ParkedCallTimeOut', A, ...parkee(A))
    const returns = channel(B, { name: 'PJSIP/2001-1', state: 0, callerNumber: '2001' })
    const events = (...rest: readonly SwitchEvent[]) =>
      reportsOf(
        channelEvent('created', A),
        channelEvent('updated', A, 5, UP_STATE),
        ...timedOut,
        { kind: 'created', atMs: T0 + 10, channel: returns },
        { kind: 'dialled', atMs: T0 + 10, caller: channel(A, UP_STATE), called: returns, status: '' },
        ...rest,
        hangupEvent(A, 90, 16, UP_STATE),
      ).flatMap(({ hook, eventName, parkingSlot, otherLegCallId }) =>
        hook === 'parking' ? [[eventName, parkingSlot, otherLegCallId]] : [],
      )
    expect(events()).toEqual([['PARK_ABANDONED', '701', B]])
    const answers: readonly SwitchEvent[] = [
      { kind: 'updated', atMs: T0 + 20, channel: { ...returns, ...UP_STATE } },
      bridgeEvent('entered', B, undefined, { ...returns, ...UP_STATE }),
      bridgeEvent('entered', A),
    ]
    expect(events(...answers)).toEqual([['PARK_RETRIEVED', '701', B]])
  })

  it('of a caller who hangs up in a queue is that he abandoned it, and how long he waited', () => {
    const [left] = reportsOf(
      channelEvent('created', A),
      ...ami('QueueCallerAbandon', A, 'Queue: support', 'Position: 2', 'OriginalPosition: 3', 'HoldTime: 17'),
      ...ami('QueueCallerLeave', A, 'Queue: support', 'Position: 2', 'Count: 4'),
      hangupEvent(A, 9_500),
    )
    expect(left).toMatchObject({
      hook: 'queue_leave',
      queuePosition: 2,
      queueLeaveReason: 'abandoned',
      waitingSeconds: 17,
    })
  })

  it.each([
    ['TIMEOUT', 'timeout'],
    ['LEAVEEMPTY', 'no_agent'],
    ['LEAVEUNAVAIL', 'no_agent'],
    ['constructor', undefined],
  ])('of a caller who leaves a queue with the status %s has the reason %s', (status, reason) => {
    const [left] = reportsOf(
      channelEvent('created', A),
      ...ami('QueueCallerAbandon', A, 'Queue: support', 'HoldTime: 17'),
      ...ami('QueueCallerLeave', A, 'Queue: support', 'Position: 1'),
      ...ami('VarSet', A, 'Variable: QUEUESTATUS', `Value: ${status}`),
    )
    expect(left).toMatchObject({ hook: 'queue_leave', waitingSeconds: 17 })
    expect(left?.queueLeaveReason).toBe(reason)
  })

  it('of a caller who leaves a queue comes before its next event, without a reason', () => {
    const { apply, trace } = createTracer(ALL)
    apply(channelEvent('created', A), ...ami('QueueCallerLeave', A, 'Queue: support', 'Position: 1'))
    apply(channelEvent('held', A, 20), ...ami('VarSet', A, 'Variable: QUEUESTATUS', 'Value: TIMEOUT'))
    const hooks = trace().events.map(({ hook }) => hook)
    expect(hooks.slice(hooks.indexOf('queue_leave'))).toEqual(['queue_leave', 'channel_hold'])
    expect(trace().events.find(({ hook }) => hook === 'queue_leave')).not.toHaveProperty('queueLeaveReason')
  })

  it('of agents behind Local channels names their phones', () => {
    const events = queueOf('queue-local-members')
    const phones = events.filter(({ hook }) => hook.startsWith('queue_agent'))
    expect(
      phones.map(({ hook, agentId, agentNumber, agentCallId }) => [hook, agentId, agentNumber, agentCallId]),
    ).toEqual([
      ['queue_agent_offer', 'Carol', '1003', '1795836416.88'],
      ['queue_agent_offer', 'Bob', '1002', '1795836416.89'],
      ['queue_agent_answer', 'Carol', '1003', '1795836416.88'],
      ['queue_agent_complete', 'Carol', '1003', '1795836416.88'],
    ])
    expect(phones.at(-1)).toMatchObject({ waitingSeconds: 1, talkingSeconds: 1, reason: 'caller' })
    const leave = events.findIndex(({ hook }) => hook === 'queue_leave')
    expect(events[leave]).toMatchObject({ queueLeaveReason: 'answered', waitingSeconds: 1 })
    expect(events[leave + 1]?.hook).toBe('queue_agent_answer')
  })

  it('of a talk whose end is reported after both legs have ended comes with the second leg, once', () => {
    const agent = { name: 'PJSIP/1002-1', state: 0 }
    const member = ['Queue: support', 'MemberName: Bob', `DestUniqueid: ${B}`]
    const events = reportsOf(
      channelEvent('created', A),
      channelEvent('created', B, 1, agent),
      ...ami('AgentConnect', A, ...member, 'HoldTime: 2'),
      hangupEvent(A, 13_000),
      hangupEvent(B, 13_001, 16, agent),
      ...ami('AgentComplete', A, ...member, 'HoldTime: 2', 'TalkTime: 4').map((report) => ({
        ...report,
        atMs: T0 + 13_002,
      })),
    )
    expect(events.map(({ hook, callId }) => `${hook} ${callId}`)).toEqual([
      `queue_agent_answer ${A}`,
      `queue_agent_complete ${B}`,
    ])
    expect(events[1]).toMatchObject({
      ...{ queueId: 'support', agentId: 'Bob', agentCallId: B, otherLegCallId: A },
      ...{ waitingSeconds: 2, talkingSeconds: 4 },
    })
  })

  it('of a talk behind a Local channel that ends first is one, and names the phone', () => {
    const [first, second] = ['1', '2'].map((half) => ({ name: `Local/1003@q-00000001;${half}`, state: 0 }))
    const phone = { name: 'PJSIP/1003-1', state: 0, callerNumber: '1003' }
    const [L1, L2] = ['1767225600.8', '1767225600.9']
    const member = ['Queue: support', 'MemberName: Carol', `DestUniqueid: ${L1}`]
    const dial = (caller: string, callerOver: object, called: string, calledOver: object) => ({
      ...({ kind: 'dialled', status: '', atMs: T0 + 2 } as const),
      ...{ caller: channel(caller, callerOver), called: channel(called, calledOver) },
    })
    const events = reportsOf(
      channelEvent('created', A),
      channelEvent('created', L1, 1, first),
      channelEvent('created', L2, 1, second),
      channelEvent('created', C, 1, phone),
      dial(A, {}, L1, first!),
      dial(L2, second!, C, phone),
      ...ami('AgentConnect', A, ...member, 'HoldTime: 2'),
      hangupEvent(L1, 13_000, 16, first),
      hangupEvent(L2, 13_000, 16, second),
      ...ami('AgentComplete', A, ...member, 'HoldTime: 2', 'TalkTime: 4'),
      hangupEvent(C, 13_001, 16, phone),
      hangupEvent(A, 13_001),
    ).filter(({ hook }) => hook.startsWith('queue_'))
    expect(
      events.map(({ hook, agentCallId, otherLegCallId }) => [hook, agentCallId, otherLegCallId]),
    ).toEqual([
      ['queue_agent_answer', C, C],
      ['queue_agent_complete', C, C],
    ])
  })

  it('of an offer is published though the ends of caller and agent were missed', () => {
    const half = { name: 'Local/1003@q-00000001;1', state: 0 }
    const offer = [
      channelEvent('created', A),
      channelEvent('created', B, 1, half),
      ...ami('AgentCalled', A, 'Queue: support', 'MemberName: Carol', `DestUniqueid: ${B}`),
    ]
    const { apply, push, mapping, trace } = createTracer(ALL)
    apply(...offer)
    push(mapping.reconcile(mapping.snapshot(), [], T0 + 9_000))
    const reconciled = trace().events.filter(({ callId }) => callId === A)
    const hooks = ['channel_create', 'channel_answer', 'queue_agent_offer', 'channel_destroy']
    expect(reconciled.map(({ hook }) => hook)).toEqual(hooks)

    const full = createTracer({ ...ALL, maxOpenLegs: 2 })
    full.apply(...offer, channelEvent('created', C))
    const evicted = full.trace().events.filter(({ callId }) => callId === A)
    expect(evicted.map(({ hook }) => hook)).toEqual(hooks.slice(0, 3))
  })

  it('of a talk whose end was missed invents no talk', () => {
    const agent = { name: 'PJSIP/1002-1', state: 6 }
    const { apply, push, mapping, trace } = createTracer(ALL)
    apply(
      channelEvent('created', A),
      channelEvent('created', B, 1, agent),
      ...ami('AgentConnect', A, 'Queue: support', 'MemberName: Bob', `DestUniqueid: ${B}`),
    )
    push(mapping.reconcile(mapping.snapshot(), [{ channel: channel(A, UP_STATE) }], T0 + 9_000))
    apply(hangupEvent(A, 3_600_000))
    const hooks = trace()
      .events.filter(({ callId }) => callId === A)
      .map(({ hook }) => hook)
    expect(hooks).toContain('queue_agent_answer')
    expect(hooks).not.toContain('queue_agent_complete')
  })

  it('of an agent whose Local channel dials no phone is an offer without a leg', () => {
    const half = { name: 'Local/1003@q-00000001;1', state: 0 }
    const events = reportsOf(
      channelEvent('created', A),
      channelEvent('created', B, 1, half),
      ...ami('AgentCalled', A, 'Queue: support', 'MemberName: Carol', `DestUniqueid: ${B}`),
      hangupEvent(B, 30, 0, half),
    )
    expect(events).toMatchObject([{ hook: 'queue_agent_offer', callId: A, agentId: 'Carol' }])
    expect(events[0]).not.toHaveProperty('agentCallId')
  })

  it('of a queue whose time is over is no abandoned call, and its agents did not answer', () => {
    const events = queueOf('queue-timeout-call-goes-on')
    const leave = events.find(({ hook }) => hook === 'queue_leave')
    expect(leave).toMatchObject({ queueLeaveReason: 'timeout', waitingSeconds: 10 })
    const agents = events.filter(
      ({ hook, direction }) => hook === 'channel_destroy' && direction === 'outbound',
    )
    expect(agents.map(({ hangupCause }) => hangupCause)).toEqual(['NO_ANSWER', 'NO_ANSWER'])
    const missed = events.filter(({ hook }) => hook === 'queue_agent_no_answer')
    expect(missed.map(({ agentNumber, ringingMs }) => [agentNumber, ringingMs])).toEqual([
      ['1003', 5_000],
      ['1002', 5_000],
    ])
  })

  it('of a queue whose caller hangs up is an abandoned call', () => {
    const leave = queueOf('queue-timeout-hangup').find(({ hook }) => hook === 'queue_leave')
    expect(leave).toMatchObject({ queueLeaveReason: 'abandoned', waitingSeconds: 3 })
  })

  it('of a caller who presses a key in a queue is that, and the call is not missed', () => {
    const events = queueOf('queue-key').filter(({ direction }) => direction === 'inbound')
    expect(events.map(({ hook }) => hook)).toEqual([
      ...['channel_create', 'channel_answer', 'queue_join', 'queue_agent_offer', 'channel_dtmf'],
      ...['queue_leave', 'channel_destroy'],
    ])
    const leave = events.find(({ hook }) => hook === 'queue_leave')
    expect(leave).toMatchObject({ queueId: 'support', queueLeaveReason: 'key' })
  })

  it.each(['stopped by the dial plan', 'ended by the caller'])(
    'of a recording that is %s is its file',
    (end) => {
      const recordings = queueOf('mix-monitor').filter(({ hook }) => hook.startsWith('recording_'))
      expect(recordings.map(({ hook, reason }) => [hook, reason])).toEqual([
        ['recording_started', undefined],
        ['recording_ready', 'stopped'],
        ['recording_started', undefined],
        ['recording_ready', 'hangup'],
      ])
      const [started, ready] = end.startsWith('stopped') ? recordings : recordings.slice(2)
      expect(started?.path).toMatch(/^\/var\/spool\/asterisk\/monitor\/(call|second)-rec-\d+\.\d+\.wav$/)
      expect(ready?.path).toBe(started?.path)
      expect(ready?.durationMs).toBe((ready?.timestampMs ?? 0) - (started?.timestampMs ?? 0))
      expect(ready?.durationMs).toBeGreaterThan(1_000)
    },
  )

  it('of recordings of an application is their files, over ARI', () => {
    const events = ariCallOf('ari-recordings')
    expect(
      events.flatMap(({ hook, path, durationMs, reason }) =>
        hook.startsWith('recording_') ? [[hook, path, durationMs, reason]] : [],
      ),
    ).toEqual([
      ['recording_started', 'first.wav', undefined, undefined],
      ['recording_ready', 'first.wav', 1_003, undefined],
      ['recording_started', 'second.wav', undefined, undefined],
      ['recording_ready', 'second.wav', 1_002, 'hangup'],
    ])
    expect(events.at(-1)?.hook).toBe('channel_destroy')
  })

  it('of a recording that fails is that, with or without its begin', () => {
    const failed = (isBegin: boolean) =>
      ({ kind: 'recorded', atMs: T0 + 5, channelId: A, isBegin, path: 'x.wav', reason: 'failed' }) as const
    const last = (...all: readonly SwitchEvent[]) => reportsOf(channelEvent('created', A), ...all).at(-1)
    const expected = { hook: 'recording_ready', path: 'x.wav', reason: 'failed' }
    expect(last(failed(true), failed(false))).toMatchObject({ ...expected, durationMs: 0 })
    expect(last(failed(false))).toMatchObject(expected)
    expect(last(failed(false))).not.toHaveProperty('durationMs')
    expect(reportsOf(failed(true))).toEqual([])
  })

  it('of a recording that may have ended unseen invents no duration', () => {
    const { apply, push, mapping, trace } = createTracer(ALL)
    const begin = { kind: 'recorded', atMs: T0 + 5, channelId: A, isBegin: true, path: 'x.wav' } as const
    apply(channelEvent('created', A), begin)
    push(mapping.reconcile(mapping.snapshot(), [{ channel: channel(A, UP_STATE) }], T0 + 20))
    apply(hangupEvent(A, 3_600_000))
    const ready = trace().events.find(({ hook }) => hook === 'recording_ready')
    expect(ready).toMatchObject({ path: 'x.wav', reason: 'hangup' })
    expect(ready).not.toHaveProperty('durationMs')
  })

  it('of more recordings of a leg than a call can have is that of the newest hundred', () => {
    const begin = (n: number) =>
      ({ kind: 'recorded', atMs: T0 + n, channelId: A, isBegin: true, path: `${n}.wav` }) as const
    const begins = Array.from({ length: 150 }, (_, n) => begin(n))
    const ready = reportsOf(channelEvent('created', A), ...begins, hangupEvent(A, 200)).filter(
      ({ hook }) => hook === 'recording_ready',
    )
    expect(ready).toHaveLength(100)
    expect(ready[0]).toMatchObject({ path: '50.wav', reason: 'hangup', durationMs: 150 })
    expect(new Set(ready.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(100)
  })

  it('of a conference is who joins and leaves over ARI too; a bridge of an application is none', () => {
    const rows = ariCallOf('conference').flatMap(({ hook, callId, name, members }) =>
      hook.startsWith('conference_') ? [[hook, callId, name, members]] : [],
    )
    const [[, first] = [], [, second] = []] = rows
    expect(rows).toEqual([
      ['conference_join', first, 'team', 1],
      ['conference_join', second, 'team', 2],
      ['conference_leave', second, 'team', 1],
      ['conference_leave', first, 'team', 0],
    ])
    expect(reportsOf(channelEvent('created', A), bridgeEvent('entered', A), bridgeEvent('left', A))).toEqual(
      [],
    )
  })

  it('of a voicemail message is one event, when the message is recorded', () => {
    const events = reportsOf(
      channelEvent('created', A),
      ...ami('MessageWaiting', A, 'Mailbox: 2001@default', 'Waiting: 1', 'New: 1', 'Old: 0'),
      ...ami('VarSet', A, 'Variable: VMSTATUS', 'Value: SUCCESS'),
    )
    expect(events).toHaveLength(1)
    expect(events[0]).toMatchObject({
      hook: 'voicemail_new',
      callId: A,
      voicemailBox: '2001@default',
      fromUser: '1001',
      toUser: '2001',
    })
  })

  it.each(['FAILED', 'USEREXIT'])(
    'is nothing when VoiceMail() ends with %s, or a mailbox is read',
    (status) => {
      expect(
        reportsOf(
          channelEvent('created', A),
          ...ami('MessageWaiting', A, 'Mailbox: 2001@default', 'Waiting: 1', 'New: 1', 'Old: 0'),
          ...ami('VarSet', A, 'Variable: VMSTATUS', `Value: ${status}`),
        ),
      ).toEqual([])
    },
  )

  it('of a voicemail message has the mailbox over ARI too', () => {
    const frame = JSON.stringify({
      variable: 'VMSTATUS',
      value: 'SUCCESS',
      type: 'ChannelVarset',
      timestamp: '2026-01-01T00:00:09.000+0000',
      channel: {
        id: A,
        name: `PJSIP/1001-${A}`,
        state: 'Up',
        accountcode: 'acme',
        dialplan: {
          context: 'phones',
          exten: '2001',
          priority: 3,
          app_name: 'VoiceMail',
          app_data: '2001@default,u',
        },
      },
    })
    const parsed = parseAriEvent(frame, T0)
    if (!parsed || !('event' in parsed)) throw new Error('not an event')
    expect(reportsOf(channelEvent('created', A), parsed.event)).toMatchObject([
      { hook: 'voicemail_new', voicemailBox: '2001@default' },
    ])
  })

  it('of a transfer is none if the transfer failed', () => {
    const transfer = (result: string) =>
      ami(
        'BlindTransfer',
        A,
        `Result: ${result}`,
        `TransfererChannel: PJSIP/1001-${A}`,
        'TransfererChannelState: 6',
        'TransfererAccountCode: acme',
        `TransfererUniqueid: ${A}`,
        'Extension: 2017',
      )
    expect(reportsOf(channelEvent('created', A), ...transfer('Fail'))).toEqual([])
    expect(reportsOf(channelEvent('created', A), ...transfer('Success'))).toMatchObject([
      { hook: 'channel_transferor', callId: A, transferTo: '2017' },
    ])
  })

  it('of keys is what the phone pressed, not what the switch sends to it', () => {
    const press = (direction: string) =>
      ami('DTMFEnd', A, 'Digit: 5', 'DurationMs: 90', `Direction: ${direction}`)
    expect(reportsOf(channelEvent('created', A), ...press('Sent'))).toEqual([])
    expect(reportsOf(channelEvent('created', A), ...press('Received'))).toMatchObject([
      { hook: 'channel_dtmf', dtmfDigit: '5', dtmfDurationMs: 90 },
    ])
  })
})

describe('a missed call on Asterisk', () => {
  it('is a call to a phone that ends unanswered: one event, before the end of the caller', () => {
    const { apply, trace } = createTracer(ALL)
    apply(...dialled(), hangupEvent(B, 10, 19), hangupEvent(A, 11))
    const ofCaller = trace().events.filter(({ callId }) => callId === A)
    expect(ofCaller.map(({ hook }) => hook)).toEqual(['channel_create', 'missed_call', 'channel_destroy'])
    expect(ofCaller[1]).toMatchObject({
      callBridged: false,
      messageLeft: false,
      fromUser: '1001',
      toUser: '2001',
      otherLegCallId: B,
    })
  })

  it('is each of the recorded calls that no phone answered, over AMI and ARI', () => {
    for (const stream of ['AMI', 'ARI'] as const) {
      const { events } = traceOf(SWITCH_EVENTS[stream], {
        ...ALL,
        accountOf: () => 'acme',
        customVariables: ['SIPCALLID'],
      })
      const missed = events.filter(({ hook }) => hook === 'missed_call')
      expect(missed.map(({ customChannelVars }) => customChannelVars?.SIPCALLID).sort()).toEqual([
        'a03-busy-1',
        'a03-busy-2',
        'a04-caller-cancel-1',
        'a04-caller-cancel-2',
        'a05-no-answer-1',
        'a05-no-answer-2',
        'a06-callee-404-1',
        'a15-declined-1',
        'a16-dead-callee-1',
      ])
    }
  })

  it('is also one to a phone behind a Local channel', () => {
    const [first, second, phone] = ['Local/2001@x-1;1', 'Local/2001@x-1;2', 'PJSIP/2001-1']
    const half = (id: string, name: string) => channel(id, { name, state: name.endsWith('1') ? 0 : 4 })
    const dial = (
      caller: ReturnType<typeof channel>,
      called: ReturnType<typeof channel>,
      dialString: string,
    ) => ({ kind: 'dialled', atMs: T0, caller, called, status: '', dialString }) as const
    const phoneLeg = channel('p', { name: phone, state: 0 })
    const events = reportsOf(
      channelEvent('created', A),
      dial(channel(A), half('l1', first), '2001@x'),
      dial(half('l2', second), phoneLeg, '2001'),
      hangupEvent(A, 9),
    )
    expect(events).toMatchObject([{ hook: 'missed_call', callId: A }])
  })

  it.each([
    ['queue-timeout-hangup', () => queueOf('queue-timeout-hangup')],
    ['queue-key', () => ariCallOf('queue-key')],
  ])('is none of a caller who leaves a queue: %s', (_, read) => {
    const hooks = read().map(({ hook }) => hook)
    expect(hooks.filter((hook) => hook === 'channel_create').length).toBeGreaterThan(1)
    expect(hooks).not.toContain('missed_call')
  })

  it('is one to a phone that is dialled after a queue that the caller left unseen', () => {
    const { apply, push, mapping, trace } = createTracer(ALL)
    apply(channelEvent('created', A), ...ami('QueueCallerJoin', A, 'Queue: support', 'Position: 1'))
    const found = { channel: channel(A, { ...UP_STATE, application: 'Playback' }) }
    push(mapping.reconcile(mapping.snapshot(), [found], T0 + 20))
    const phone = channel(B, { name: 'PJSIP/1002-1', state: 0 })
    apply({ kind: 'dialled', status: '', atMs: T0 + 20, caller: channel(A, UP_STATE), called: phone })
    apply(hangupEvent(A, 30))
    expect(trace().events.map(({ hook }) => hook)).toContain('missed_call')
  })

  it('is none of a caller who waits in a queue over a restart', () => {
    const before = createTracer(ALL)
    before.apply(channelEvent('created', A), ...ami('QueueCallerJoin', A, 'Queue: support', 'Position: 1'))
    const { mapping, apply, trace } = createTracer(ALL)
    expect(mapping.savable.restore(A, JSON.parse(JSON.stringify(before.mapping.savable.save(A))))).toBe(true)
    const agent = channel(B, { name: 'PJSIP/1002-1', state: 0 })
    apply({ kind: 'dialled', status: '', atMs: T0 + 20, caller: channel(A, UP_STATE), called: agent })
    apply(hangupEvent(A, 30))
    expect(trace().events.map(({ hook }) => hook)).not.toContain('missed_call')
  })

  it('is one to a phone that is dialled after the queue', () => {
    const queued = ami('QueueCallerJoin', A, 'Queue: support', 'Position: 1')
    const left = ami('QueueCallerLeave', A, 'Queue: support', 'Position: 1')
    const missedIn = (...all: readonly SwitchEvent[]) =>
      reportsOf(...all, hangupEvent(A, 9_500)).filter(({ hook }) => hook === 'missed_call')
    const [created, ...dial] = dialled()
    expect(missedIn(created, ...queued, ...dial, ...left)).toEqual([])
    expect(missedIn(created, ...queued, ...left, ...dial)).toHaveLength(1)
  })

  it('is none to a trunk', () => {
    expect(reportsOf(...dialled(`PJSIP/trunk-${B}`, '0044123@trunk'), hangupEvent(A, 9))).toEqual([])
  })

  it('is none without a call to a phone', () => {
    expect(reportsOf(channelEvent('created', A), hangupEvent(A, 9))).toEqual([])
  })

  it('is none if the call was answered, or a message was left', () => {
    const answered = {
      kind: 'dialled',
      atMs: T0 + 5,
      caller: channel(A),
      called: channel(B),
      status: 'ANSWER',
    } as const
    expect(reportsOf(...dialled(), answered, hangupEvent(A, 9))).toEqual([])
    const message = { kind: 'message_left', atMs: T0 + 5, channel: channel(A, UP_STATE) } as const
    expect(reportsOf(...dialled(), message, hangupEvent(A, 9)).map(({ hook }) => hook)).toEqual([
      'voicemail_new',
    ])
  })

  it('is not invented for a caller who was found ended', () => {
    const { apply, push, mapping, trace } = createTracer(ALL)
    apply(...dialled())
    push(mapping.reconcile(mapping.snapshot(), [], T0 + 60_000))
    expect(trace().events.map(({ hook }) => hook)).not.toContain('missed_call')
  })

  it('is none of a caller who waits in a queue over a restart', () => {
    const before = createTracer(ALL)
    const [created, ...dial] = dialled()
    before.apply(created, ...ami('QueueCallerJoin', A, 'Queue: support', 'Position: 1'))
    const saved = before.mapping.savable.save(A)
    const { apply, mapping, trace } = createTracer(ALL)
    expect(saved && mapping.savable.restore(A, saved)).toBe(true)
    apply(...dial, hangupEvent(A, 9))
    const ofCaller = trace().events.filter(({ callId }) => callId === A)
    expect(ofCaller.map(({ hook }) => hook)).toEqual(['channel_destroy'])
  })

  it('is known after a restart', () => {
    const before = createTracer(ALL)
    before.apply(...dialled())
    const saved = before.mapping.savable.save(A)
    const { apply, mapping, trace } = createTracer(ALL)
    expect(saved && mapping.savable.restore(A, saved)).toBe(true)
    apply(hangupEvent(A, 9))
    expect(trace().events.map(({ hook }) => hook)).toEqual(['missed_call', 'channel_destroy'])
  })
})
