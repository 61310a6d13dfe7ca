import { describe, expect, it } from 'vitest'
import type { StoredDelivery } from '../../src/delivery/delivery-queries.js'
import { type ExplainContext, explainDelivery, sentenceOf } from '../../src/delivery/explain.js'
import type { Webhook } from '../../src/webhooks/webhook.js'
import { aDelivery, aWebhook } from './fixtures.js'

const NOW = 100_000
const CAPS = { perEndpoint: 10, perAccount: 100, perOrigin: 50, total: 500 }
const explain = (
  delivery: Partial<StoredDelivery>,
  context: { webhook?: Webhook; limitReached?: ExplainContext['limitReached'] } = {},
): string =>
  sentenceOf(
    explainDelivery(
      { ...aDelivery({ state: 'waiting', dueMs: NOW }), position: 1, ahead: 0, sequence: 1, ...delivery },
      { webhook: aWebhook(), now: NOW, limitReached: undefined, caps: CAPS, ...context },
    ),
  )
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
        { limitReached: 'endpoint', webhook: aWebhook({}, { health: { failuresInRow: 10, openings: 1 } }) },
      ),
      'Waits for a probe: the breaker lets one request at a time through.',
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
      explain({}, { limitReached: 'total' }),
      'Waits for capacity: the service is at its cap of 500 requests in flight.',
    ],
  ])('%s', (sentence, expected) => {
    expect(sentence).toBe(expected)
  })

  it('does not need the webhook', () => {
    const delivery = { ...aDelivery({ state: 'waiting' }), position: 1, ahead: 0, sequence: 1 }
    const context = { webhook: undefined, now: NOW, limitReached: undefined, caps: CAPS }
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
