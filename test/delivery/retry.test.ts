import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LIFECYCLE } from '../../src/delivery/lifecycle.js'
import type { Outcome } from '../../src/delivery/outcome.js'
import {
  constant,
  custom,
  exponential,
  POLICY_PRESETS,
  type RetryPolicy,
  schedule,
} from '../../src/delivery/policy.js'
import {
  type FailureContext,
  isExpired,
  maxTries,
  nextAfterAbort,
  nextAfterInterruption,
  nextDelivery,
  skipDelivery,
} from '../../src/delivery/retry.js'
import { aDelivery, anyPolicy } from './fixtures.js'

type Failure = Extract<Outcome, { kind: 'failed' }>

/** The receiver answered 500. */
const failed = (changes: Partial<Failure> = {}): Failure => ({
  kind: 'failed',
  failure: 'http',
  status: 500,
  isUnavailable: false,
  isThrottled: false,
  isSent: true,
  gone: false,
  ...changes,
})
const { status: _, ...unanswered } = failed({ failure: 'timeout', isUnavailable: true })
const timeout: Failure = { ...unanswered, cause: 'timeout_answer' }
const refused: Failure = { ...unanswered, failure: 'connection', cause: 'refused', isSent: false }
const blocked: Failure = { ...unanswered, failure: 'blocked_address', isUnavailable: false, isSent: false }
const status503 = failed({ status: 503, isUnavailable: true })
const status429 = failed({ status: 429, isUnavailable: true, isThrottled: true })
const UNAVAILABLE = [timeout, refused, status503, status429]

const fractions = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const rules = (retries: number, policy: RetryPolicy = exponential({ jitter: 0 }), functions = {}) => ({
  policy,
  functions,
  retries,
})
const NOT_PAUSED: FailureContext = {
  isFree: false,
  isPaused: false,
  followsPolicy: false,
  isOutage: false,
  isCheck: false,
}
const inContext = (changes: Partial<FailureContext>): FailureContext => ({ ...NOT_PAUSED, ...changes })
const PROBE = inContext({ isFree: true, isPaused: true })
const CHECK = inContext({ isFree: true, isPaused: true, isCheck: true })

describe('a failure of a receiver that could not take the request', () => {
  it('never costs a try, whatever the number of retries, and only records the first failure', () => {
    for (const outcome of UNAVAILABLE)
      for (const retries of [1, 2, 30]) {
        const delivery = aDelivery({ attempts: 400, tries: retries, failedMs: 7 })
        const next = nextDelivery(delivery, outcome, rules(retries), 1000, 0.5)
        expect(next).toMatchObject({ state: 'waiting', attempts: 401, tries: retries, failedMs: 7 })
      }
    expect(nextDelivery(aDelivery(), timeout, rules(5), 1000.5, 0.5)).toMatchObject({
      failedMs: 1000,
      reason: 'timeout_answer',
    })
  })

  it('is followed by the next attempt after 5 s, 10 s, then 15 s while the receiver takes nothing', () => {
    const hourly = rules(5, constant(3_600_000, { jitter: 0 }))
    for (const outcome of [timeout, refused, status503]) {
      const delays = [0, 1, 2, 3, 50].map(
        (attempts) => nextDelivery(aDelivery({ attempts }), outcome, hourly, 1000, 0.5).dueMs! - 1000,
      )
      expect(delays).toEqual([5000, 10_000, 15_000, 15_000, 15_000])
    }
  })

  it('is retried earlier if the policy says so', () => {
    const quick = rules(5, constant(100, { jitter: 0 }))
    expect(nextDelivery(aDelivery(), timeout, quick, 1000, 0.5).dueMs).toBe(1100)
  })

  it('goes by the policy when the receiver has taken others since, or asks for fewer requests', () => {
    const patient = rules(5, POLICY_PRESETS.patient)
    const delays = (outcome: Failure, context: FailureContext) =>
      [0, 1, 2].map(
        (attempts) => nextDelivery(aDelivery({ attempts }), outcome, patient, 0, 0.5, context).dueMs,
      )
    const schedule = [5000, 300_000, 1_800_000]
    for (const outcome of UNAVAILABLE)
      expect(delays(outcome, inContext({ followsPolicy: true }))).toEqual(schedule)
    expect(delays(status429, NOT_PAUSED)).toEqual(schedule)
  })

  it('is due at once on a paused endpoint: the pause holds it', () => {
    for (const outcome of [...UNAVAILABLE, failed()]) {
      const next = nextDelivery(aDelivery({ attempts: 9 }), outcome, rules(30), 1000, 0.5, PROBE)
      expect(next).toMatchObject({ state: 'waiting', dueMs: 1000, attempts: 10, tries: 0 })
    }
  })

  it('keeps the time of its first failure through whatever follows', () => {
    const delivery = aDelivery({ attempts: 3, tries: 1, failedMs: 7 })
    const outcomes: Outcome[] = [timeout, failed(), { kind: 'own_fault', detail: '' }]
    for (const outcome of outcomes)
      for (const context of [NOT_PAUSED, PROBE, CHECK])
        expect(nextDelivery(delivery, outcome, rules(5), 1000, 0.5, context).failedMs).toBe(7)
    expect(nextAfterInterruption(delivery, 9).failedMs).toBe(7)
    expect(nextAfterAbort(delivery, 9).failedMs).toBe(7)
  })

  it('is none of an internal fault and of an interruption', () => {
    const none = [
      nextDelivery(aDelivery(), { kind: 'own_fault', detail: '' }, rules(5), 9, 0.5),
      nextAfterInterruption(aDelivery(), 9),
      nextAfterAbort(aDelivery(), 9),
    ]
    for (const next of none) expect(next).not.toHaveProperty('failedMs')
  })
})

