import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AttemptEffect,
  countGivenUp,
  disableReasonOf,
  endPause,
  endpointHealthOf,
  HEALTH_PRESETS,
  type Health,
  type HealthRules,
  isFailing,
  isOvertaken,
  isPaused,
  isProbed,
  isProbedRarely,
  pauseChangeOf,
  probeDelayMs,
  updateHealth,
} from '../../src/webhooks/health.js'

type Failure = Exclude<AttemptEffect, { kind: 'success' }>

const { standard, kazoo } = HEALTH_PRESETS
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A failure without jitter, of a first attempt that is no probe and takes no time. */
const failure =
  (changes: Partial<Failure> = {}) =>
  (now: number) =>
    ({
      kind: 'unavailable',
      isProbe: false,
      isFirst: true,
      random: 0,
      sentMs: now,
      ...changes,
    }) satisfies Failure
const away = failure()
const rejected = failure({ kind: 'rejected' })
const probe = failure({ isProbe: true, isFirst: false })
const check = failure({ isProbe: true, checkCause: 'refused' })
const success = (): AttemptEffect => ({ kind: 'success' })
const late = (): AttemptEffect => ({ kind: 'success', lateMs: 12_000 })

/** Applies an effect at each of these times. */
function apply(
  health: Health | undefined,
  times: readonly number[],
  effect: (now: number) => AttemptEffect,
  rules: HealthRules = standard,
) {
  let last: ReturnType<typeof updateHealth> = { health }
  for (const now of times) last = updateHealth(last.health, effect(now), now, rules)
  return last
}
const at = (times: readonly number[], effect = away as (now: number) => AttemptEffect, rules?: HealthRules) =>
  apply(undefined, times, effect, rules).health
const range = (count: number, step = 1, from = 1) =>
  Array.from({ length: count }, (_, index) => from + index * step)

/** Paused because nothing can be sent, since the time 3. */
const pausedAway = at([1, 2, 3])
/** Paused because everything is rejected, since the time 10. */
const pausedRejected = at(range(10), rejected)

describe('the health of an endpoint', () => {
  it('counts failures in a row and records the time of the first, in whole milliseconds', () => {
    expect(at([5.75, 9])).toEqual({
      failuresInRow: 2,
      unavailableInRow: 2,
      failingSinceMs: 5,
      countsSinceMs: 5.75,
    })
    expect(isFailing(at([5]))).toBe(true)
    expect(isFailing(undefined)).toBe(false)
  })

  it('is cleared by a success', () => {
    for (const health of [undefined, at([1, 2]), pausedAway, pausedRejected])
      expect(updateHealth(health, success(), 20, standard)).toEqual({ health: undefined })
  })

  it('keeps what a receiver asked for after a success that was sent before', () => {
    const asked = at([5], failure({ isThrottled: true, waitUntilMs: 60 }))
    expect(updateHealth(asked, success(), 9, standard).health).toEqual({
      failuresInRow: 0,
      pausedUntilMs: 60,
    })
    expect(updateHealth(asked, success(), 60, standard).health).toBeUndefined()
  })

  it('keeps the longer of two waits that the receiver asked for', () => {
    const wait = (waitUntilMs: number) => failure({ isThrottled: true, waitUntilMs })
    expect(at([5], wait(50))).toMatchObject({ pausedUntilMs: 50 })
    expect(apply(at([5], wait(50)), [6], wait(40)).health).toMatchObject({ pausedUntilMs: 50 })
    expect(apply(at([5], wait(50)), [6], wait(60)).health).toMatchObject({ pausedUntilMs: 60 })
    expect(apply(at([5], wait(50)), [50], away).health).not.toHaveProperty('pausedUntilMs')
  })

  it('is not changed by a success of a healthy endpoint', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.constantFrom(standard, kazoo), (now, rules) => {
        expect(updateHealth(undefined, success(), now, rules)).toEqual({ health: undefined })
      }),
    )
  })

  it('knows which deliveries others have overtaken: those that failed before the endpoint did', () => {
    const health = at([100])
    expect([99, 100, 101, undefined].map((failedMs) => isOvertaken(health, failedMs))).toEqual([
      true,
      false,
      false,
      false,
    ])
    expect([99, undefined].map((failedMs) => isOvertaken(undefined, failedMs))).toEqual([true, false])
    // A delivery stores whole milliseconds.
    expect(isOvertaken(at([100.75]), 100)).toBe(false)
  })

  it('is what it was, without the pause, when somebody ends it', () => {
    expect(endPause(pausedAway!)).toEqual({ failuresInRow: 3, failingSinceMs: 1, countsSinceMs: 1 })
    expect(endPause({ failuresInRow: 0, pausedUntilMs: 9 })).toBeUndefined()
    expect(endPause({ failuresInRow: 0, pausedUntilMs: 9, lateMs: 12_000 })).toEqual({
      failuresInRow: 0,
      lateMs: 12_000,
    })
    // The count in a row begins anew.
    const again = apply(endPause(pausedAway!), [20, 21], away).health
    expect(isProbed(again)).toBe(false)
    expect(isProbed(apply(again, [22], away).health)).toBe(true)
    expect(isProbed(apply(endPause(pausedRejected!), range(9, 1, 20), rejected).health)).toBe(false)
  })
})

