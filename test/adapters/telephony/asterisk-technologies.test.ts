import fc from 'fast-check'
import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import type { Channel, SwitchEvent } from '../../../adapters/telephony/asterisk/switch-event.js'
import { channelEvent as amiEvent, message } from './asterisk-ami-server.js'
import { ariEvent } from './asterisk-ari-server.js'
import { hooksOf } from './asterisk-scenarios.js'
import {
  A,
  B,
  bridgeEvent,
  C,
  channel,
  channelEvent,
  createTracedMapping,
  hangupEvent,
  T0,
  UP_STATE,
} from './asterisk-switch-events.js'
import { startAmiSource, startAriSource } from './asterisk-under-test.js'

const [DOWN, RESERVED, OFF_HOOK, DIALING, RING, RINGING, UP] = [0, 1, 2, 3, 4, 5, 6]
const PRE_RING = 9

type Step = readonly [kind: 'created' | 'updated' | 'dial_plan_step', over: Partial<Channel>]

/**
 * Incoming calls, as the channel drivers of Asterisk create their channels: chan_sip, chan_pjsip, chan_iax2, sig_pri,
 * sig_analog, chan_skinny. The number of the caller is 5550123, that of the callee 5550199.
 */
const number = { callerNumber: '5550123' }
const none = { callerNumber: undefined }
const dialled = { extension: '5550199' }
const INCOMING: Readonly<Record<string, readonly Step[]>> = {
  'SIP/trunk-0000007d': [
    ['created', { state: DOWN, ...number, ...dialled }],
    ['updated', { state: RING, ...number, ...dialled }],
  ],
  'PJSIP/trunk-0000002a': [['created', { state: RING, ...number, ...dialled }]],
  'IAX2/trunk-1234': [['created', { state: RING, ...number, ...dialled }]],
  'DAHDI/i1/5550123-2': [['created', { state: RING, ...number, ...dialled }]],
  'DAHDI/i1/5550123-3 (overlap)': [
    ['created', { state: RESERVED, ...number, extension: '555' }],
    ['updated', { state: RING, ...number, ...dialled }],
  ],
  'DAHDI/33-1 (polarity)': [
    ['created', { state: PRE_RING, ...none, extension: 's' }],
    ['updated', { state: PRE_RING, ...number, extension: 's' }],
    ['updated', { state: RING, ...number, ...dialled }],
  ],
  'DAHDI/34-1 (between rings)': [
    ['created', { state: RING, ...none, ...dialled }],
    ['updated', { state: RING, ...number, ...dialled }],
  ],
  'DAHDI/2-1 (a phone off hook)': [
    ['created', { state: RESERVED, ...number, extension: 's' }],
    ['updated', { state: RING, ...number, ...dialled }],
  ],
  'Skinny/100@phone-1': [
    ['created', { state: DOWN, ...number, extension: '' }],
    ['updated', { state: OFF_HOOK, ...number, extension: '' }],
    ['updated', { state: RING, ...number, ...dialled }],
  ],
}

/** Called channels, with the dial string and the states until they answer. */
const DIALLED: Readonly<Record<string, readonly [dialString: string, states: readonly number[]]>> = {
  'SIP/trunk-0000007e': ['trunk/5550199', [DOWN, RINGING]],
  'PJSIP/trunk-0000002b': ['5550199@trunk', [DOWN, RINGING]],
  'IAX2/trunk-1235': ['user:hidden@trunk/5550199@context', [DOWN, RINGING]],
  'DAHDI/i1/5550199-3': ['g1/5550199', [RESERVED, DIALING, RINGING]],
  'DAHDI/4-1 (a line without answer supervision)': ['4/w5550199', [RESERVED, DIALING]],
  'DAHDI/5-1 (queue)': ['DAHDI/5/5550199', [RESERVED, RINGING]],
}

const nameOf = (title: string) => title.split(' ', 1)[0] as string

/** AMI has the `Linkedid` of the channel that dials; ARI does not. */
const INTERFACES = { AMI: (id: string) => ({ linkedId: id }), ARI: () => ({}) } as const