describe('a rejection', () => {
  it('costs no try as a probe, or when it opens the pause', () => {
    const delivery = aDelivery({ attempts: 4, tries: 2 })
    expect(nextDelivery(delivery, failed(), rules(2), 1000, 0.5)).toMatchObject({
      state: 'exhausted',
      tries: 3,
    })
    for (const isPaused of [true, false]) {
      const next = nextDelivery(
        delivery,
        failed(),
        rules(2),
        1000,
        0.5,
        inContext({ isFree: true, isPaused }),
      )
      expect(next).toMatchObject({ state: 'waiting', tries: 2, attempts: 5, reason: 'status 500' })
    }
  })

  it('ends a delivery of a disabled receiver, or without retries, as a probe too', () => {
    expect(nextDelivery(aDelivery(), failed({ status: 410, gone: true }), rules(2), 0, 0, PROBE).state).toBe(
      'cancelled',
    )
    expect(nextDelivery(aDelivery(), failed(), rules(0), 0, 0, PROBE).state).toBe('exhausted')
  })

  it('is one of a blocked address, but none of a timeout', () => {
    expect(nextDelivery(aDelivery({ tries: 2 }), blocked, rules(2), 0, 0)).toMatchObject({
      state: 'exhausted',
      tries: 3,
      reason: 'blocked_address',
    })
  })
})

describe('a probe that made no connection', () => {
  it('is no attempt, whatever the policy and the number of retries', () => {
    fc.assert(
      fc.property(
        anyPolicy,
        fc.nat(30),
        fc.nat(40),
        fc.boolean(),
        fractions,
        (policy, retries, tries, only, random) => {
          const retryOn = only ? 'transport' : 'failure'
          const delivery = aDelivery({ attempts: 3, tries, failedMs: 5 })
          const next = nextDelivery(
            delivery,
            refused,
            rules(retries, { ...policy, retryOn }),
            1000,
            random,
            CHECK,
          )
          expect(next).toMatchObject({ state: 'waiting', attempts: 3, tries, failedMs: 5, dueMs: 1000 })
        },
      ),
    )
  })

  it('is followed by the next one soon if its pause has ended meanwhile', () => {
    const ended = inContext({ isCheck: true })
    const never = rules(5, custom('never'), { never: () => null })
    for (const attempts of [0, 1, 9])
      for (const policy of [rules(5), rules(0), never, rules(2, POLICY_PRESETS.kazoo)]) {
        const next = nextDelivery(aDelivery({ attempts }), refused, policy, 1000, 0.5, ended)
        expect(next).toMatchObject({ state: 'waiting', attempts, tries: 0, dueMs: 6000 })
      }
  })
})