describe('the health that an owner sees', () => {
  const enabled = { settings: { enabled: true } }
  const health = { failuresInRow: 3, failingSinceMs: 5, pausedUntilMs: 50 }
  const shown = { failuresInRow: 3, failingSinceMs: 5 }

  it.each([
    ['ok', enabled, { failuresInRow: 0 }],
    ['paused', { ...enabled, health }, { ...shown, pausedUntilMs: 50 }],
    ['failing', { ...enabled, health: { ...health, pausedUntilMs: 9 } }, shown],
    // A probe is due or under way: the pause goes on.
    [
      'paused',
      {
        ...enabled,
        health: { ...health, pausedUntilMs: 9, pause: { kind: 'unavailable', probes: 1, sinceMs: 1 } },
      },
      { ...shown, pausedUntilMs: 9 },
    ],
    ['ok', { ...enabled, health: { failuresInRow: 0, pausedUntilMs: 9 } }, { failuresInRow: 0 }],
    ['disabled', { settings: { enabled: false }, health }, shown],
    [
      'failing',
      { ...enabled, health: { ...shown, checkedMs: 8, checkCause: 'refused' } },
      { ...shown, checkedMs: 8, checkCause: 'refused' },
    ],
  ] as const)('is %s', (state, webhook, fields) => {
    expect(endpointHealthOf(webhook, 10)).toEqual({ state, ...fields })
    expect(endpointHealthOf(webhook, 10, 4)).toEqual({ state, ...fields, lastSuccessMs: 4 })
  })
})

