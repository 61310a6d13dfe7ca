import fc from 'fast-check'
import {
  type CallEvent,
  type CallOutcome,
  type CallSummary,
  callGenerator,
  seededRandom,
  type TimedEvent,
  takeCalls,
} from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { checkEvent } from '../../src/delivery/event.js'

const START_MS = 1_767_225_600_000
const ACCOUNTS = ['acme', { id: 'globex', realm: 'sip.globex.example' }]
const anySeed = () => fc.integer()
const generate = (seed: number | string, count = 40) =>
  takeCalls(callGenerator({ seed, accounts: ACCOUNTS, internalShare: 0.3 }), count)

/** Valid hook sequences of a leg, one letter per hook: unanswered; or answered, bridged and possibly held. */
const LEG_PATTERN = /^(cd|cab(hu)*h?d)$/
const letters = (hooks: readonly string[]) => hooks.map((hook) => hook.charAt('channel_'.length)).join('')

function byLeg(events: readonly TimedEvent[]): Map<string, CallEvent[]> {
  const legs = new Map<string, CallEvent[]>()
  for (const { event } of events) legs.set(event.callId, [...(legs.get(event.callId) ?? []), event])
  return legs
}

describe('callGenerator', () => {
  it('generates the same calls for the same seed, and others for another seed', () => {
    fc.assert(
      fc.property(anySeed(), (seed) => {
        expect(generate(seed)).toEqual(generate(seed))
        expect(generate(seed, 5)).not.toEqual(generate(seed + 1, 5))
      }),
      { numRuns: 20 },
    )
  })

  it('draws from a separate stream of the given random', () => {
    const [busy, quiet] = [seededRandom(1), seededRandom(1)]
    busy.bytes(100)
    busy.integer(0, 9)
    const callsFrom = (random: ReturnType<typeof seededRandom>) =>
      takeCalls(callGenerator({ random, accounts: ACCOUNTS }), 5)
    expect(callsFrom(busy)).toEqual(callsFrom(quiet))
  })

  it('generates the events of a leg in the order of a call, each later than the previous one', () => {
    fc.assert(
      fc.property(anySeed(), (seed) => {
        for (const events of byLeg(generate(seed).events).values()) {
          expect(letters(events.map((event) => event.hook))).toMatch(LEG_PATTERN)
          events.reduce((before, event) => {
            expect(event.timestampMs).toBeGreaterThan(before.timestampMs)
            return event
          })
        }
      }),
      { numRuns: 50 },
    )
  })

  it('returns the ground truth about every leg', () => {
    fc.assert(
      fc.property(anySeed(), (seed) => {
        const { events, calls } = generate(seed)
        const legs = byLeg(events)
        expect(calls.flatMap((call) => call.legs.map((leg) => leg.callId)).sort()).toEqual(
          [...legs.keys()].sort(),
        )
        for (const call of calls) {
          for (const leg of call.legs) {
            const published = legs.get(leg.callId)!
            expect(published.map((event) => event.hook)).toEqual(leg.hooks)
            expect(published[0]!.timestampMs).toBe(leg.createdMs)
            expect(published.at(-1)!.timestampMs).toBe(leg.destroyedMs)
            expect(published.find((event) => event.hook === 'channel_answer')?.timestampMs).toBe(
              leg.answeredMs,
            )
            expect(new Set(published.map((event) => event.accountId))).toEqual(new Set([call.accountId]))
            expect(new Set(published.map((event) => event.direction))).toEqual(new Set([leg.direction]))
            expect(new Set(published.map((event) => event.isInternalLeg))).toEqual(new Set([leg.isInternal]))
          }
          expect(call.startedMs).toBe(Math.min(...call.legs.map((leg) => leg.createdMs)))
          expect(call.endedMs).toBe(Math.max(...call.legs.map((leg) => leg.destroyedMs)))
        }
      }),
      { numRuns: 30 },
    )
  })

  it('gives every call an inbound and an outbound leg that refer to each other, and some calls an internal leg', () => {
    const { events, calls } = generate(1, 300)
    const legs = byLeg(events)
    for (const { legs: all, outcome } of calls) {
      const [caller, called] = all.filter((leg) => !leg.isInternal)
      expect([caller?.direction, called?.direction]).toEqual(['inbound', 'outbound'])
      expect([caller?.otherLegCallId, called?.otherLegCallId]).toEqual([called?.callId, caller?.callId])
      expect(legs.get(caller!.callId)![0]).not.toHaveProperty('otherLegCallId')
      expect(legs.get(called!.callId)![0]!.otherLegCallId).toBe(caller!.callId)
      expect(all.every((leg) => leg.hooks.includes('channel_answer') === (outcome === 'answered'))).toBe(true)
    }
    const internal = calls.filter((call) => call.legs.length === 3)
    expect(internal.length / calls.length).toBeCloseTo(0.3, 1)
    expect(internal.every((call) => call.legs[1]?.isInternal)).toBe(true)
  })

  it('ends every leg with the cause and code of its outcome, and with durations that add up', () => {
    fc.assert(
      fc.property(anySeed(), (seed) => {
        // Short talks, so that the minimum talk time occurs.
        const { events } = takeCalls(callGenerator({ seed, accounts: ACCOUNTS, talkMeanMs: 200 }), 40)
        const legs = byLeg(events)
        for (const { event, call } of events) {
          if (event.hook !== 'channel_destroy') {
            expect(event).not.toHaveProperty('hangupCause')
            continue
          }
          expect(event.hangupCause).toBe(CAUSES[call.outcome])
          expect(event.hangupCode).toMatch(/^sip:[2-6]\d\d$/)
          expect(event.ringingSeconds! + event.billingSeconds!).toBe(event.durationSeconds)
          expect(event.ringingSeconds).toBeGreaterThanOrEqual(0)
          expect(event.billingSeconds! > 0).toBe(call.outcome === 'answered')
          const created = legs.get(event.callId)![0]!.timestampMs
          expect(event.durationSeconds).toBe(Math.floor((event.timestampMs - created) / 1000))
        }
      }),
      { numRuns: 30 },
    )
  })

  it('answers the callee before the caller, and bridges when both are answered', () => {
    const { events, calls } = generate(2, 200)
    const legs = byLeg(events)
    for (const call of calls.filter(({ outcome }) => outcome === 'answered')) {
      const [caller, called] = call.legs.filter((leg) => !leg.isInternal)
      expect(called!.answeredMs).toBeLessThan(caller!.answeredMs!)
      const bridges = call.legs.map(
        (leg) => legs.get(leg.callId)!.find(({ hook }) => hook === 'channel_bridge')!,
      )
      const lastAnswerMs = Math.max(...call.legs.map((leg) => leg.answeredMs!))
      expect(bridges.every((bridge) => bridge.timestampMs > lastAnswerMs)).toBe(true)
      expect(bridges.every((bridge) => bridge.otherLegDestinationNumber === bridge.calleeIdNumber)).toBe(true)
    }
  })

  it('returns events in order of time, across all calls', () => {
    const calls = callGenerator({ seed: 5, accounts: ACCOUNTS, callsPerSecond: 20 })
    let lastMs = START_MS
    const running = new Set<CallSummary>()
    for (let taken = 0; taken < 5_000; taken += 1) {
      const { atMs, event, call } = calls.next().value
      expect(atMs).toBe(event.timestampMs)
      expect(atMs).toBeGreaterThanOrEqual(lastMs)
      lastMs = atMs
      running.add(call)
    }
    // Calls overlap: some have begun and not ended.
    expect([...running].filter((call) => call.endedMs > lastMs).length).toBeGreaterThan(100)
  })

  it('generates unique call ids, and only events that checkEvent accepts', () => {
    const { calls, events } = generate(9, 2_000)
    const ids = calls.flatMap((call) => call.legs.map((leg) => leg.callId))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.every((id) => /^[\x21-\x7e]{1,255}$/.test(id))).toBe(true)
    expect(ids.some((id) => id.includes('/') && id.includes('%'))).toBe(true)
    const names = new Set(events.map(({ event }) => event.callerIdName))
    expect(names).toContain(undefined)
    expect([...names].some((name) => name !== undefined && /[^\x00-\xff]/.test(name))).toBe(true)
    for (const { event } of events) {
      expect(checkEvent(event, 0, () => true)).toEqual(event)
    }
  })

  it('takeCalls continues after the previous calls', () => {
    const generator = callGenerator({ seed: 11, accounts: ACCOUNTS })
    const first = takeCalls(generator, 20)
    const second = takeCalls(generator, 20)
    expect(first.calls.map((call) => call.number)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    )
    expect(second.calls.map((call) => call.number)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 21),
    )
    expect(second.events[0]!.atMs).toBeGreaterThanOrEqual(first.events.at(-1)!.atMs)
  })

  it('is iterable with for … of', () => {
    let count = 0
    for (const { event } of callGenerator({ seed: 12, accounts: ['acme'], startMs: 0 })) {
      expect(event.accountId).toBe('acme')
      if (++count === 10) break
    }
    expect(count).toBe(10)
  })

  it('names the invalid option', () => {
    const field = (options: object) => {
      try {
        callGenerator({ seed: 1, accounts: ['acme'], ...options })
      } catch (thrown) {
        return (thrown as { code: string; field: string }).field
      }
      return 'none'
    }
    expect(field({})).toBe('none')
    expect(field({ accounts: [] })).toBe('accounts')
    expect(field({ callsPerSecond: 0 })).toBe('callsPerSecond')
    expect(field({ seed: undefined })).toBe('seed')
    expect(field({ outcomes: { vanished: 1 } })).toBe('outcomes')
  })
})

const CAUSES: Record<CallOutcome, string> = {
  answered: 'NORMAL_CLEARING',
  busy: 'USER_BUSY',
  noAnswer: 'NO_ANSWER',
  cancelled: 'ORIGINATOR_CANCEL',
  declined: 'CALL_REJECTED',
}
