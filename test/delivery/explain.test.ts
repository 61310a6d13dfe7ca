import { describe, expect, it } from 'vitest'
import type { AttemptRecord } from '../../src/delivery/attempt-record.js'
import type { StoredDelivery } from '../../src/delivery/delivery-queries.js'
import { type ExplainContext, explainDelivery, sentenceOf } from '../../src/delivery/explain.js'
import { FAILURE_CAUSES } from '../../src/values/failure-cause.js'
import { aDelivery, aWebhook } from './fixtures.js'

const NOW = 100_000
const CAPS = { perEndpoint: 10, perAccount: 100, perOrigin: 50, total: 500, probes: 1_000 }
const explain = (delivery: Partial<StoredDelivery>, context: Partial<ExplainContext> = {}): string =>
  sentenceOf(
    explainDelivery(
      { ...aDelivery({ state: 'waiting', dueMs: NOW }), position: 1, ahead: 0, sequence: 1, ...delivery },
      {
        webhook: aWebhook(),
        now: NOW,
        limitReached: undefined,
        caps: CAPS,
        attemptTimeoutMs: 10_000,
        ...context,
      },
    ),
  )
const PAUSE = { kind: 'unavailable', probes: 1, sinceMs: 1 } as const
const paused = (pausedUntilMs: number) => aWebhook({}, { health: { failuresInRow: 1, pausedUntilMs } })

describe('the explanation of a waiting delivery', () => {
  it.each<[string, string]>([
    [explain({}), 'Is due now.'],
    [explain({ ahead: 1 }), 'Waits for call order: 1 earlier delivery of this call must end first.'],
    [explain({ ahead: 3 }), 'Waits for call order: 3 earlier deliveries of this call must end first.'],
    [explain({}, { webhook: paused(NOW + 1500) }), 'Waits 2 seconds: the receiver asked for fewer requests.'],
    [explain({}, { webhook: paused(NOW) }), 'Is due now.'],
    [
      explain({ dueMs: NOW + 1, attempts: 1, reason: 'status 500' }),
      'Retry in 1 second, after 1 attempt: status 500.',
    ],
    [
      explain({ dueMs: NOW + 6000, attempts: 2, reason: 'timeout' }),
      'Retry in 6 seconds, after 2 attempts: timeout.',
    ],
    [
      explain({}, { limitReached: 'endpoint' }),
      'Waits for capacity: the endpoint is at its cap of 10 requests in flight.',
    ],
    [
      explain(
        {},
        { limitReached: 'endpoint', webhook: aWebhook({}, { health: { failuresInRow: 10, pause: PAUSE } }) },
      ),
      'Paused: one request at a time is sent until the receiver takes it.',
    ],
    [
      explain({}, { limitReached: 'account' }),
      'Waits for capacity: the account is at its cap of 100 requests in flight.',
    ],
    [
      explain({}, { limitReached: 'origin' }),
      'Waits for capacity: the origin of the uri is at its cap of 50 requests in flight.',
    ],
    [
      explain({}, { limitReached: 'share' }),
      'Waits for capacity: the requests in flight that are left are for accounts that have fewer of them.',
    ],
    [
      explain({}, { limitReached: 'priority' }),
      'Waits for capacity: receivers that were never tried, or do not answer fast, share a part of all requests in flight.',
    ],
    [
      explain({}, { limitReached: 'rate' }),
      'Waits for its turn: the receiver, or `rate_limit`, allows a limited number of requests per second.',
    ],
    [
      explain({}, { limitReached: 'total' }),
      'Waits for capacity: the service is at its cap of 500 requests in flight.',
    ],
  ])('%s', (sentence, expected) => {
    expect(sentence).toBe(expected)
  })

  it('does not need the webhook', () => {
    const delivery = { ...aDelivery({ state: 'waiting' }), position: 1, ahead: 0, sequence: 1 }
    const context = {
      webhook: undefined,
      now: NOW,
      limitReached: undefined,
      caps: CAPS,
      attemptTimeoutMs: 10_000,
    }
    expect(explainDelivery(delivery, context)).toEqual({ code: 'due' })
  })
})

describe('the explanation of any other delivery', () => {
  it.each<[Partial<StoredDelivery>, string]>([
    [{ state: 'in_flight', attempts: 1 }, 'Is being sent: attempt 2.'],
    [{ state: 'delivered', attempts: 1 }, 'Delivered after 1 attempt.'],
    [{ state: 'delivered', attempts: 3 }, 'Delivered after 3 attempts.'],
    [{ state: 'exhausted', attempts: 3, reason: 'timeout' }, 'Gave up after 3 attempts: timeout.'],
    [{ state: 'exhausted', attempts: 1 }, 'Gave up after 1 attempt.'],
    [{ state: 'expired' }, 'Not sent: the event was older than max_age_seconds when it was due.'],
    [
      { state: 'cancelled', reason: 'gone' },
      'Cancelled: the receiver answered 410 Gone, and the webhook was disabled.',
    ],
    [{ state: 'cancelled', reason: 'cancelled' }, 'Cancelled: the webhook was disabled or deleted.'],
    [{ state: 'quarantined' }, 'Quarantined: the node crashed three times in a row while sending it.'],
  ])('%j', (delivery, expected) => {
    expect(explain(delivery)).toBe(expected)
  })
})