describe('a pause', () => {
  it('opens after three failures in a row of a receiver that could not take a request', () => {
    expect(isProbed(at([1, 2]))).toBe(false)
    expect(at([1, 2, 3])).toMatchObject({ pause: { kind: 'unavailable', probes: 0 }, pausedUntilMs: 5003 })
    expect(apply(at([1, 2]), [3], away).opensPause).toBe(true)
    expect(apply(pausedAway, [4], away)).not.toHaveProperty('opensPause')
  })

  it('counts what is in a row since the last answer that rejected, and since the last success', () => {
    const answered = apply(at([1, 2]), [3], failure({ kind: 'rejected', isFirst: false })).health
    expect(isProbed(apply(answered, [4, 5], away).health)).toBe(false)
    expect(isProbed(apply(answered, [4, 5, 6], away).health)).toBe(true)
    const succeeded = apply(at([1, 2]), [3], success).health
    expect(isProbed(apply(succeeded, [4, 5], away).health)).toBe(false)
  })

  it('opens when the first attempts of ten deliveries in a row were rejected', () => {
    expect(isProbed(at(range(9), rejected))).toBe(false)
    expect(at(range(10), rejected)).toMatchObject({
      pause: { kind: 'rejected', probes: 0 },
      pausedUntilMs: 5010,
    })
    const retried = failure({ kind: 'rejected', isFirst: false })
    expect(isProbed(at(range(500), retried))).toBe(false)
    const nine = apply(at(range(9), rejected), range(100, 1, 20), retried).health
    expect(isProbed(nine)).toBe(false)
    expect(isProbed(apply(nine, [200], rejected).health)).toBe(true)
    const succeeded = apply(at(range(9), rejected), [10], success).health
    expect(isProbed(apply(succeeded, range(9, 1, 11), rejected).health)).toBe(false)
  })

  it('does not open because the receiver asks for fewer requests', () => {
    expect(isProbed(at(range(100), failure({ isThrottled: true })))).toBe(false)
    expect(isProbed(at(range(100), failure({ isThrottled: true, isHeld: true })))).toBe(false)
    const asked = at(range(100), failure({ isThrottled: true }))
    expect(isProbed(apply(asked, [101, 102], away).health)).toBe(false)
    expect(isProbed(apply(asked, [101, 102, 103], away).health)).toBe(true)
  })

  it('opens when a delivery was tried often enough', () => {
    expect(at([7], failure({ isHeld: true }))).toMatchObject({
      pause: { kind: 'unavailable', probes: 0 },
      pausedUntilMs: 5007,
    })
  })

  it('of a receiver that takes nothing ends with any answer, whoever asked', () => {
    for (const isProbe of [true, false]) {
      const { health } = apply(pausedAway, [9], failure({ kind: 'rejected', isProbe }))
      expect(isProbed(health)).toBe(false)
      expect(health).not.toHaveProperty('pausedUntilMs')
      expect(pauseChangeOf(pausedAway, health)).toEqual({ kind: 'closed' })
    }
    expect(isProbed(apply(pausedAway, [9], success).health)).toBe(false)
    expect(isProbed(apply(pausedAway, [9], late).health)).toBe(false)
  })

  it('of a receiver that takes nothing goes on while it says "not now"', () => {
    for (const outcome of [probe, check, failure({ isProbe: true, isThrottled: true }), away])
      expect(apply(pausedAway, [9], outcome).health?.pause?.kind).toBe('unavailable')
  })

  it('of a receiver that rejects everything ends with a success only', () => {
    for (const outcome of [rejected, failure({ kind: 'rejected', isProbe: true }), probe, check, away])
      expect(apply(pausedRejected, [20], outcome).health?.pause?.kind).toBe('rejected')
    expect(apply(pausedRejected, [20, 21, 22], away).health?.pause?.kind).toBe('rejected')
    expect(isProbed(apply(pausedRejected, [20], success).health)).toBe(false)
    expect(isProbed(apply(pausedRejected, [20], late).health)).toBe(false)
  })

  it('is not prolonged by requests that were under way when it opened', () => {
    expect(apply(pausedAway, range(50, 1, 10), away).health).toMatchObject({
      failuresInRow: 53,
      pause: { probes: 0 },
      pausedUntilMs: 5003,
    })
  })

  it('begins, is prolonged and ends: its begin and its end are changes', () => {
    expect(pauseChangeOf(undefined, pausedAway)).toEqual({
      kind: 'opened',
      failuresInRow: 3,
      pausedUntilMs: 5003,
    })
    expect(pauseChangeOf(pausedAway, apply(pausedAway, [5003], probe).health)).toBeUndefined()
    expect(pauseChangeOf(pausedAway, undefined)).toEqual({ kind: 'closed' })
    expect(pauseChangeOf(at([1]), at([1, 2]))).toBeUndefined()
  })

  it('does not exist under the preset kazoo', () => {
    for (const effect of [away, rejected, failure({ isHeld: true })])
      expect(at(range(50, 60_000), effect, kazoo)).not.toHaveProperty('pause')
  })
})