describe('without retries', () => {
  const once = (outcome: Outcome, context = NOT_PAUSED) =>
    nextDelivery(aDelivery(), outcome, rules(0), 1000, 0.5, context).state

  it.each<[string, Failure]>([
    ['was rejected', failed()],
    ['may have been sent when the time was over', timeout],
    ['was answered with 503', status503],
    ['is not HTTP', { ...unanswered, failure: 'protocol', isUnavailable: false }],
    ['goes to a blocked address', blocked],
  ])('a delivery ends with a request that %s', (_, outcome) => {
    expect(once(outcome)).toBe('exhausted')
    expect(once(outcome, PROBE)).toBe('exhausted')
  })

  it.each<[string, Failure]>([
    ['was not sent', refused],
    ['was not sent before the time was over', { ...timeout, isSent: false }],
    ['did not leave the closed connection', { ...unanswered, failure: 'connection', isSent: false }],
    ['was answered with 429', status429],
    ['was answered with 503 and Retry-After', { ...status503, isThrottled: true, retryAfterMs: 1000 }],
  ])('a delivery goes on after a request that %s', (_, outcome) => {
    for (const context of [NOT_PAUSED, PROBE]) expect(once(outcome, context)).toBe('waiting')
  })
})

describe('nextDelivery', () => {
  it('exhausts after exactly 1 + retries tries', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 }), anyPolicy, fractions, (retries, policy, random) => {
        let delivery = aDelivery()
        let sent = 0
        for (;;) {
          sent++
          const next = nextDelivery(delivery, failed(), rules(retries, policy), 1000, random)
          expect(next.attempts).toBe(sent)
          expect(LIFECYCLE.in_flight).toSatisfy((row: object) => Object.values(row).includes(next.state))
          if (next.state !== 'waiting') {
            expect(next).toMatchObject({ state: 'exhausted', tries: 1 + retries, reason: 'status 500' })
            break
          }
          expect(next.dueMs).toBeGreaterThanOrEqual(1000)
          delivery = { ...delivery, attempts: next.attempts, tries: next.tries }
        }
        expect(sent).toBe(1 + retries)
      }),
    )
  })

  it('delivers with a 2xx, whatever happened before', () => {
    const next = nextDelivery(
      aDelivery({ attempts: 3, tries: 3 }),
      { kind: 'delivered', status: 204 },
      rules(0),
      5,
      0,
    )
    expect(next).toEqual({ state: 'delivered', attempts: 4, tries: 4, interruptions: 0 })
  })

  it('counts an internal fault as an attempt, but does not charge it', () => {
    const next = nextDelivery(
      aDelivery({ attempts: 2, tries: 2 }),
      { kind: 'own_fault', detail: 'EMFILE' },
      rules(2),
      100,
      0.5,
    )
    expect(next).toMatchObject({ state: 'waiting', attempts: 3, tries: 2, dueMs: 1100 })
  })

  it('cancels on 410, even with retries left', () => {
    const next = nextDelivery(aDelivery(), failed({ status: 410, gone: true }), rules(5), 0, 0)
    expect(next).toMatchObject({ state: 'cancelled', reason: 'gone' })
  })

  it('tells a policy the number of attempts: an attempt that costs no try makes the next delay longer too', () => {
    const policy = schedule([1000, 60_000], { jitter: 0 })
    expect(nextDelivery(aDelivery({ attempts: 1 }), failed(), rules(5, policy), 0, 0)).toMatchObject({
      dueMs: 60_000,
      tries: 1,
    })
  })

  describe('with the preset kazoo', () => {
    it('knows one kind of failure: neither a pause nor the receiver makes a difference', () => {
      const delivery = aDelivery({ attempts: 1, tries: 1 })
      for (const outcome of [timeout, refused, blocked])
        expect(nextDelivery(delivery, outcome, rules(2, POLICY_PRESETS.kazoo), 0, 0.5)).toMatchObject({
          state: 'exhausted',
          tries: 2,
        })
      for (const outcome of [status503, status429, failed({ status: 302 })])
        expect(nextDelivery(aDelivery(), outcome, rules(9, POLICY_PRESETS.kazoo), 0, 0.5).state).toBe(
          'exhausted',
        )
    })

    it('charges no attempt without an answer during an outage of this node', () => {
      const delivery = aDelivery({ attempts: 7, tries: 1 })
      const outage = inContext({ isOutage: true })
      const next = nextDelivery(delivery, timeout, rules(2, POLICY_PRESETS.kazoo), 0, 0.5, outage)
      expect(next).toMatchObject({ state: 'waiting', tries: 1, attempts: 8, dueMs: 2000 })
    })

    it('counts retries as tries, at least one', () => {
      expect([0, 1, 2, 4].map((retries) => maxTries(rules(retries, POLICY_PRESETS.kazoo)))).toEqual([
        1, 1, 2, 4,
      ])
    })

    it('retries transport errors after 2 s, and no HTTP answer', () => {
      expect(nextDelivery(aDelivery(), timeout, rules(2, POLICY_PRESETS.kazoo), 0, 0.9)).toMatchObject({
        state: 'waiting',
        dueMs: 2000,
      })
      expect(nextDelivery(aDelivery(), failed(), rules(2, POLICY_PRESETS.kazoo), 0, 0)).toMatchObject({
        state: 'exhausted',
      })
    })
  })

  describe('with a policy function of the host', () => {
    const withFunction = (fn: () => number | null) => ({
      policy: custom('mine'),
      functions: { mine: fn },
      retries: 3,
    })

    it.each([
      ['the returned time', () => 1234, 1234],
      ['at most a week', () => Number.POSITIVE_INFINITY, 604_800_000],
      ['at least nothing', () => -5, 0],
    ])('waits %s', (_, fn, delay) => {
      expect(nextDelivery(aDelivery(), failed(), withFunction(fn), 0, 0)).toMatchObject({
        state: 'waiting',
        dueMs: delay,
      })
    })

    it('ends when it returns null', () => {
      expect(
        nextDelivery(
          aDelivery(),
          failed(),
          withFunction(() => null),
          0,
          0,
        ).state,
      ).toBe('exhausted')
    })

    it.each([
      [
        'throws',
        () => {
          throw new Error('mine')
        },
      ],
      ['returns NaN', () => Number.NaN],
      ['returns a string', () => 'soon' as unknown as number],
    ])('uses the default policy when it %s', (_, fn) => {
      expect(nextDelivery(aDelivery(), failed(), withFunction(fn), 0, 0.5)).toMatchObject({
        state: 'waiting',
        dueMs: 5000,
      })
    })

    it('passes what failed and the number of tries', () => {
      const contexts: unknown[] = []
      const functions = {
        mine: (context: unknown) => {
          contexts.push(context)
          return 1
        },
      }
      nextDelivery(
        aDelivery({ attempts: 1, tries: 1 }),
        timeout,
        { policy: custom('mine'), functions, retries: 3 },
        0,
        0.25,
      )
      expect(contexts).toEqual([
        { tries: 2, webhookId: 'w1', hook: 'channel_create', failure: 'timeout', random: 0.25 },
      ])
    })
  })
})

