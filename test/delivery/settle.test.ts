import { describe, expect, it } from 'vitest'
import type { AttemptResult } from '../../src/delivery/attempt-record.js'
import type { Delivery } from '../../src/delivery/lifecycle.js'
import { exponential } from '../../src/delivery/policy.js'
import type { SkipReason } from '../../src/delivery/retry.js'
import {
  type AttemptContext,
  type SettleContext,
  type SettledDelivery,
  settleAttempt,
  settleInterrupted,
  settleSkipped,
} from '../../src/delivery/settle.js'
import type { Observation } from '../../src/ports.js'
import { HEALTH_PRESETS, type Health } from '../../src/webhooks/health.js'
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
  rules: { policy: exponential({ jitter: 0 }), functions: {}, retries: webhook.settings.retries },
  healthRules: HEALTH_PRESETS.standard,
  isOutage: false,
  now: NOW,
  wallMs: WALL,
  random: 0,
})
/** The context of an attempt, and what its receiver asked for. */
function attemptContext(changes: Partial<SettleContext & AttemptContext> = {}, webhook?: Webhook) {
  const asked: (number | undefined)[] = []
  const context = {
    ...contextOf(webhook),
    isProbe: false,
    maxAgeMs: 86_400_000,
    isInformative: true,
    throttle(askedMs: number | undefined) {
      asked.push(askedMs)
      return 7000
    },
    ...changes,
  }
  return { context, asked }
}
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
type Failure = Extract<Observation, { kind: 'no_response' }>['failure']
const noAnswer = (failure: Failure, changes: object = {}): Observation => ({
  kind: 'no_response',
  failure,
  detail: '',
  ...changes,
})
const refused = noAnswer('connection', { cause: 'refused', isSent: false })
const ownFault: Observation = { kind: 'own_fault', detail: '' }
const settleWith = (
  delivery: SettledDelivery,
  result: AttemptResult,
  health: Health | undefined,
  { context }: ReturnType<typeof attemptContext>,
) => settleAttempt(delivery, result, health, context, context)
const settle = (
  observation: Observation,
  health?: Health,
  delivery = queued(),
  changes: Partial<SettleContext & AttemptContext> = {},
) => settleWith(delivery, resultOf(observation), health, attemptContext(changes)).settlement
const healthAfter = (...args: Parameters<typeof settle>) => settle(...args).endpoint?.health

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
    expect(settle(ownFault).record).toMatchObject({ attempt: 1, retriesLeft: 2 })
  })

  it('stores at most 64 response headers', () => {
    const many = Array.from({ length: 400 }, (_, index) => `h${index}`)
    expect(settle(responseWith(500, many)).record?.responseHeaders).toHaveLength(128)
  })

  it('does not change a healthy endpoint, nor any endpoint for an internal fault', () => {
    expect(settle(responseWith(200))).not.toHaveProperty('endpoint')
    expect(settle(ownFault, { failuresInRow: 3 })).not.toHaveProperty('endpoint')
  })

  it('counts failures in a row, and resets them with a success', () => {
    expect(settle(responseWith(500)).endpoint).toEqual({
      epoch: 1,
      health: { failuresInRow: 1, rejectedInRow: 1, failingSinceMs: NOW, countsSinceMs: NOW },
    })
    expect(healthAfter(noAnswer('timeout'), { failuresInRow: 4, failingSinceMs: 7 })).toMatchObject({
      failuresInRow: 5,
      unavailableInRow: 1,
      failingSinceMs: 7,
    })
    expect(settle(responseWith(200), { failuresInRow: 4 }).endpoint).toEqual({ epoch: 1, health: null })
  })

  it('counts first attempts that were rejected, not retries', () => {
    expect(healthAfter(responseWith(500), undefined, queued({ attempts: 1 }))).not.toHaveProperty(
      'rejectedInRow',
    )
  })

  it('does not count rejections of a kind of event that say nothing about the receiver as a whole', () => {
    const nine: Health = { failuresInRow: 9, rejectedInRow: 9, failingSinceMs: 5, countsSinceMs: 5 }
    const health = healthAfter(responseWith(500), nine, queued(), { isInformative: false })
    expect(health).toMatchObject({ failuresInRow: 10, rejectedInRow: 9 })
    expect(health).not.toHaveProperty('pause')
  })

  it('disables a webhook whose receiver is gone', () => {
    const { next, endpoint } = settle(responseWith(410))
    expect(next).toMatchObject({ state: 'cancelled', reason: 'gone' })
    expect(endpoint).toMatchObject({ disable: { reason: 'gone', atMs: WALL } })
  })
})