describe('the probes of a paused endpoint', () => {
  /** The times between the starts of probes that take so long, in seconds, with the time since the first failure. */
  function probes(count: number, changes: Partial<Failure>, durationMs = 0) {
    let health = pausedAway
    const seen: { afterMs: number; seconds: number }[] = []
    for (let round = 0; round < count; round++) {
      const sentMs = health!.pausedUntilMs!
      const effect = failure({ isProbe: true, sentMs, ...changes })
      health = updateHealth(health, effect(sentMs), sentMs + durationMs, standard).health
      seen.push({
        afterMs: sentMs + durationMs - health!.failingSinceMs!,
        seconds: (health!.pausedUntilMs! - sentMs) / 1000,
      })
    }
    return seen
  }

  it('go 5 s after the opening, then 10 s, then every 15 s for five minutes, then every minute', () => {
    expect(pausedAway!.pausedUntilMs! - 3).toBe(5000)
    const seen = probes(40, {})
    expect(seen[0]!.seconds).toBe(10)
    for (const { afterMs, seconds } of seen.slice(1)) expect(seconds).toBe(afterMs < 300_000 ? 15 : 60)
    expect(seen.filter(({ seconds }) => seconds === 15)).toHaveLength(19)
  })

  it('go up to 20 % earlier, and never later', () => {
    for (const random of [0, 0.5, 1 - 2 ** -53]) {
      const part = 1 - 0.2 * random
      const seen = probes(40, { random })
      expect(seen[0]!.seconds).toBeCloseTo(10 * part, 2)
      for (const { afterMs, seconds } of seen.slice(1))
        expect(seconds).toBeCloseTo((afterMs < 300_000 ? 15 : 60) * part, 2)
    }
  })

  it('are counted from the start of the last one, however long it took', () => {
    for (const durationMs of [0, 1000, 10_000])
      for (const { seconds } of probes(8, {}, durationMs).slice(1)) expect(seconds).toBe(15)
    // The next one does not go before this one has ended.
    for (const { seconds } of probes(8, {}, 30_000)) expect(seconds).toBe(30)
  })

  it('go as often as deliveries become too old, at least every 5 s', () => {
    const interval = (maxAgeMs: number) => new Set(probes(40, { maxAgeMs }).map(({ seconds }) => seconds))
    expect(interval(1000)).toEqual(new Set([5]))
    expect(interval(7000)).toEqual(new Set([7]))
    expect(interval(12_000)).toEqual(new Set([10, 12]))
    expect(interval(30_000)).toEqual(new Set([10, 15, 30]))
    expect(interval(DAY_MS)).toEqual(new Set([10, 15, 60]))
  })

  it('wait as long as the receiver asks', () => {
    const asked = failure({ isProbe: true, isThrottled: true, waitUntilMs: 99_000 })
    expect(apply(pausedAway, [6000], asked).health).toMatchObject({ pausedUntilMs: 99_000 })
    const short = failure({ isProbe: true, waitUntilMs: 6001 })
    expect(apply(pausedAway, [6000], short).health).toMatchObject({ pausedUntilMs: 16_000 })
  })

  it('are rare from five minutes after the first failure on', () => {
    const health = at([1000])
    expect([1000, 300_999, 301_000].map((now) => isProbedRarely(health, now))).toEqual([false, false, true])
    expect(isProbedRarely(undefined, 1e12)).toBe(false)
    expect([0, 1, 2, 3, 99].map(probeDelayMs)).toEqual([5000, 10_000, 15_000, 15_000, 15_000])
  })

  it('that only found that no connection can be made are noted, and count as no failure', () => {
    const { health } = apply(pausedAway, [5003], check)
    expect(health).toMatchObject({
      failuresInRow: 3,
      unavailableInRow: 3,
      pause: { kind: 'unavailable', probes: 1 },
      checkedMs: 5003,
      checkCause: 'refused',
    })
    expect(apply(health, [20_000], failure({ isProbe: true, checkCause: 'reset' })).health).toMatchObject({
      failuresInRow: 3,
      checkedMs: 20_000,
      checkCause: 'reset',
    })
    // A request was sent: what was found before is old.
    for (const effect of [probe, failure({ kind: 'rejected', isProbe: true })]) {
      const sent = apply(health, [20_000], effect).health
      expect(sent).toMatchObject({ failuresInRow: 4 })
      expect(sent).not.toHaveProperty('checkedMs')
      expect(sent).not.toHaveProperty('checkCause')
    }
  })

  it('are due when the pause is over, one at a time', () => {
    expect(isPaused(pausedAway, 5002)).toBe(true)
    expect(isPaused(pausedAway, 5003)).toBe(false)
    expect(isProbed(pausedAway)).toBe(true)
    expect(isPaused(undefined, 0)).toBe(false)
  })
})

describe('an answer that came too late', () => {
  it('is remembered, after a success too, until an answer is in time', () => {
    const slow = updateHealth(undefined, late(), 9, standard).health
    expect(slow).toEqual({ failuresInRow: 0, lateMs: 12_000 })
    expect(isFailing(slow)).toBe(false)
    expect(updateHealth(slow, success(), 10, standard).health).toBeUndefined()
    const rejectedLate = failure({ kind: 'rejected', lateMs: 15_000 })
    expect(apply(slow, [10], rejectedLate).health).toMatchObject({ failuresInRow: 1, lateMs: 15_000 })
    expect(apply(slow, [10], rejected).health).not.toHaveProperty('lateMs')
  })

  it('is not forgotten because no answer came at all', () => {
    const slow = updateHealth(undefined, late(), 9, standard).health
    expect(apply(slow, [10, 11, 12], away).health).toMatchObject({ lateMs: 12_000 })
  })
})

