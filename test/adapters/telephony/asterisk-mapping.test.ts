import { describe, expect, it } from 'vitest'
import type { Bridge } from '../../../adapters/telephony/asterisk/switch-event.js'
import { hooksOf } from './asterisk-scenarios.js'
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

describe('the Asterisk mapping', () => {
  it('drops the oldest leg above maxOpenLegs and reports it', () => {
    const { apply, trace } = createTracedMapping({ maxOpenLegs: 2 })
    apply(
      channelEvent('created', A),
      channelEvent('created', B),
      bridgeEvent('entered', A),
      channelEvent('created', C),
      bridgeEvent('entered', B),
    )
    expect(trace()).toMatchObject({ openLegs: 2, problems: [{ kind: 'overflow', callId: A }] })
    expect(trace().events.filter(({ hook }) => hook === 'channel_bridge')).toEqual([])
    apply(hangupEvent(A))
    expect(trace().problems).toHaveLength(1)
  })

  it('an accountOf or realmOf that throws is a problem, and the leg continues', () => {
    const { apply, trace } = createTracedMapping({
      accountOf: ({ extension, accountCode }) => {
        if (extension === 'x') throw new Error('oops')
        return accountCode
      },
      realmOf: () => {
        throw new Error('no realm')
      },
    })
    apply(channelEvent('created', A, 0, { extension: 'x' }), channelEvent('updated', A))
    expect(trace().problems.map(({ kind, message }) => [kind, message])).toEqual([
      ['callback_failed', 'accountOf threw: Error: oops'],
      ['malformed', 'realmOf threw: Error: no realm'],
    ])
    expect(hooksOf(trace().events)).toEqual(['create'])
  })

  it('the end of an unseen channel is a problem; late messages after an end are ignored', () => {
    const { apply, trace } = createTracedMapping()
    apply(
      hangupEvent(A),
      channelEvent('created', B),
      hangupEvent(B),
      channelEvent('updated', B),
      hangupEvent(B),
    )
    expect(trace().problems).toEqual([
      { kind: 'unknown_leg', message: 'the end of a channel whose begin was not seen', callId: A },
    ])
    expect(hooksOf(trace().events)).toEqual(['create', 'destroy'])
  })

  it('a channel first seen in mid-call began at the time in its id', () => {
    const { apply, trace } = createTracedMapping()
    apply(channelEvent('updated', A, 60_000, UP_STATE))
    expect(trace().events).toMatchObject([
      {
        hook: 'channel_create',
        timestampMs: T0,
        direction: 'inbound',
        idempotencyKey: `${A}/channel_create`,
      },
      { hook: 'channel_answer', timestampMs: T0 + 60_000 },
    ])
  })

  it('an id chosen by the host may be reused for a second call', () => {
    const { apply, trace } = createTracedMapping()
    apply(
      channelEvent('created', 'mine'),
      hangupEvent('mine', 500),
      channelEvent('created', 'mine', 9_000),
      hangupEvent('mine', 9_500),
    )
    expect(trace().events.map(({ idempotencyKey }) => idempotencyKey)).toEqual(
      [T0, T0 + 9_000].flatMap((ms) => [
        `mine/${ms / 1000}/channel_create`,
        `mine/${ms / 1000}/channel_destroy`,
      ]),
    )
  })

  it('realmOf turns numbers into addresses', () => {
    const { apply, trace } = createTracedMapping({ realmOf: ({ accountCode }) => `${accountCode}.example` })
    apply(channelEvent('created', A))
    expect(trace().events[0]).toMatchObject({ from: '1001@acme.example', to: '2001@acme.example' })
  })

  it('selected variables are in customChannelVars as soon as they are known', () => {
    const { apply, trace } = createTracedMapping({ customVariables: ['QUEUE'] })
    apply(
      channelEvent('created', A),
      channelEvent('updated', A, 5, { ...UP_STATE, variable: (name) => `${name}-1` }),
    )
    expect(trace().events.map(({ customChannelVars }) => customChannelVars)).toEqual([
      undefined,
      { QUEUE: 'QUEUE-1' },
    ])
  })

  it('a bridge in early media is published when both legs have answered, or never', () => {
    const { apply, lines } = createTracedMapping()
    apply(
      channelEvent('created', A),
      channelEvent('updated', A, 0, UP_STATE),
      channelEvent('created', B, 0, { state: 0 }),
    )
    apply(bridgeEvent('entered', A), bridgeEvent('entered', B, bridge, { state: 5 }))
    expect(lines().filter((line) => line.includes('bridge'))).toEqual([])
    apply(channelEvent('updated', B, 10, UP_STATE))
    expect(lines().slice(-3)).toEqual([`${B} answer`, `${B} bridge ${A}`, `${A} bridge ${B}`])

    const never = createTracedMapping()
    never.apply(
      channelEvent('created', A),
      channelEvent('updated', A, 0, UP_STATE),
      channelEvent('created', B, 0, { state: 0 }),
    )
    never.apply(
      bridgeEvent('entered', A),
      bridgeEvent('entered', B, bridge, { state: 5 }),
      bridgeEvent('left', B, bridge, { state: 5 }),
      hangupEvent(B),
    )
    expect(never.lines().filter((line) => line.includes('bridge'))).toEqual([])
  })

  it('two legs that meet again are bridged again; three in a bridge are a conference', () => {
    const { apply, lines } = createTracedMapping()
    for (const id of [A, B, C]) apply(channelEvent('created', id), channelEvent('updated', id, 0, UP_STATE))
    apply(
      bridgeEvent('entered', A),
      bridgeEvent('entered', B),
      bridgeEvent('left', A),
      bridgeEvent('entered', A),
    )
    const talks = lines().filter((line) => line.includes('bridge'))
    expect(talks).toHaveLength(4)
    expect(new Set(talks)).toEqual(new Set([`${A} bridge ${B}`, `${B} bridge ${A}`]))
    apply(bridgeEvent('entered', C))
    expect(lines().at(-1)).toBe(`${C} bridge`)
  })

  it('a Local channel into a conference brings the phone behind it into the conference', () => {
    const { apply, lines } = createTracedMapping()
    const [first, second] = [
      { name: 'Local/9@x-0;1', ...UP_STATE },
      { name: 'Local/9@x-0;2', ...UP_STATE },
    ]
    for (const [id, over] of [
      [A, UP_STATE],
      [B, first],
      [C, second],
    ] as const)
      apply(channelEvent('created', id, 0, over))
    const room: Bridge = { id: 'team', kind: 'conference', name: 'team' }
    apply(
      channelEvent('created', 'D', 0, UP_STATE),
      bridgeEvent('entered', 'D', room),
      bridgeEvent('entered', C, room, second),
    )
    expect(lines()).toContain('D bridge')
    apply(bridgeEvent('entered', B, bridge, first), bridgeEvent('entered', A))
    expect(lines().filter((line) => line.startsWith(`${A} bridge`))).toEqual([`${A} bridge`])
  })

  it('an early bridge that was left before the answer is not published', () => {
    const { apply, lines } = createTracedMapping()
    apply(
      channelEvent('created', A),
      channelEvent('updated', A, 0, UP_STATE),
      channelEvent('created', B, 0, { state: 0 }),
    )
    apply(bridgeEvent('entered', A), bridgeEvent('entered', B, bridge, { state: 5 }))
    apply(bridgeEvent('left', B, bridge, { state: 5 }), channelEvent('updated', B, 10, UP_STATE))
    expect(lines().at(-1)).toBe(`${B} answer`)
  })

  it('parked calls are not bridged, however many there are', () => {
    const { apply, trace } = createTracedMapping()
    const lot: Bridge = { id: 'lot', kind: 'hold' }
    for (const id of [A, B, C])
      apply(channelEvent('created', id, 0, UP_STATE), bridgeEvent('entered', id, lot))
    expect(hooksOf(trace().events)).not.toContain('bridge')
  })

  it('cause 127 has no meaning for a call that was not answered', () => {
    const { apply, trace } = createTracedMapping()
    const called = channel(B, { state: 5 })
    apply(channelEvent('created', A), channelEvent('created', B, 0, { state: 0 }))
    for (const status of ['', 'RINGING', 'NOANSWER']) {
      apply({ kind: 'dialled', atMs: T0, caller: channel(A), called, status })
    }
    apply(hangupEvent(A, 0, 127), hangupEvent(B, 0, 127))
    expect(trace().events.flatMap(({ hangupCause }) => hangupCause ?? [])).toEqual(['NO_ANSWER', 'NO_ANSWER'])
  })

  it('a repeated hold and a resume without a hold are ignored', () => {
    const { apply, trace } = createTracedMapping()
    apply(
      channelEvent('created', A, 0, UP_STATE),
      channelEvent('unheld', A),
      channelEvent('held', A),
      channelEvent('held', A),
      channelEvent('unheld', A),
    )
    expect(hooksOf(trace().events)).toEqual(['create', 'answer', 'hold', 'unhold'])
  })
})