/** Paused since a second, and a probe is due. */
const PAUSED: Health = {
  failuresInRow: 3,
  unavailableInRow: 3,
  failingSinceMs: NOW - 9000,
  countsSinceMs: NOW - 9000,
  pause: { kind: 'unavailable', probes: 0, sinceMs: NOW },
  pausedUntilMs: NOW - 500,
}
/** Fails since a while. */
const FAILING: Health = { failuresInRow: 1, failingSinceMs: NOW - 9000, countsSinceMs: NOW - 9000 }
/** Failed before the receiver took another one. */
const OVERTAKEN = { attempts: 1, failedMs: NOW - 10_000 }

describe('an attempt that says nothing about its receiver', () => {
  it.each<[string, Observation, Partial<Delivery>]>([
    ['an internal fault', ownFault, {}],
    ['a request that was cancelled', { kind: 'cancelled' }, {}],
    ['a blocked address', noAnswer('blocked_address'), {}],
    ['the rejection of a delivery that others have overtaken', responseWith(500), OVERTAKEN],
    ['a timeout of a delivery that others have overtaken', noAnswer('timeout'), OVERTAKEN],
    [
      '503 with Retry-After for one that others have overtaken',
      responseWith(503, ['retry-after', '9']),
      {
        ...OVERTAKEN,
        attempts: 2,
      },
    ],
  ])('%s does not change the health', (_, observation, changes) => {
    for (const health of [undefined, FAILING])
      expect(settle(observation, health, queued(changes))).not.toHaveProperty('endpoint')
  })

  it.each([
    ['an internal fault', ownFault],
    ['a blocked address', noAnswer('blocked_address')],
  ])('as a probe, %s counts nowhere, and the next probe is due as after a failed one', (_, observation) => {
    const dueMs = NOW - 249.6 + 5000
    const { next, endpoint } = settle(observation, PAUSED, undefined, { isProbe: true })
    expect(endpoint?.health).toEqual({ ...PAUSED, pausedUntilMs: dueMs })
    expect(next).toMatchObject({ state: 'waiting', tries: 0 })
    expect(settle(observation, PAUSED)).not.toHaveProperty('endpoint')
  })

  it('counts as a probe, even of a delivery that others have overtaken', () => {
    const { next, endpoint } = settle(responseWith(500), PAUSED, queued(OVERTAKEN), { isProbe: true })
    expect(endpoint?.health).not.toHaveProperty('pause')
    expect(next).toMatchObject({ state: 'waiting', tries: 0 })
  })
})

describe('a receiver that asks for fewer requests', () => {
  const askedAfter = (
    observation: Observation,
    changes: Partial<Delivery> = {},
    health?: Health,
    rules = {},
  ) => {
    const given = attemptContext(rules)
    const { settlement } = settleWith(queued(changes), resultOf(observation), health, given)
    return { asked: given.asked, health: settlement.endpoint?.health, next: settlement.next }
  }

  it('waits as long as its pace says, whether the header is there or not', () => {
    expect(askedAfter(responseWith(429))).toMatchObject({
      asked: [undefined],
      health: { failuresInRow: 1, pausedUntilMs: NOW + 7000 },
      next: { state: 'waiting', tries: 0 },
    })
    expect(askedAfter(responseWith(429, ['retry-after', '90'])).asked).toEqual([90_000])
    expect(askedAfter(responseWith(503, ['retry-after', '90'])).asked).toEqual([90_000])
  })

  it.each([502, 504])('waits as %i asks, which is no wish for fewer requests', (status) => {
    expect(askedAfter(responseWith(status, ['retry-after', '90']))).toMatchObject({
      asked: [],
      health: { pausedUntilMs: NOW + 90_000 },
    })
    for (const plain of [status, 503]) {
      const { asked, health } = askedAfter(responseWith(plain))
      expect(asked).toEqual([])
      expect(health).not.toHaveProperty('pausedUntilMs')
    }
  })

  it('is not asked by a rejection, a success or a missing answer', () => {
    for (const observation of [
      responseWith(500, ['retry-after', '9']),
      responseWith(200, ['retry-after', '9']),
      noAnswer('timeout'),
    ])
      expect(askedAfter(observation).asked).toEqual([])
  })

  it('waits alone from its third attempt on, if the receiver has taken others since', () => {
    const { failedMs } = OVERTAKEN
    const asked = (attempts: number, health?: Health) =>
      askedAfter(responseWith(429), { attempts, failedMs }, health).asked.length
    expect([1, 2, 3, 50].map((attempts) => asked(attempts))).toEqual([1, 0, 0, 0])
    const same: Health = { ...FAILING, failingSinceMs: failedMs }
    expect([1, 2, 3, 50].map((attempts) => asked(attempts, same))).toEqual([1, 1, 1, 1])
  })

  it('is not listened to without pauses', () => {
    const kazoo = { healthRules: HEALTH_PRESETS.kazoo }
    for (const status of [429, 502, 503, 504]) {
      const { asked, health } = askedAfter(responseWith(status, ['retry-after', '9']), {}, undefined, kazoo)
      expect(asked).toEqual([])
      expect(health).not.toHaveProperty('pausedUntilMs')
    }
  })
})

