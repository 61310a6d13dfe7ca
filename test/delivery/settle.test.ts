import { describe, expect, it } from 'vitest'
import type { Attempted } from '../../src/delivery/attempt.js'
import { POLICY_PRESETS } from '../../src/delivery/policy.js'
import {
  type SettleContext,
  settleAttempt,
  settleInterrupted,
  settleUnsent,
} from '../../src/delivery/settle.js'
import type { Observation } from '../../src/ports.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'
import type { Webhook } from '../../src/webhooks/webhook.js'
import { aDelivery, aWebhook } from './fixtures.js'
import { answered } from './world.js'

const WALL = 1_767_225_600_000
const NOW = 5_000_000

const contextOf = (webhook: Webhook = aWebhook()): SettleContext => ({
  owner: 'node',
  recordId: 'record',
  webhook,
  rules: { policy: POLICY_PRESETS.telephony, functions: {}, retries: webhook.settings.retries },
  healthRules: HEALTH_PRESETS.standard,
  outage: false,
  now: NOW,
  wallMs: WALL,
  roll: 0.5,
})
const attempted = (observation: Observation): Attempted => ({
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
const settled = (
  observation: Observation,
  health?: Parameters<typeof settleAttempt>[2],
  delivery = aDelivery(),
) => settleAttempt(delivery, attempted(observation), health, contextOf()).settlement

describe('the settlement of an attempt', () => {
  it('is fenced by its claim, and holds the next state and the record', () => {
    const body = answered(200, ['Content-Type', 'text/plain', 'Set-Cookie', 'id=1'])
    expect(settled({ ...body, body: 'thanks' } as Observation)).toEqual({
      owner: 'node',
      deliveryId: 'd1',
      webhookId: 'w1',
      expect: { state: 'in_flight', fence: 1 },
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
    [answered(404), { reason: 'bad response code', status: 404, clientError: undefined }],
    [answered(302), { reason: 'bad response code', status: 302, clientError: 'redirect' }],
    [noAnswer('timeout'), { reason: 'kazoo http client error', clientError: 'timeout', status: undefined }],
    [
      noAnswer('blocked_address'),
      { reason: 'kazoo http client error', clientError: 'blocked_address', status: undefined },
    ],
    [
      { kind: 'own_fault', detail: '' },
      { reason: 'kazoo http client error', clientError: 'own_fault' },
    ],
  ])('of %j says why it failed', (observation, expected) => {
    const { record } = settled(observation)
    for (const [key, value] of Object.entries({ result: 'failure', ...expected })) {
      expect(record?.[key as 'reason']).toBe(value)
    }
  })

  it('counts down the retries that are left', () => {
    const left = [0, 1, 2].map(
      (tries) => settled(answered(500), undefined, aDelivery({ attempts: tries, tries })).record,
    )
    expect(left.map((record) => [record?.attempt, record?.retriesLeft])).toEqual([
      [1, 2],
      [2, 1],
      [3, 0],
    ])
    expect(settled({ kind: 'own_fault', detail: '' }).record).toMatchObject({ attempt: 1, retriesLeft: 2 })
  })

  it('keeps at most 64 headers of an answer', () => {
    const many = Array.from({ length: 400 }, (_, index) => `h${index}`)
    expect(settled(answered(500, many)).record?.responseHeaders).toHaveLength(128)
  })

  it('does not touch a healthy endpoint, nor any by a fault of ours', () => {
    expect(settled(answered(200))).not.toHaveProperty('endpoint')
    expect(settled({ kind: 'own_fault', detail: '' }, { failuresInRow: 3 })).not.toHaveProperty('endpoint')
  })

  it('counts failures in a row, and a success forgets them', () => {
    expect(settled(answered(500)).endpoint).toEqual({
      epoch: 1,
      health: { failuresInRow: 1, failingSinceMs: NOW },
    })
    expect(settled(noAnswer('timeout'), { failuresInRow: 4, failingSinceMs: 7 }).endpoint?.health).toEqual({
      failuresInRow: 5,
      failingSinceMs: 7,
    })
    expect(settled(answered(200), { failuresInRow: 4 }).endpoint).toEqual({ epoch: 1, health: null })
  })

  it('pauses the endpoint where the receiver asked for that, not shorter than the policy waits', () => {
    const health = settled(answered(429, ['retry-after', '90'])).endpoint?.health
    expect(health).toEqual({ failuresInRow: 1, pausedUntilMs: NOW + 90_000, failingSinceMs: NOW })
    expect(settled(answered(503)).endpoint?.health).toMatchObject({ pausedUntilMs: NOW + 2000 })
  })

  it('disables a webhook whose receiver is gone', () => {
    const { next, endpoint } = settled(answered(410))
    expect(next).toMatchObject({ state: 'cancelled', reason: 'gone' })
    expect(endpoint).toMatchObject({ disable: { reason: 'gone', atMs: WALL } })
  })
})

describe('the settlement of a delivery without an outcome', () => {
  it('records an attempt that may have been sent', () => {
    for (const how of ['lost', 'cut'] as const) {
      const { next, record } = settleInterrupted(aDelivery({ attempts: 1 }), how, contextOf())
      expect(next).toMatchObject({ state: 'waiting', dueMs: NOW, attempts: 2, tries: 0 })
      expect(record).toMatchObject({ attempt: 2, reason: 'interrupted', result: 'failure', atMs: WALL })
      expect(record).not.toHaveProperty('requestHeaders')
    }
  })

  it('sets it aside the third time in a row: an end, no attempt', () => {
    const { next, record } = settleInterrupted(
      aDelivery({ attempts: 2, interruptions: 2 }),
      'lost',
      contextOf(),
    )
    expect(next).toMatchObject({ state: 'quarantined', attempts: 2, interruptions: 3 })
    expect(record).toMatchObject({ reason: 'quarantined', result: 'failure', method: 'post' })
    expect(record).not.toHaveProperty('attempt')
  })

  it.each([
    ['aged', 'expired'],
    ['withdrawn', 'cancelled'],
  ] as const)('%s: it is %s, with a record that is no attempt', (why, state) => {
    const {
      expect: fence,
      next,
      record,
    } = settleUnsent(aDelivery({ state: 'waiting', fence: 7 }), why, contextOf())
    expect(fence).toEqual({ state: 'waiting', fence: 7 })
    expect(next).toMatchObject({ state, attempts: 0, tries: 0 })
    expect(record).toMatchObject({ reason: state, result: 'failure', method: 'post', retriesLeft: 2 })
    expect(record).not.toHaveProperty('attempt')
    expect(record).not.toHaveProperty('durationMs')
  })
})
