import { describe, expect, it } from 'vitest'
import { mapAll } from './freeswitch-mapped.js'
import {
  accountOf,
  partnersOf,
  type RecordedCall,
  type RecordedLeg,
  recorded,
  recordedAll,
  recordedEvents,
} from './freeswitch-recorded.js'

/** Difference of the phones' clock and the switch's, which advances in steps of about 20 ms. */
const TOLERANCE_MS = 60

const streams = {
  plain: mapAll(recordedEvents('plain')),
  json: mapAll(recordedEvents('json')),
  'plain-all': mapAll(recordedEvents('plain-all')),
}

/** C31's id is `a%20b+c…`, which the plain format cannot carry (recordings/freeswitch.md, "Encoding"). */
const idIn = (stream: keyof typeof streams, uuid: string) =>
  stream === 'plain' ? uuid.replace('a%20b', 'a b') : uuid

/** Codes that are missing or wrong in the events: recordings/freeswitch.md, "SIP code". */
const KNOWN_WRONG: Readonly<Record<string, string | undefined>> = {
  'C08 b': undefined,
  'C04 a': undefined,
  'C29 a': undefined,
  'C30 a': undefined,
  'O09 b': 'sip:503',
}

/** Milliseconds between the end of a leg and the end of the leg that is hung up because of it. */
const SAME_END_MS = 100

/** The switch ends a leg because of the other leg, or by itself. */
function endedByOf(leg: RecordedLeg, call: RecordedCall): string | undefined {
  if (leg.internal) return undefined
  if (leg.endedBy === 'far end') return 'this_leg'
  // Legs beside a loopback pair, whose ends carry nothing.
  if (call.id === 'O06') return undefined
  const endedAt = leg.wire?.endedAt ?? Number.NaN
  const isWithOther = call.legs.some(
    (leg) => leg.endedBy === 'far end' && Math.abs((leg.wire?.endedAt ?? 0) - endedAt) < SAME_END_MS,
  )
  return isWithOther ? 'other_leg' : 'switch'
}