describe('why the last attempt failed', () => {
  const anAttempt = (changes: Partial<AttemptRecord>): AttemptRecord => ({
    id: 'r',
    accountId: 'acc',
    webhookId: 'w1',
    hook: 'channel_create',
    eventId: 'e1',
    deliveryId: 'd1',
    uri: 'https://example.com/hook',
    method: 'post',
    attempt: 1,
    retriesLeft: 1,
    result: 'failure',
    atMs: 0,
    ...changes,
  })
  const refused = anAttempt({
    clientError: 'connection',
    cause: 'refused',
    detail: 'The server refused the connection (ECONNREFUSED).',
  })
  const open = aWebhook({}, { health: { failuresInRow: 10, pause: PAUSE, pausedUntilMs: NOW + 5000 } })
  const retrying = { dueMs: NOW + 5000, attempts: 1, reason: 'refused' }

  it('is the sentence of the cause where the attempt was not read', () => {
    for (const [cause, sentence] of Object.entries(FAILURE_CAUSES)) {
      expect(explain({ ...retrying, reason: cause })).toBe(
        `Retry in 5 seconds, after 1 attempt: ${cause}. ${sentence}`,
      )
      expect(explain({ state: 'exhausted', attempts: 3, reason: cause })).toBe(
        `Gave up after 3 attempts: ${cause}. ${sentence}`,
      )
    }
  })

  it.each<[string, Partial<StoredDelivery>, Partial<ExplainContext>]>([
    [
      'Retry in 5 seconds, after 1 attempt: refused. The server refused the connection (ECONNREFUSED).',
      retrying,
      { newest: refused },
    ],
    [
      'Gave up after 2 attempts: status 302. The server redirects to https://new.example.com/, and redirects are not followed.',
      { state: 'exhausted', attempts: 2, reason: 'status 302' },
      {
        newest: anAttempt({
          status: 302,
          clientError: 'redirect',
          detail: 'The server redirects to https://new.example.com/, and redirects are not followed.',
        }),
      },
    ],
    [
      'Gave up after 2 attempts: older than max_age_seconds. The last attempt failed: refused. The server refused the connection (ECONNREFUSED).',
      { state: 'expired', attempts: 2, reason: 'older than max_age_seconds' },
      { newest: refused },
    ],
    [
      'Paused: next try in 5 seconds, after 10 failures in a row. The last attempt failed: refused. The server refused the connection (ECONNREFUSED).',
      retrying,
      { webhook: open, newest: refused },
    ],
    [
      'Paused: next try in 5 seconds, after 10 failures in a row. The last attempt failed: refused. The server refused the connection (ECONNREFUSED).',
      {},
      { webhook: open, newest: refused },
    ],
    [
      'Waits 2 seconds: the receiver asked for fewer requests. The last attempt failed: status 429.',
      {},
      { webhook: paused(NOW + 2000), newest: anAttempt({ status: 429 }) },
    ],
    ['Is due now.', {}, { newest: refused }],
    [
      'Retry in 5 seconds, after 1 attempt: own fault.',
      { ...retrying, reason: 'own fault' },
      { newest: anAttempt({ clientError: 'own_fault' }) },
    ],
    [
      'Delivered after 1 attempt. A header is folded.',
      { state: 'delivered', attempts: 1 },
      { newest: anAttempt({ result: 'success', status: 200, detail: 'A header is folded.' }) },
    ],
    [
      'Paused: next try in 5 seconds, after 10 failures in a row.',
      {},
      { webhook: open, newest: anAttempt({ result: 'success', status: 200, detail: 'A header is folded.' }) },
    ],
  ])('%s', (sentence, delivery, context) => {
    expect(explain(delivery, context)).toBe(sentence)
  })

  it.each([
    [12_000, 10_000, '12', '10'],
    [12_040, 10_000, '12', '10'],
    [12_460, 10_000, '12.5', '10'],
    [10_001, 10_000, '10.1', '10'],
    [400, 250, '0.4', '0.25'],
  ])('is an answer after %i ms where %i ms are the limit', (durationMs, attemptTimeoutMs, took, timeout) => {
    const late = anAttempt({ result: 'success', status: 200, late: true, durationMs })
    const sentence = `Your server answers after ${took} s, the limit is ${timeout} s.`
    const context = { newest: late, attemptTimeoutMs }
    expect(explain({ state: 'delivered', attempts: 1 }, context)).toBe(
      `Delivered after 1 attempt. ${sentence}`,
    )
    expect(explain({}, context)).toBe(`Is due now. ${sentence}`)
    expect(explain({}, { newest: { ...late, late: false }, attemptTimeoutMs })).toBe('Is due now.')
    expect(
      explain(retrying, { newest: anAttempt({ status: 500, late: true, durationMs }), attemptTimeoutMs }),
    ).toBe(`Retry in 5 seconds, after 1 attempt: status 500. ${sentence}`)
  })
})
