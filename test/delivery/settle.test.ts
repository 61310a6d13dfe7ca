import { describe, expect, it } from 'vitest'
import type { AttemptResult } from '../../src/delivery/attempt-record.js'
import { exponential } from '../../src/delivery/policy.js'
import {
  type SettleContext,
  settleAttempt,
  settleInterrupted,
  settleSkipped,
} from '../../src/delivery/settle.js'
import type { Observation } from '../../src/ports.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'
import type { Webhook } from '../../src/webhooks/webhook.js'
import { aDelivery, aWebhook } from './fixtures.js'
import { responseWith } from './harness.js'

const WALL = 1_767_225_600_000
const NOW = 5_000_000

/** A delivery with its position. */
const queued = (changes: Parameters<typeof aDelivery>[0] = {}) => ({ ...aDelivery(changes), position: 7 })

const contextOf = (webhook: Webhook = aWebhook()): SettleContext => ({
  recordId: 'record',
  webhook,
  rules: { policy: exponential(), functions: {}, retries: webhook.settings.retries },
  healthRules: HEALTH_PRESETS.standard,
  isOutage: false,
  now: NOW,
  wallMs: WALL,
  random: 0.5,
})
const resultOf = (observation: Observation): AttemptResult => ({
  request: {
    method: 'POST',
    url: 'https://example.com/hook',
    headers: ['X-Hook-Attempt', '1', 'Authorization', 'Bearer x', 'webhook-signature', 'v1,x'],
    body: '{}',
    deadlineMs: 10_000,
    group: 'hook',
  },
  observation,
  sentMs: WALL - 250,
  durationMs: 249.6,
})
const noAnswer = (failure: 'timeout' | 'blocked_address'): Observation => ({
  kind: 'no_response',
  failure,
  detail: '',
})
const settle = (
  observation: Observation,
  health?: Parameters<typeof settleAttempt>[2],
  delivery = queued(),
) => settleAttempt(delivery, resultOf(observation), health, contextOf()).settlement