describe.each(Object.entries(INTERFACES))('over %s', (_, linked) => {
  const event = (kind: Step[0], id: string, name: string, atMs: number, over: Partial<Channel>) =>
    ({ kind, atMs, channel: channel(id, { name, ...linked(id), ...over }) }) as SwitchEvent

  describe.each(Object.entries(INCOMING))('an incoming call of %s', (title, steps) => {
    const name = nameOf(title)
    const events = steps.map(([kind, over], index) => event(kind, A, name, T0 + index * 10, over))
    const last = steps.at(-1)?.[1]

    it('is inbound, with both numbers, as soon as it rings, and its time is that of the channel', () => {
      const { apply, trace } = createTracedMapping()
      apply(...events)
      expect(trace().events).toMatchObject([
        { hook: 'channel_create', timestampMs: T0, direction: 'inbound', from: '5550123', to: '5550199' },
      ])
      expect(trace().events[0]?.isInternalLeg).toBe(false)
    })

    it('keeps its direction when it is answered, bridged, transferred and ends', () => {
      const { apply, trace } = createTracedMapping()
      const up = { name, ...linked(A), ...last, ...UP_STATE }
      apply(
        ...events,
        channelEvent('updated', A, 100, up),
        bridgeEvent('entered', A, undefined, up),
        bridgeEvent('left', A, undefined, up),
        bridgeEvent('entered', A, { id: 'c', kind: 'talk' }, up),
        hangupEvent(A, 900, 16, up),
      )
      const { events: all, openLegs } = trace()
      expect(hooksOf(all)).toEqual(['create', 'answer', 'destroy'])
      expect(new Set(all.map(({ direction, from, to }) => `${direction} ${from} ${to}`))).toEqual(
        new Set(['inbound 5550123 5550199']),
      )
      expect(openLegs).toBe(0)
    })

    it('is the caller of what it dials', () => {
      const { apply, trace } = createTracedMapping()
      apply(...events)
      const called = channel(B, { name: 'PJSIP/1002-1', state: DOWN, callerNumber: '1002', ...linked(A) })
      apply({ kind: 'created', atMs: T0 + 50, channel: called })
      apply({
        ...{ kind: 'dialled', atMs: T0 + 60, status: '', dialString: '1002', called },
        caller: channel(A, { name, ...linked(A), ...last }),
      })
      expect(trace().events.map(({ callId, direction }) => `${callId} ${direction}`)).toEqual([
        `${A} inbound`,
        `${B} outbound`,
      ])
    })
  })

  describe.each(Object.entries(DIALLED))('a dialled channel of %s', (title, [dialString, states]) => {
    const name = nameOf(title)
    const called = (state: number) =>
      channel(B, {
        ...{ name, state, callerNumber: undefined, connectedNumber: '1001', extension: undefined },
        ...linked(A),
      })
    const caller = channel(A, { ...linked(A) })
    const begin = { kind: 'created', atMs: T0 + 10, channel: called(states[0] as number) } as const
    const dial = (by: Channel | undefined): SwitchEvent => ({
      ...{ kind: 'dialled', atMs: T0 + 20, called: called(states[0] as number), status: '', dialString },
      ...(by ? { caller: by } : {}),
    })
    const rest: readonly SwitchEvent[] = [
      ...states
        .slice(1)
        .map((state) => ({ kind: 'updated', atMs: T0 + 30, channel: called(state) }) as const),
      { kind: 'updated', atMs: T0 + 500, channel: called(UP) },
      { kind: 'hung_up', atMs: T0 + 900, channel: called(UP), cause: 16 },
    ]
    const legOf = (...events: readonly SwitchEvent[]) => {
      const { apply, trace } = createTracedMapping()
      apply(channelEvent('created', A, 0, linked(A)), ...events)
      return trace().events.filter(({ callId }) => callId === B)
    }

    const [half1, half2] = ([1, 2] as const).map((half) => ({
      ...channel(`1767225600.8${half}`, { name: `Local/5550199@out-1;${half}`, ...linked(A) }),
      state: half === 1 ? DOWN : RING,
    })) as [Channel, Channel]
    const halves = [half1, half2].map((half) => ({ kind: 'created', atMs: T0 + 5, channel: half }) as const)
    const dialHalf: SwitchEvent = {
      ...{ kind: 'dialled', atMs: T0 + 5, caller, called: half1, status: '' },
      dialString: '5550199@out/n',
    }
    const fork = channel(C, { name: 'PJSIP/1003-1', state: DOWN, ...linked(A) })
    const forks: readonly SwitchEvent[] = [
      { kind: 'created', atMs: T0 + 9, channel: fork },
      { kind: 'dialled', atMs: T0 + 9, caller, called: fork, status: '', dialString: '1003' },
    ]
    const transfer = [
      bridgeEvent('entered', B, undefined, called(UP)),
      bridgeEvent('left', B, undefined, called(UP)),
      bridgeEvent('entered', B, { id: 'c', kind: 'talk' }, called(UP)),
    ]

    it.each([
      ['dialled', [begin, dial(caller), ...rest]],
      ['dialled in a fork', [begin, ...forks, dial(caller), ...rest]],
      ['dialled behind a Local channel', [...halves, dialHalf, begin, dial(half2), ...rest]],
      [
        'dialled and transferred',
        [begin, dial(caller), ...rest.slice(0, -1), ...transfer, ...rest.slice(-1)],
      ],
      ['originated', [begin, dial(undefined), ...rest]],
      [
        'dialled after a pre-dial handler',
        [begin, { ...begin, kind: 'dial_plan_step' }, dial(caller), ...rest],
      ],
    ] as const)('that is %s is outbound, to the dialled number', (_, events) => {
      const all = legOf(...(events as readonly SwitchEvent[]))
      expect(hooksOf(all)).toEqual(['create', 'answer', 'destroy'])
      for (const { direction, to, from } of all)
        expect([direction, from, to]).toEqual(['outbound', '1001', '5550199'])
      expect(all[0]?.timestampMs).toBe(T0 + 10)
    })
  })

  it.each([
    'AsyncGoto/PJSIP/1001-00000001',
    'AudioSocket/127.0.0.1:9092-40325ec2-5efd-4bd3-805f-53576e581d13',
    'DAHDI/pseudo-1804289383',
    'MulticastRTP/0x7f0c',
    'OutgoingSpoolFailed',
    'Snoop/1001-00000000',
    'UnicastRTP/127.0.0.1:5000-0x7f0c',
    'WebSocket/media/0x7f0c',
  ])('%s is the phone of nobody', (name) => {
    const { apply, trace } = createTracedMapping()
    const called = channel(B, { name, state: DOWN, ...linked(A) })
    apply(
      channelEvent('created', A, 0, linked(A)),
      { kind: 'created', atMs: T0, channel: called },
      { kind: 'dialled', atMs: T0, caller: channel(A, linked(A)), called, status: '', dialString: 'x' },
      hangupEvent(B, 10, 16, { name, ...linked(A) }),
      hangupEvent(A, 20, 16, linked(A)),
    )
    const { events } = trace()
    expect(events.filter(({ callId }) => callId === B).every(({ isInternalLeg }) => isInternalLeg)).toBe(true)
    expect(events.filter(({ callId }) => callId === B)).toHaveLength(2)
    expect(events.filter(({ hook }) => hook === 'missed_call')).toEqual([])
  })

  it('an ISDN channel that is found in mid-call has the number in its name', () => {
    const { apply, trace } = createTracedMapping()
    const found = { name: 'DAHDI/i1/5550199-3', callerNumber: undefined, application: 'AppDial' }
    apply(channelEvent('updated', B, 0, { ...found, ...UP_STATE }))
    expect(trace().events[0]).toMatchObject({ direction: 'outbound', to: '5550199' })
  })

  it('a channel that ends before its direction is known has the likely one', () => {
    for (const [state, direction] of [
      [DOWN, 'outbound'],
      [RESERVED, 'inbound'],
    ] as const) {
      const { apply, trace } = createTracedMapping()
      apply(
        event('created', A, 'DAHDI/2-1', T0, { state }),
        hangupEvent(A, 900, 16, { state, name: 'DAHDI/2-1' }),
      )
      expect(trace().events.map((end) => `${end.hook} ${end.direction}`)).toEqual([
        `channel_create ${direction}`,
        `channel_destroy ${direction}`,
      ])
    }
  })

  it('accountOf is called once the direction is known', () => {
    const seen: string[] = []
    const { apply, trace } = createTracedMapping({
      accountOf: ({ direction }) => {
        seen.push(direction)
        return direction === 'inbound' ? 'of the trunk' : 'wrong'
      },
    })
    apply(
      ...(INCOMING['SIP/trunk-0000007d'] ?? []).map(([kind, over]) =>
        event(kind, A, 'SIP/trunk-1', T0, over),
      ),
    )
    expect([new Set(seen), trace().events[0]?.accountId]).toEqual([new Set(['inbound']), 'of the trunk'])
  })

  it('any steps between the events of a call change neither its direction nor its numbers', () => {
    const title = fc.constantFrom(...Object.keys(INCOMING))
    const noise = fc.array(fc.constantFrom('variable_set', 'updated', 'none'), { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(title, noise, (chosen, kinds) => {
        const { apply, trace } = createTracedMapping()
        ;(INCOMING[chosen] ?? []).forEach(([kind, over], index) => {
          const current = event(kind, A, nameOf(chosen), T0 + index, over)
          apply(current)
          const between = kinds[index]
          if (between !== 'none') apply({ ...current, kind: between } as SwitchEvent)
        })
        const [create, ...others] = trace().events
        expect([create?.direction, create?.from, create?.to, others]).toEqual([
          'inbound',
          '5550123',
          '5550199',
          [],
        ])
      }),
    )
  })
})

describe('the wait for a direction', () => {
  const phone = { Channel: 'DAHDI/2-1', ChannelState: RESERVED, Exten: 's' }

  it('over AMI ends after half a minute', async () => {
    const { server, clock, hooks, published, connects } = await startAmiSource()
    const { send } = await server.connected(0)
    await until(() => connects() === 1)
    send(amiEvent('Newchannel', A, T0, phone))
    send(amiEvent('Newchannel', B, T0))
    await until(() => published.length === 1)
    await clock.advance(15_000)
    expect(hooks()).toEqual([`${B} create`])
    await clock.advance(15_000)
    await until(() => published.length === 2)
    expect(published[1]).toMatchObject({ callId: A, timestampMs: T0, direction: 'inbound' })
  })

  it('over ARI ends after half a minute', async () => {
    const { server, clock, hooks, published, connects } = await startAriSource()
    const { send } = await server.connected(0)
    await until(() => connects() === 1)
    send(
      ariEvent('ChannelCreated', A, T0, { name: 'DAHDI/2-1', state: 'Rsrvd' }),
      ariEvent('ChannelCreated', B, T0),
    )
    await until(() => published.length === 1)
    await clock.advance(15_000)
    expect(hooks()).toEqual([`${B} create`])
    await clock.advance(15_000)
    await until(() => published.length === 2)
    expect(published[1]).toMatchObject({ callId: A, timestampMs: T0, direction: 'inbound' })
  })

  it('is limited to 10,000 legs: above them the oldest is published with what is known', () => {
    const { apply, trace } = createTracedMapping()
    const ids = Array.from({ length: 10_001 }, (_, n) => `1767225600.${n}`)
    for (const id of ids) apply(channelEvent('created', id, 0, { state: DOWN }))
    expect(trace().events.map(({ callId }) => callId)).toEqual([ids[0]])
  })

  it('of an analog call without a caller id ends when its dial plan runs', async () => {
    const { server, published, connects } = await startAmiSource()
    const { send } = await server.connected(0)
    await until(() => connects() === 1)
    const line = { Channel: 'DAHDI/34-1', ChannelState: RING, CallerIDNum: '<unknown>', Exten: 's' }
    send(amiEvent('Newchannel', A, T0, line))
    send(amiEvent('VarSet', A, T0 + 1, { ...line, Variable: 'X', Value: '1' }))
    send(amiEvent('Newexten', A, T0 + 2_000, { ...line, Application: 'Answer' }))
    await until(() => published.length === 1)
    expect(published[0]).toMatchObject({ hook: 'channel_create', direction: 'inbound', timestampMs: T0 })
    expect(published[0]).not.toHaveProperty('from')
  })
})

describe('a message of AMI', () => {
  it('that begins with an empty line is used', async () => {
    const { server, hooks, published } = await startAmiSource()
    const { send } = await server.connected(0)
    send(amiEvent('Newchannel', A, T0))
    send(`${message({ Event: 'TestEvent', Privilege: 'call,all', Type: 'StateChange' })}\r\n`)
    send(amiEvent('Hangup', A, T0 + 900, { Cause: 16 }))
    await until(() => published.length === 2)
    expect(hooks()).toEqual([`${A} create`, `${A} destroy`])
  })
})