describe.each(['plain', 'json', 'plain-all'] as const)('the recorded calls of %s', (stream) => {
  const { published, unknown, problems, mapping, bufferedLegs } = streams[stream]
  const { calls, totals } = stream === 'plain-all' ? recordedAll : recorded

  describe.each(calls.map((call) => [`${call.id} ${call.title}`, call] as const))('%s', (_, call) => {
    it.each(call.legs.map((leg) => [leg.leg, leg] as const))('leg %s', (__, leg: RecordedLeg) => {
      const callId = idIn(stream, leg.uuid)
      const given = unknown.find((call) => call.callId === callId)
      const accountId = accountOf(leg, call)
      const events =
        accountId === undefined ? (given?.events ?? []) : published.filter((e) => e.callId === callId)
      expect(given !== undefined).toBe(accountId === undefined)
      const hooks = events.map((event) => event.hook)
      const bridges = partnersOf(leg, call).map((other) => idIn(stream, other))
      const count = (hook: string) => hooks.filter((published) => published === hook).length
      expect(hooks[0]).toBe('channel_create')
      expect(hooks.at(-1)).toBe('channel_destroy')
      expect(count('channel_create')).toBe(1)
      expect(count('channel_destroy')).toBe(1)
      expect(count('channel_answer')).toBe(leg.answered ? 1 : 0)
      expect(count('channel_hold')).toBe(leg.holds)
      expect(count('channel_unhold')).toBe(leg.resumes)
      expect(events.filter((e) => e.hook === 'channel_bridge').map((e) => e.otherLegCallId)).toEqual(bridges)
      for (const event of events) {
        expect(event).toMatchObject({ direction: leg.direction, isInternalLeg: leg.internal === true })
        if ('accountId' in event) expect(event.accountId).toBe(accountId)
      }
      const destroy = events.at(-1)!
      expect(destroy.hangupCause).toBe(leg.hangupCause)
      expect(destroy.customChannelVars?.ended_by).toBe(endedByOf(leg, call))
      const name = `${call.id} ${leg.leg}`
      const code = leg.sipCode === undefined ? undefined : `sip:${leg.sipCode}`
      expect(destroy.hangupCode).toBe(name in KNOWN_WRONG ? KNOWN_WRONG[name] : code)

      const answer = events.find((e) => e.hook === 'channel_answer')
      const near = (actual: number | undefined, expected: number | undefined) => {
        if (expected !== undefined)
          expect(Math.abs((actual ?? 0) - expected)).toBeLessThanOrEqual(TOLERANCE_MS)
      }
      near(events[0]?.timestampMs, leg.wire?.inviteAt)
      if (leg.answered) near(answer?.timestampMs, leg.wire?.answeredAt)
      near(destroy.timestampMs, leg.wire?.endedAt)
      if (!leg.wire) return
      const { inviteAt, answeredAt, endedAt } = leg.wire
      near(destroy.durationMs, endedAt - inviteAt)
      expect(destroy.durationSeconds).toBe(destroy.ringingSeconds! + destroy.billingSeconds!)
      near(destroy.billingMs, leg.answered ? endedAt - (answeredAt ?? 0) : 0)
    })
  })

  it('each event has a unique idempotency key', () => {
    const keys = [...published, ...unknown.flatMap((call) => call.events)].map(
      (event) => event.idempotencyKey,
    )
    expect(new Set(keys).size).toBe(keys.length)
  })

  it('the events add up to the recorded totals', () => {
    const all = [...published, ...unknown.flatMap((call) => call.events)]
    const count = (hook: string) => all.filter((event) => event.hook === hook).length
    expect(count('channel_create')).toBe(totals.legs)
    expect(count('channel_destroy')).toBe(totals.legs)
    expect(count('channel_answer')).toBe(totals.answeredLegs)
    const bridges = calls.flatMap((call) => call.legs.flatMap((leg) => partnersOf(leg, call)))
    expect(count('channel_bridge')).toBe(bridges.length)
    expect(count('channel_hold')).toBe(totals.holds)
    expect(count('channel_unhold')).toBe(totals.resumes)
    expect(problems).toEqual([])
    expect(mapping.openLegs()).toBe(0)
    expect(bufferedLegs()).toBe(0)
  })
})

const KEYS_OF_C31 = ['answer', 'create', 'destroy'].map(
  (what) =>
    `idempotencyKey "9a4c94f4-2c5f-405b-be4b-22f9891adaf9/a%20b+c!d~*'(e)@phone.acme.example/1795173778054627/channel_${what}"`,
)

describe('the two formats', () => {
  it('yield the same events, except what the plain format cannot carry', () => {
    const { plain, json } = streams
    const all = ({ published, unknown }: typeof plain) => [
      ...published,
      ...unknown.flatMap((call) => call.events),
    ]
    const [fromPlain, fromJson] = [all(plain), all(json)]
    expect(fromPlain).toHaveLength(fromJson.length)
    const lost = new Set<string>()
    for (const [index, event] of fromJson.entries()) {
      for (const [field, value] of Object.entries(event)) {
        const other = fromPlain[index]?.[field as keyof typeof event]
        if (JSON.stringify(other) !== JSON.stringify(value)) lost.add(`${field}: ${JSON.stringify(value)}`)
      }
    }
    // As listed in recordings/freeswitch.md: an id, a name and a note with a `%` before two hex digits.
    expect(
      [
        ...new Set([...lost].map((loss) => loss.replace(/^(\w+): .*?(\S*%[0-9A-F]{2}\S*).*$/, '$1 $2'))),
      ].sort(),
    ).toEqual([
      'callGroupId "a%20b+c!d~*\'(e)@phone.acme.example"',
      'callId "a%20b+c!d~*\'(e)@phone.acme.example"',
      'callerIdName %41"',
      'customChannelVars c%20d;',
      ...KEYS_OF_C31,
    ])
  })
})