describe('settleAttempt', () => {
  it('returns the attempts that the stored delivery must have, the next state and the record', () => {
    const body = responseWith(200, ['Content-Type', 'text/plain', 'Set-Cookie', 'id=1'])
    expect(settle({ ...body, body: 'thanks' } as Observation)).toEqual({
      deliveryId: 'd1',
      webhookId: 'w1',
      position: 7,
      expect: { attempts: 0 },
      next: { state: 'delivered', attempts: 1, tries: 1, interruptions: 0 },
      record: {
        id: 'record',
        accountId: 'acc',
        webhookId: 'w1',
        hook: 'channel_create',
        eventId: 'e1',
        deliveryId: 'd1',
        callId: 'call-1',
        uri: 'https://example.com/hook',
        method: 'post',
        attempt: 1,
        retriesLeft: 2,
        result: 'success',
        status: 200,
        responseHeaders: ['Content-Type', 'text/plain', 'Set-Cookie', '[redacted]'],
        responseBody: 'thanks',
        requestHeaders: [
          'X-Hook-Attempt',
          '1',
          'Authorization',
          '[redacted]',
          'webhook-signature',
          '[redacted]',
        ],
        durationMs: 250,
        atMs: WALL - 250,
      },
    })
  })

  it.each<[Observation, object]>([
    [responseWith(404), { reason: 'bad status', status: 404, clientError: undefined }],
    [responseWith(302), { reason: 'bad status', status: 302, clientError: 'redirect' }],
    [noAnswer('timeout'), { reason: 'no answer', clientError: 'timeout', status: undefined }],
    [noAnswer('blocked_address'), { reason: 'no answer', clientError: 'blocked_address', status: undefined }],
    [
      { kind: 'own_fault', detail: '' },
      { reason: 'own fault', clientError: 'own_fault' },
    ],
  ])('records why %j failed', (observation, expected) => {
    const { record } = settle(observation)
    for (const [key, value] of Object.entries({ result: 'failure', ...expected })) {
      expect(record?.[key as 'reason']).toBe(value)
    }
  })

  it('records how many retries are left', () => {
    const left = [0, 1, 2].map(
      (tries) => settle(responseWith(500), undefined, queued({ attempts: tries, tries })).record,
    )
    expect(left.map((record) => [record?.attempt, record?.retriesLeft])).toEqual([
      [1, 2],
      [2, 1],
      [3, 0],
    ])
    expect(settle({ kind: 'own_fault', detail: '' }).record).toMatchObject({ attempt: 1, retriesLeft: 2 })
  })

  it('stores at most 64 response headers', () => {
    const many = Array.from({ length: 400 }, (_, index) => `h${index}`)
    expect(settle(responseWith(500, many)).record?.responseHeaders).toHaveLength(128)
  })

  it('does not change a healthy endpoint, nor any endpoint for an internal fault', () => {
    expect(settle(responseWith(200))).not.toHaveProperty('endpoint')
    expect(settle({ kind: 'own_fault', detail: '' }, { failuresInRow: 3 })).not.toHaveProperty('endpoint')
  })

  it('counts failures in a row, and resets them with a success', () => {
    expect(settle(responseWith(500)).endpoint).toEqual({
      epoch: 1,
      health: { failuresInRow: 1, failingSinceMs: NOW },
    })
    expect(settle(noAnswer('timeout'), { failuresInRow: 4, failingSinceMs: 7 }).endpoint?.health).toEqual({
      failuresInRow: 5,
      failingSinceMs: 7,
    })
    expect(settle(responseWith(200), { failuresInRow: 4 }).endpoint).toEqual({ epoch: 1, health: null })
  })

  it('pauses the endpoint on a throttling status, not shorter than the delay of the policy', () => {
    const health = settle(responseWith(429, ['retry-after', '90'])).endpoint?.health
    expect(health).toEqual({ failuresInRow: 1, pausedUntilMs: NOW + 90_000, failingSinceMs: NOW })
    expect(settle(responseWith(503)).endpoint?.health).toMatchObject({ pausedUntilMs: NOW + 2000 })
  })

  it('disables a webhook whose receiver is gone', () => {
    const { next, endpoint } = settle(responseWith(410))
    expect(next).toMatchObject({ state: 'cancelled', reason: 'gone' })
    expect(endpoint).toMatchObject({ disable: { reason: 'gone', atMs: WALL } })
  })
})

describe('a settlement without an outcome', () => {
  it('records an attempt that may have been sent', () => {
    for (const how of ['crashed', 'aborted'] as const) {
      const { next, record } = settleInterrupted(queued({ attempts: 1 }), how, contextOf())
      expect(next).toMatchObject({ state: 'waiting', dueMs: NOW, attempts: 2, tries: 0 })
      expect(record).toMatchObject({ attempt: 2, reason: 'interrupted', result: 'failure', atMs: WALL })
      expect(record).not.toHaveProperty('requestHeaders')
    }
  })

  it('quarantines the delivery the third time in a row: an end, not an attempt', () => {
    const { next, record } = settleInterrupted(
      queued({ attempts: 2, interruptions: 2 }),
      'crashed',
      contextOf(),
    )
    expect(next).toMatchObject({ state: 'quarantined', attempts: 2, interruptions: 3 })
    expect(record).toMatchObject({ reason: 'quarantined', result: 'failure', method: 'post' })
    expect(record).not.toHaveProperty('attempt')
  })

  it.each([
    ['expired', 'expired'],
    ['cancelled', 'cancelled'],
  ] as const)('for the reason %s ends as %s, with a record that is not an attempt', (why, state) => {
    const {
      expect: fence,
      next,
      record,
    } = settleSkipped(queued({ state: 'waiting', attempts: 2 }), why, contextOf())
    expect(fence).toEqual({ attempts: 2 })
    expect(next).toMatchObject({ state, attempts: 2, tries: 0 })
    expect(record).toMatchObject({ reason: state, result: 'failure', method: 'post', retriesLeft: 2 })
    expect(record).not.toHaveProperty('attempt')
    expect(record).not.toHaveProperty('durationMs')
  })
})