describe('a pause', () => {
  it('opens with the third failure, which costs no try and holds its delivery', () => {
    const two: Health = { ...FAILING, failuresInRow: 2, unavailableInRow: 2 }
    expect(settle(noAnswer('timeout'), two)).toMatchObject({
      next: { state: 'waiting', dueMs: NOW, tries: 0, attempts: 1 },
      endpoint: { health: { pause: { kind: 'unavailable' }, pausedUntilMs: NOW + 5000 } },
    })
    const nine: Health = { ...FAILING, failuresInRow: 9, rejectedInRow: 9 }
    expect(settle(responseWith(500), nine)).toMatchObject({
      next: { state: 'waiting', dueMs: NOW, tries: 0, attempts: 1 },
      endpoint: { health: { pause: { kind: 'rejected' } } },
    })
  })

  it('opens when the tries of a delivery are used up: not for one that others have overtaken', () => {
    const delivery = { attempts: 2, failedMs: NOW - 9000 }
    const isHeld = (observation: Observation, changes = {}, health = FAILING) =>
      healthAfter(observation, health, queued({ ...delivery, ...changes }))?.pause !== undefined
    expect(isHeld(noAnswer('timeout'))).toBe(true)
    expect(isHeld(refused)).toBe(true)
    expect(isHeld(responseWith(503))).toBe(true)
    expect(isHeld(noAnswer('timeout'), { attempts: 1 })).toBe(false)
    expect(isHeld(responseWith(429))).toBe(false)
    expect(isHeld(responseWith(500))).toBe(false)
    expect(isHeld(noAnswer('timeout'), { failedMs: NOW - 9001 })).toBe(false)
  })

  it('makes requests that were under way free', () => {
    const { next } = settle(responseWith(500), PAUSED, queued({ tries: 2, attempts: 2 }))
    expect(next).toMatchObject({ state: 'waiting', tries: 2, attempts: 3 })
  })

  it('is probed 10 s after the start of the first probe', () => {
    const probe = settle(noAnswer('timeout'), PAUSED, queued(), { isProbe: true })
    expect(probe.endpoint?.health?.pausedUntilMs).toBeCloseTo(NOW - 250 + 10_000, -1)
    expect(probe.record).toMatchObject({ attempt: 1 })
    const brief = healthAfter(noAnswer('timeout'), PAUSED, queued(), { isProbe: true, maxAgeMs: 1000 })
    expect(brief?.pausedUntilMs).toBeCloseTo(NOW - 250 + 5000, -1)
  })
})

describe('a probe that made no connection', () => {
  const probe = (observation: Observation, changes: Partial<SettleContext & AttemptContext> = {}) =>
    settle(observation, PAUSED, queued({ attempts: 2, tries: 1 }), { isProbe: true, ...changes })

  it.each<[Observation, string]>([
    [refused, 'refused'],
    [noAnswer('dns', { cause: 'name_unknown' }), 'name_unknown'],
    [noAnswer('tls', { cause: 'certificate_expired' }), 'certificate_expired'],
    [noAnswer('timeout', { cause: 'timeout_connect', isSent: false }), 'timeout_connect'],
    [noAnswer('connection', { isSent: false }), 'connection_failed'],
  ])('leaves no record and is no attempt: %j', (observation, checkCause) => {
    const settled = probe(observation)
    expect(settled).not.toHaveProperty('record')
    expect(settled).toMatchObject({
      expect: { attempts: 2 },
      next: { state: 'waiting', attempts: 2, tries: 1, dueMs: NOW },
      endpoint: { health: { failuresInRow: 3, checkedMs: NOW, checkCause, pause: { probes: 1 } } },
    })
  })

  it('is none of which the request was sent, or whose address is blocked', () => {
    for (const observation of [noAnswer('timeout'), responseWith(503), noAnswer('blocked_address')]) {
      const settled = probe(observation)
      expect(settled).toMatchObject({ next: { attempts: 3 }, record: { attempt: 3 } })
      expect(settled.endpoint?.health ?? {}).not.toHaveProperty('checkedMs')
    }
  })

  it('is none while the endpoint is not paused', () => {
    expect(probe(refused, { isProbe: false })).toMatchObject({
      next: { attempts: 3 },
      record: { attempt: 3 },
    })
  })

  it('has a due time if its pause has ended meanwhile', () => {
    const settled = settle(refused, undefined, queued(), { isProbe: true })
    expect(settled.next).toMatchObject({ state: 'waiting', attempts: 0, dueMs: NOW + 5000 })
  })
})