describe('a delivery whose node crashed', () => {
  it('waits again twice, and is quarantined the third time in a row', () => {
    let delivery = aDelivery()
    for (const state of ['waiting', 'waiting', 'quarantined'] as const) {
      const next = nextAfterInterruption(delivery, 77)
      expect(next.state).toBe(state)
      expect(next.tries).toBe(0)
      delivery = { ...delivery, attempts: next.attempts, interruptions: next.interruptions }
    }
    // Quarantine is an end without a request, not an attempt.
    expect(delivery.attempts).toBe(2)
  })

  it('is not counted as interrupted when close aborted its request', () => {
    expect(nextAfterAbort(aDelivery({ interruptions: 2 }), 5)).toMatchObject({
      state: 'waiting',
      dueMs: 5,
      interruptions: 2,
      attempts: 1,
    })
  })
})

describe('skipDelivery', () => {
  it.each([
    ['expired', 'expired'],
    ['cancelled', 'cancelled'],
  ] as const)('for the reason %s leads to %s and counts no attempt', (why, state) => {
    expect(skipDelivery(aDelivery({ state: 'waiting', attempts: 1, tries: 1 }), why)).toMatchObject({
      state,
      attempts: 1,
      tries: 1,
    })
  })

  it('is needed for an event older than its limit, not for one exactly as old', () => {
    expect(isExpired(5, 10_000, 10_005)).toBe(false)
    expect(isExpired(5, 10_000, 10_006)).toBe(true)
  })

  it('throws for a delivery that has ended', () => {
    expect(() => skipDelivery(aDelivery({ state: 'delivered' }), 'expired')).toThrow('delivered')
  })
})