describe('a webhook that fails for long', () => {
  const rules = standard

  it('is reported after 24 hours, once', () => {
    const failures = range(60, HOUR_MS, 5)
    const reported: number[] = []
    let health: Health | undefined
    for (const now of failures) {
      const update = updateHealth(health, away(now), now, rules)
      if (update.reports) reported.push(now)
      health = update.health
    }
    expect(reported).toEqual([5 + DAY_MS])
    expect(apply(at([0]), [DAY_MS - 1], away)).not.toHaveProperty('reports')
  })

  it('is reported again only if it has succeeded in between', () => {
    const reported = at([0, DAY_MS])
    const recovered = apply(reported, [DAY_MS + 1], success).health
    const again = apply(recovered, [DAY_MS + 2], away).health
    expect(apply(again, [2 * DAY_MS + 1], away)).not.toHaveProperty('reports')
    expect(apply(again, [2 * DAY_MS + 2], away).reports).toBe(true)
  })

  it('is not reported under the preset kazoo', () => {
    expect(apply(at([0], away, kazoo), [9 * DAY_MS], away, kazoo)).not.toHaveProperty('reports')
  })

  /** Fails at 0, then so many deliveries are given up. */
  const givenUp = (count: number, health = at([0])) =>
    range(count).reduce<Health | undefined>(countGivenUp, health)
  const FIVE_DAYS_MS = 5 * DAY_MS

  it('is disabled after 5 days in which 20 deliveries were given up, and not before', () => {
    const reason = (count: number, now: number) => disableReasonOf(givenUp(count), now, rules)
    expect(reason(20, FIVE_DAYS_MS)).toBe('too many failed attempts')
    expect(reason(20, FIVE_DAYS_MS - 1)).toBeUndefined()
    expect(reason(19, FIVE_DAYS_MS)).toBeUndefined()
    expect(reason(500, FIVE_DAYS_MS - 1)).toBeUndefined()
    expect(reason(0, 50 * DAY_MS)).toBeUndefined()
    expect(disableReasonOf(undefined, FIVE_DAYS_MS, rules)).toBeUndefined()
    expect(disableReasonOf(givenUp(20), FIVE_DAYS_MS, { ...rules, autoDisable: null })).toBeUndefined()
  })

  it('counts anew after a success', () => {
    const recovered = apply(givenUp(20), [DAY_MS], success).health
    expect(countGivenUp(recovered)).toBeUndefined()
    const again = apply(recovered, [DAY_MS + 1], away).health
    expect(disableReasonOf(givenUp(20, again), FIVE_DAYS_MS, rules)).toBeUndefined()
    expect(disableReasonOf(givenUp(20, again), FIVE_DAYS_MS + DAY_MS + 1, rules)).toBeDefined()
  })

  it('does not count deliveries that end while it does not fail', () => {
    expect(countGivenUp(undefined)).toBeUndefined()
    const slow: Health = { failuresInRow: 0, lateMs: 12_000 }
    expect(countGivenUp(slow)).toBe(slow)
  })

  it('is paused, but no time towards disabling runs, during an outage of this service', () => {
    const outage = failure({ isOutage: true })
    expect(isProbed(at([1, 2, 3], outage))).toBe(true)
    const cutOff = apply(givenUp(20), [DAY_MS], outage).health
    expect(cutOff).not.toHaveProperty('countsSinceMs')
    expect(countGivenUp(cutOff)).toBe(cutOff)
    expect(disableReasonOf(cutOff, 50 * DAY_MS, rules)).toBeUndefined()
    const after = apply(cutOff, [2 * DAY_MS], away).health
    expect(after).toMatchObject({ failingSinceMs: 0, countsSinceMs: 2 * DAY_MS })
    expect(disableReasonOf(after, FIVE_DAYS_MS + 2 * DAY_MS - 1, rules)).toBeUndefined()
    expect(disableReasonOf(after, FIVE_DAYS_MS + 2 * DAY_MS, rules)).toBe('too many failed attempts')
  })
})

describe('automatic disabling under the preset kazoo', () => {
  const reason = (times: readonly number[], effect = away as (now: number) => AttemptEffect) =>
    disableReasonOf(at(times, effect, kazoo), times.at(-1)!, kazoo)

  it('happens at the sixth failure within 60 s, whatever its kind', () => {
    for (const effect of [away, rejected]) {
      expect(reason(range(5), effect)).toBeUndefined()
      expect(reason(range(6, 11_999), effect)).toBe('too many failed attempts')
      expect(reason(range(6, 12_000), effect)).toBeUndefined()
      expect(reason(range(60, 15_000), effect)).toBeUndefined()
    }
  })

  it('does not happen because of an outage of this service', () => {
    expect(reason(range(60), failure({ isOutage: true }))).toBeUndefined()
    const before = at(range(5), away, kazoo)
    const cutOff = apply(before, [6, 7], failure({ isOutage: true }), kazoo).health
    expect(disableReasonOf(cutOff, 7, kazoo)).toBeUndefined()
  })

  it('stores no more failure times than its rule counts', () => {
    expect(at(range(500, 1), away, kazoo)?.failedAtMs).toHaveLength(6)
  })
})