describe('an answer after the time limit', () => {
  const late = (observation: Observation) =>
    settleWith(
      queued(),
      { ...resultOf(observation), durationMs: 12_000, isLate: true },
      undefined,
      attemptContext(),
    ).settlement

  it('counts, and is remembered', () => {
    expect(late(responseWith(200))).toMatchObject({
      next: { state: 'delivered' },
      record: { result: 'success', late: true, durationMs: 12_000 },
      endpoint: { health: { failuresInRow: 0, lateMs: 12_000 } },
    })
    expect(late(responseWith(500))).toMatchObject({
      next: { state: 'waiting', tries: 1 },
      endpoint: { health: { failuresInRow: 1, lateMs: 12_000 } },
    })
  })
})

describe('what was given up', () => {
  const FIVE_DAYS_MS = 5 * 86_400_000
  const givenUp = (exhausted: number): Health => ({
    failuresInRow: 90,
    failingSinceMs: NOW - FIVE_DAYS_MS,
    countsSinceMs: NOW - FIVE_DAYS_MS,
    exhausted,
    isReported: true,
  })
  const last = queued({ attempts: 2, tries: 2, failedMs: NOW - 5 })
  const disabled = { disable: { reason: 'too many failed attempts', atMs: WALL } }

  it('is counted, and the twentieth disables the webhook after five days', () => {
    expect(settle(responseWith(500), givenUp(19), last)).toMatchObject({
      next: { state: 'exhausted' },
      endpoint: { ...disabled, health: { exhausted: 20 } },
    })
    const settled = settle(responseWith(500), givenUp(18), last)
    expect(settled).toMatchObject({ next: { state: 'exhausted' }, endpoint: { health: { exhausted: 19 } } })
    expect(settled.endpoint).not.toHaveProperty('disable')
    expect(settle(responseWith(500), givenUp(19), queued({ failedMs: NOW - 5 })).endpoint).not.toHaveProperty(
      'disable',
    )
  })

  it('disables no webhook with a success, nor while this node is cut off', () => {
    expect(settle(responseWith(200), givenUp(500)).endpoint).not.toHaveProperty('disable')
    const cutOff = settle(noAnswer('timeout'), givenUp(500), last, { isOutage: true })
    expect(cutOff.endpoint).not.toHaveProperty('disable')
    expect(settle(noAnswer('timeout'), givenUp(500), last).endpoint).toMatchObject(disabled)
    // An answer is one, whatever this node believes.
    expect(settle(responseWith(503), givenUp(500), last, { isOutage: true }).endpoint).toMatchObject(disabled)
  })

  it('is what became too old, not what was displaced or cancelled, and none of it while this node is cut off', () => {
    const skipped = (why: SkipReason, health: Health | undefined, isOutage = false) =>
      settleSkipped(queued({ state: 'waiting' }), why, health, { ...contextOf(), isOutage })
    expect(skipped('expired', givenUp(3)).endpoint).toEqual({ epoch: 1, health: givenUp(4) })
    expect(skipped('expired', givenUp(3), true)).not.toHaveProperty('endpoint')
    expect(skipped('displaced', givenUp(3))).not.toHaveProperty('endpoint')
    expect(skipped('cancelled', givenUp(3))).not.toHaveProperty('endpoint')
    expect(skipped('expired', undefined)).not.toHaveProperty('endpoint')
  })

  it('is reported to the owner after a day of failures', () => {
    const day: Health = { ...FAILING, failingSinceMs: NOW - 86_400_000 }
    const reports = (health: Health) =>
      settleWith(queued(), resultOf(responseWith(500)), health, attemptContext()).reports
    expect(reports(day)).toBe(true)
    expect(reports({ ...day, failingSinceMs: NOW - 86_399_999 })).toBeUndefined()
    expect(reports({ ...day, isReported: true })).toBeUndefined()
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
    } = settleSkipped(queued({ state: 'waiting', attempts: 2 }), why, undefined, contextOf())
    expect(fence).toEqual({ attempts: 2 })
    expect(next).toMatchObject({ state, attempts: 2, tries: 0 })
    expect(record).toMatchObject({ reason: state, result: 'failure', method: 'post', retriesLeft: 2 })
    expect(record).not.toHaveProperty('attempt')
    expect(record).not.toHaveProperty('durationMs')
  })
})
