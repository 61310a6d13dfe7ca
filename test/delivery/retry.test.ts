import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LIFECYCLE } from '../../src/delivery/lifecycle.js'
import type { Outcome } from '../../src/delivery/outcome.js'
import { custom, exponential, POLICY_PRESETS, type RetryPolicy } from '../../src/delivery/policy.js'
import {
  isExpired,
  maxTries,
  nextAfterAbort,
  nextAfterInterruption,
  nextDelivery,
  skipDelivery,
} from '../../src/delivery/retry.js'
import { aDelivery, anyPolicy } from './fixtures.js'

const failed = (changes: Partial<Extract<Outcome, { kind: 'failed' }>> = {}): Outcome => ({
  kind: 'failed',
  failure: 'http',
  status: 500,
  gone: false,
  throttled: false,
  ...changes,
})
const timeout = failed({ failure: 'timeout' })
// @ts-expect-error a transport failure has no status
delete timeout.status

const fractions = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('nextDelivery after a failed probe of a receiver that is briefly down', () => {
  const rules = { policy: exponential(), functions: {}, retries: 2 }
  const last = aDelivery({ state: 'in_flight', acceptedMs: 0, attempts: 4, tries: 2 })
  const probe = (outcome: Outcome, now = 1000, changes: object = {}) =>
    nextDelivery(last, outcome, { ...rules, ...changes }, now, 0.5, false, true)

  it('charges no try, and retries as after a charged one', () => {
    const next = probe(failed())
    expect(next).toMatchObject({ state: 'waiting', tries: 2, attempts: 5, reason: 'status 500' })
    expect(next.dueMs).toBe(1000 + 18_000)
    expect(probe(timeout)).toMatchObject({ state: 'waiting', tries: 2 })
  })

  it('charges a success, an own fault and a delivery of more than a day as ever', () => {
    expect(probe({ kind: 'delivered' } as Outcome)).toMatchObject({ state: 'delivered', tries: 3 })
    expect(probe({ kind: 'own_fault', detail: '' })).toMatchObject({ state: 'waiting', tries: 2 })
    expect(probe(failed(), 86_400_000)).toMatchObject({ state: 'exhausted', tries: 3 })
  })

  it('ends a delivery that is not retried, or whose address is blocked', () => {
    expect(probe(failed(), 1000, { retries: 0 }).state).toBe('exhausted')
    expect(probe(failed(), 1000, { policy: POLICY_PRESETS.kazoo }).state).toBe('exhausted')
    expect(probe({ ...timeout, failure: 'blocked_address' } as Outcome).state).toBe('exhausted')
    expect(probe(failed({ status: 410, gone: true })).state).toBe('cancelled')
  })
})

describe('nextDelivery during an outage', () => {
  const rules = { policy: exponential(), functions: {}, retries: 0 }
  const young = aDelivery({ state: 'in_flight', acceptedMs: 0, attempts: 7, tries: 0 })

  it('does not charge an attempt without an answer, and retries it with the default policy', () => {
    const next = nextDelivery(young, timeout, rules, 1000, 0.5, true)
    expect(next).toMatchObject({ state: 'waiting', tries: 0, attempts: 8, reason: 'timeout' })
    expect(next.dueMs! - 1000).toBe(3_600_000)
  })

  it('charges an attempt with an answer, and one to a blocked address', () => {
    expect(nextDelivery(young, failed(), rules, 1000, 0.5, true).state).toBe('exhausted')
    const blocked = { ...timeout, failure: 'blocked_address' } as Outcome
    expect(nextDelivery(young, blocked, rules, 1000, 0.5, true).state).toBe('exhausted')
  })

  it('charges deliveries older than a day: they end even if no receiver ever answers', () => {
    expect(nextDelivery(young, timeout, rules, 86_399_999, 0.5, true).state).toBe('waiting')
    expect(nextDelivery(young, timeout, rules, 86_400_000, 0.5, true).state).toBe('exhausted')
  })
})

it('nextDelivery doubles the pause with each internal fault, up to 400 s', () => {
  const rules = { policy: exponential(), functions: {}, retries: 0 }
  const pauses = [0, 1, 2, 8, 9, 500].map((attempts) => {
    const delivery = aDelivery({ state: 'in_flight', attempts, tries: 0 })
    return [0, 0.5, 1 - 2 ** -53].map(
      (random) => nextDelivery(delivery, { kind: 'own_fault', detail: '' }, rules, 0, random).dueMs,
    )
  })
  expect(pauses.map(([, middle]) => middle)).toEqual([1000, 2000, 4000, 256_000, 400_000, 400_000])
  for (const [least, middle, most] of pauses) {
    expect(least).toBe(middle! / 2)
    expect(most).toBe(middle! * 1.5)
  }
})

describe('nextDelivery', () => {
  const rules = (retries: number, policy: RetryPolicy = exponential()) => ({
    policy,
    functions: {},
    retries,
  })

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

  it.each([
    [undefined, 2000],
    [500, 2000],
    [5000, 5000],
    [86_400_000, 600_000],
  ])('pauses the whole endpoint for a Retry-After of %s ms: %s ms', (retryAfterMs, pause) => {
    const outcome = failed({
      status: 503,
      throttled: true,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
    const next = nextDelivery(aDelivery(), outcome, rules(2), 1000, 0.5)
    expect(next.pauseUntilMs).toBe(1000 + pause)
    expect(next.dueMs).toBe(1000 + Math.max(2000, pause))
  })

  it('does not retry earlier than the policy because of a short Retry-After', () => {
    const outcome = failed({ status: 503, throttled: true, retryAfterMs: 3000 })
    const next = nextDelivery(aDelivery({ attempts: 1, tries: 1 }), outcome, rules(2), 1000, 0.5)
    expect(next).toMatchObject({ pauseUntilMs: 1000 + 3000, dueMs: 1000 + 6000 })
  })

  it('pauses the endpoint with the last try too', () => {
    const next = nextDelivery(
      aDelivery(),
      failed({ status: 429, throttled: true, retryAfterMs: 9000 }),
      rules(0),
      0,
      0,
    )
    expect(next).toMatchObject({ state: 'exhausted', pauseUntilMs: 9000 })
  })

  describe('with the preset kazoo', () => {
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
        aDelivery({ tries: 1 }),
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
    expect(isExpired(0, 10, 10_000)).toBe(false)
    expect(isExpired(0, 10, 10_001)).toBe(true)
    expect(isExpired(0, undefined, Number.MAX_SAFE_INTEGER)).toBe(false)
  })

  it('throws for a delivery that has ended', () => {
    expect(() => skipDelivery(aDelivery({ state: 'delivered' }), 'expired')).toThrow('delivered')
  })
})
