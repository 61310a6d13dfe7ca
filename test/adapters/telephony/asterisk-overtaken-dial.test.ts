import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { accountFromVariable } from 'hookswitch/asterisk'
import { describe, expect, it } from 'vitest'
import type { Channel, SwitchEvent } from '../../../adapters/telephony/asterisk/switch-event.js'
import { amiEvents, ariEvents, hooksOf, traceOf } from './asterisk-scenarios.js'
import {
  A,
  B,
  C,
  channel,
  channelEvent,
  createTracedMapping,
  hangupEvent,
  T0,
} from './asterisk-switch-events.js'

/** A call from 1001 to the busy phone 1101 on a live Asterisk 22.10.1, whose threads sent two messages in the other order. */
const recording = (name: string) =>
  readFileSync(new URL(`asterisk-recordings/hangup-request-first.${name}`, import.meta.url))

const STREAMS = [
  [
    'AMI',
    amiEvents([Buffer.concat([Buffer.from('Asterisk Call Manager/11.0.0\r\n'), recording('ami.txt')])]),
  ],
  ['ARI', ariEvents(recording('ari.ndjson').toString().trimEnd().split('\n'))],
] as const

const isRequest = ({ kind }: SwitchEvent) => kind === 'hangup_requested'
const isBegin = (event: SwitchEvent) => event.kind === 'dialled' && event.status === ''

describe.each(STREAMS)('a refusal that overtakes the begin of its dial, over %s', (_, recorded) => {
  const accountOf = accountFromVariable('ACCOUNT_ID')

  it('is recorded in that order', () => {
    expect(recorded.findIndex(isRequest)).toBeGreaterThan(0)
    expect(recorded.findIndex(isRequest)).toBeLessThan(recorded.findIndex(isBegin))
  })

  it('ends the caller by its other leg', () => {
    const { events, problems, openLegs } = traceOf(recorded, { accountOf })
    expect([problems, openLegs]).toEqual([[], 0])
    const ends = events.filter(({ hook }) => hook === 'channel_destroy')
    expect(ends.map((end) => [end.direction, end.customChannelVars?.ended_by])).toEqual([
      ['outbound', 'this_leg'],
      ['inbound', 'other_leg'],
    ])
    for (const { hangupCause, hangupCode } of ends)
      expect([hangupCause, hangupCode]).toEqual(['USER_BUSY', 'sip:486'])
  })

  it('leaves the callee of the dialled leg to the begin of the dial', () => {
    const toTrunk = recorded.map((event) =>
      isBegin(event) ? { ...event, dialString: '00441234@trunk' } : event,
    )
    const { events } = traceOf(toTrunk as SwitchEvent[], { accountOf })
    const dialled = events.filter(({ direction }) => direction === 'outbound')
    expect(hooksOf(dialled)).toEqual(['create', 'destroy'])
    for (const { to, request, calleeIdNumber, otherLegCallId } of dialled) {
      expect([to, request, calleeIdNumber]).toEqual(['00441234', '00441234', '00441234'])
      expect(otherLegCallId).toBe(callerIdOf(recorded))
    }
  })
})

function callerIdOf(events: readonly SwitchEvent[]): string | undefined {
  const begin = events.find(isBegin)
  return begin?.kind === 'dialled' ? begin.caller?.id : undefined
}

const DOWN = { state: 0 }
const LOCAL: readonly Channel[] = [1, 2].map((half) =>
  channel(`1767225600.1${half}`, { name: `Local/2001@phones-1;${half}`, state: half === 1 ? 0 : 4 }),
)
const [HALF_1, HALF_2] = LOCAL as [Channel, Channel]
const trunk = (id: string) => channel(id, { ...DOWN, name: `PJSIP/trunk-${id}`, callerNumber: undefined })
const created = (channel: Channel): SwitchEvent => ({ kind: 'created', atMs: T0, channel })
const begins = (caller: Channel, called: Channel): SwitchEvent => ({
  ...{ kind: 'dialled', atMs: T0, caller, called, status: '', dialString: '00441234@trunk' },
})
const refuses = (id: string): SwitchEvent => ({
  ...{ kind: 'hangup_requested', atMs: T0, channel: trunk(id), cause: 17, techCause: 486 },
})
const ends = (id: string): SwitchEvent => hangupEvent(id, 20, 17, id === A ? {} : trunk(id))

/** Each refusal, with the dials that it may overtake. */
const CALLS: Readonly<
  Record<string, { before: SwitchEvent[]; racing: SwitchEvent[]; refusal: SwitchEvent }>
> = {
  directly: {
    before: [created(trunk(B))],
    racing: [begins(channel(A), trunk(B))],
    refusal: refuses(B),
  },
  'after another branch': {
    before: [created(trunk(C)), begins(channel(A), trunk(C)), refuses(C), created(trunk(B))],
    racing: [begins(channel(A), trunk(B))],
    refusal: refuses(B),
  },
  'through a Local channel': {
    before: [created(HALF_1), created(HALF_2), created(trunk(B))],
    racing: [begins(HALF_2, trunk(B)), begins(channel(A), HALF_1)],
    refusal: refuses(B),
  },
}

describe.each(Object.entries(CALLS))('a trunk that is dialled %s and refuses', (_, call) => {
  it('ends the caller, with the dialled number, in any order of its refusal and the begins of the dials', () => {
    const eventsIn = (order: readonly SwitchEvent[]) => {
      const { apply, trace } = createTracedMapping()
      apply(channelEvent('created', A), ...call.before, ...order, ends(B), ends(A))
      const { events } = trace()
      const [destroyed] = events.filter(({ callId, hook }) => callId === A && hook === 'channel_destroy')
      const callee = events.filter(({ callId }) => callId === B)
      const other = callee.at(-1)?.otherLegCallId
      return [destroyed?.customChannelVars?.ended_by, other, callee.map(({ hook, to }) => `${hook} ${to}`)]
    }
    const callee = ['channel_create 00441234', 'channel_destroy 00441234']
    const all = [...call.racing, call.refusal]
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (order) => {
        expect(eventsIn(order)).toEqual(['other_leg', A, callee])
      }),
    )
  })
})
