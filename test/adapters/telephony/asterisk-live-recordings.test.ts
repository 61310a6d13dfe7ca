import { readFileSync } from 'node:fs'
import { accountFromVariable, OPTIONAL_HOOKS } from 'hookswitch/asterisk'
import { describe, expect, it } from 'vitest'
import type { Channel, SwitchEvent } from '../../../adapters/telephony/asterisk/switch-event.js'
import { amiEvents, traceOf } from './asterisk-scenarios.js'
import {
  A,
  B,
  channel,
  channelEvent,
  createTracedMapping,
  hangupEvent,
  T0,
} from './asterisk-switch-events.js'

/** Calls on a live Asterisk 22.10, one connection of AMI each, without the banner. */
const textOf = (name: string) =>
  readFileSync(new URL(`asterisk-recordings/${name}.ami.txt`, import.meta.url), 'utf8')
const eventsIn = (text: string) => amiEvents([Buffer.from(`Asterisk Call Manager/11.0.0\r\n${text}`)])
const OPTIONS = { accountOf: accountFromVariable('ACCOUNT_ID'), optionalHooks: OPTIONAL_HOOKS }
const callOf = (name: string) => traceOf(eventsIn(textOf(name)), OPTIONS).events

describe('a dial of PJSIP_DIAL_CONTACTS(1010)', () => {
  it.each(['dial-contacts-answered', 'dial-contacts-no-answer'])('%s: the callee is the phone', (name) => {
    const events = callOf(name)
    const dialled = events.filter(({ direction }) => direction === 'outbound')
    expect(dialled.length).toBeGreaterThan(1)
    for (const { to, request, calleeIdNumber, calleeIdName } of dialled)
      expect([to, request, calleeIdNumber, calleeIdName]).toEqual(['1010', '1010', '1010', 'User 1010'])
    expect(JSON.stringify(events)).not.toContain('x7f3k2q9')
  })

  it('is a missed call if the phone does not answer', () => {
    expect(callOf('dial-contacts-no-answer').map(({ hook }) => hook)).toContain('missed_call')
    expect(callOf('dial-contacts-answered').map(({ hook }) => hook)).not.toContain('missed_call')
  })
})

describe('a fork whose caller gives up', () => {
  it('ends each branch by the other leg', () => {
    const ends = callOf('fork-caller-cancels').filter(({ hook }) => hook === 'channel_destroy')
    expect(
      ends.map((end) => `${end.direction} ${end.customChannelVars?.ended_by} ${end.hangupCause}`).sort(),
    ).toEqual([
      'inbound this_leg ORIGINATOR_CANCEL',
      'outbound other_leg ORIGINATOR_CANCEL',
      'outbound other_leg ORIGINATOR_CANCEL',
    ])
  })
})

describe('a queue whose time is over', () => {
  it('ends the offers without an answer: nobody cancelled them', () => {
    const ends = callOf('queue-timeout').filter(
      ({ hook, direction }) => hook === 'channel_destroy' && direction === 'outbound',
    )
    expect(ends.map(({ hangupCause }) => hangupCause)).toEqual(['NO_ANSWER', 'NO_ANSWER'])
  })
})

const PROHIBITED = 'prohib_passed_screen'

describe('a caller who withholds the number', () => {
  /** The recording lists another function. `CALLERID(num-pres)` is set after the first message of the channel. */
  const withheld = eventsIn(
    textOf('privacy-id')
      .replaceAll('CALLERPRES()=', `CALLERID(num-pres)=${PROHIBITED}`)
      .replace(PROHIBITED, 'allowed_not_screened'),
  )
  const [begin] = withheld
  const caller = (withheld.at(-1) as { channel: Channel }).channel
  const connected = { connectedNumber: caller.callerNumber, connectedName: caller.callerName }
  const phone = channel(B, { name: 'PJSIP/1002-1', state: 0, callerNumber: '1002', ...connected })
  const dial = (called: Channel): readonly SwitchEvent[] => [
    { kind: 'created', atMs: T0, channel: called },
    { kind: 'dialled', atMs: T0, caller, called, status: '', dialString: '1002' },
    { kind: 'hung_up', atMs: T0 + 9, channel: called, cause: 0 },
    { kind: 'hung_up', atMs: T0 + 9, channel: caller, cause: 16 },
  ]

  it('has neither number nor name in any event of either leg', () => {
    const accountOf = () => 'acme'
    const { events } = traceOf([...withheld, ...dial(phone)], { ...OPTIONS, accountOf })
    expect(events.map(({ hook }) => hook).sort()).toEqual([
      ...['channel_create', 'channel_create', 'channel_destroy', 'channel_destroy', 'missed_call'],
    ])
    expect(JSON.stringify(events)).not.toMatch(/15550100|Withheld/)
    expect(events.at(-1)).toMatchObject({ callId: caller.id, to: '1002', direction: 'inbound' })
  })

  it('is published when the dial plan runs, with the time of the channel', () => {
    expect(begin?.kind).toBe('created')
    const { apply, trace } = createTracedMapping({ accountOf: () => 'acme' })
    apply(begin as SwitchEvent)
    expect(trace().events).toEqual([])
    apply(...withheld.slice(1))
    expect(trace().events).toMatchObject([
      { hook: 'channel_create', timestampMs: Math.floor(begin?.atMs ?? 0) },
    ])
  })

  it('is published at once if the first message says so', () => {
    const variable = (name: string) => (name === 'CALLERID(num-pres)' ? PROHIBITED : undefined)
    const { apply, trace } = createTracedMapping()
    apply(channelEvent('created', A, 0, { variable }))
    expect(trace().events.map((event) => event.from)).toEqual([undefined])
  })

  it('is hidden on a leg that is found without its caller, by CONNECTEDLINE(num-pres)', () => {
    const variable = (name: string) => (name === 'CONNECTEDLINE(num-pres)' ? PROHIBITED : undefined)
    const { apply, trace } = createTracedMapping({ accountOf: () => 'acme' })
    apply({ kind: 'updated', atMs: T0, channel: { ...phone, state: 6, application: 'AppDial', variable } })
    expect(trace().events[0]).toMatchObject({ direction: 'outbound', to: '1002' })
    expect(JSON.stringify(trace().events)).not.toMatch(/15550100|Withheld/)
  })

  it.each([
    [32, undefined],
    [67, undefined],
    [0, '1001'],
    [undefined, '1001'],
  ])('with the presentation %s of NewCallerid is %s', (callerPresentation, from) => {
    const { apply, trace } = createTracedMapping()
    const line = { name: 'DAHDI/1-1', state: 9 }
    apply(
      channelEvent('created', A, 0, { ...line, callerNumber: undefined }),
      channelEvent('updated', A, 1, { ...line, callerPresentation }),
      channelEvent('updated', A, 2, { ...line, state: 4 }),
      hangupEvent(A, 3, 16, line),
    )
    expect(trace().events.map((event) => event.from)).toEqual([from, from])
  })
})
