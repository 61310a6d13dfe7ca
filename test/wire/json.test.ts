import { describe, expect, it } from 'vitest'
import { deliveryKind } from '../../src/delivery/delivery-queries.js'
import { attemptJson } from '../../src/wire/attempt-json.js'
import { loginJson, parseCredentialsLogin } from '../../src/wire/auth-json.js'
import { deliveryJson } from '../../src/wire/delivery-json.js'
import { parseWebhookFields } from '../../src/wire/field-names.js'
import { parseReplay, replayJobJson } from '../../src/wire/replay-json.js'
import { webhookJson, webhookSummaryJson } from '../../src/wire/webhook-json.js'
import { account, attempt, delivery, NOW, replayJob, webhook } from '../http/records.js'

/** The JSON that a client reads, without absent fields. */
const roundTrip = (value: unknown) => JSON.parse(JSON.stringify(value))
const keys = (value: unknown) => Object.keys(roundTrip(value)).join(' ')
const gregorian = (ms: number) => Math.floor(ms / 1000) + 62_167_219_200

const full = webhook({
  customData: { k: 'v' },
  customRequestHeaders: { 'x-key': 'v' },
  group: 'g',
  maxAgeSeconds: 60,
  rateLimit: 0.5,
  effectiveMaxAgeSeconds: 60,
  extra: { ui: { color: 'red' }, id: 'evil', _read_only: 'evil', httpVerb: 'get' },
  disableReason: 'too many failed attempts',
  enabledMs: NOW,
  disabledMs: NOW + 1000,
})

describe('webhookJson', () => {
  it('has every field in the order of the documentation', () => {
    expect(keys(webhookJson(webhook()))).toBe(
      'id name uri hook http_verb retries format enabled include_subaccounts include_internal_legs ordering _read_only health',
    )
    expect(keys(webhookJson(full))).toBe(
      'id name uri hook http_verb retries format enabled include_subaccounts include_internal_legs custom_data ' +
        'custom_request_headers group max_age_seconds rate_limit ordering ui _read_only httpVerb disable_reason health',
    )
  })

  it("does not let the client's keys replace fields of the service", () => {
    const json = roundTrip(webhookJson(full))
    expect(json._read_only).toEqual({
      created: gregorian(NOW - 5000),
      modified: gregorian(NOW - 1000),
      enabled_at: gregorian(NOW),
      disabled_at: gregorian(NOW + 1000),
      max_age_seconds: 60,
    })
    expect(json.disable_reason).toBe('too many failed attempts')
  })

  it('can be parsed back to the same settings', () => {
    const { settings, extra } = parseWebhookFields(
      roundTrip(webhookJson({ ...full, extra: { ui: { color: 'red' } } })),
    )
    expect(extra).toEqual({ ui: { color: 'red' } })
    expect(full).toMatchObject(settings)
    expect(Object.keys(settings)).toHaveLength(15)
  })

  it('has a summary for lists', () => {
    expect(keys(webhookSummaryJson(full))).toBe('id hook name uri group enabled disable_reason health')
    expect(keys(webhookSummaryJson(webhook()))).toBe('id hook name uri enabled health')
  })
})

describe('attemptJson', () => {
  it.each([
    ['bad status', 'bad response code'],
    ['no answer', 'kazoo http client error'],
    ['own fault', 'kazoo http client error'],
    ['interrupted', 'interrupted'],
    ['expired', 'expired'],
    ['bad response code', 'bad response code'],
  ])("has KAZOO's words for the reason %j", (reason, word) => {
    expect(attemptJson(attempt(1, { reason }))).toMatchObject({ reason: word })
  })

  it('has every field in the format that user interfaces read', () => {
    const json = attemptJson(
      attempt(1, {
        method: 'POST',
        reason: 'bad status',
        clientError: 'timeout',
        cause: 'timeout_answer',
        detail: 'The server did not answer in time.',
        outOfOrder: true,
        late: true,
        status: 503,
        responseHeaders: ['Set-Cookie', 'a', 'X-A', '1', 'Set-Cookie', 'b', '__proto__', 'p'],
        responseBody: 'no',
        requestHeaders: ['X-Hook-ID', 'webhook-1'],
        requestBody: '{}',
        durationMs: 12,
      }),
    )
    expect(keys(json)).toBe(
      'id hook_id hook_event event_id delivery_id call_id uri method attempt retries_left retries result reason ' +
        'client_error cause detail out_of_order late resp_status_code resp_headers resp_body req_headers req_body ' +
        'duration_ms timestamp sent_at',
    )
    expect(json).toMatchObject({
      method: 'post',
      resp_status_code: '503',
      reason: 'bad response code',
      cause: 'timeout_answer',
      detail: 'The server did not answer in time.',
      out_of_order: true,
      late: true,
      retries_left: 2,
      retries: 3,
      req_headers: { 'X-Hook-ID': 'webhook-1' },
      timestamp: gregorian(NOW),
      sent_at: '2030-01-15T12:00:00.251Z',
    })
    expect(JSON.stringify(json.resp_headers)).toBe('{"Set-Cookie":"a, b","X-A":"1","__proto__":"p"}')
  })

  it('omits fields of the request if the delivery ended without one', () => {
    const { attempt: _, callId: __, ...end } = attempt(1, { reason: 'expired' })
    expect(keys(attemptJson(end))).toBe(
      'id hook_id hook_event event_id delivery_id uri method retries_left retries result reason timestamp sent_at',
    )
  })
})

describe('deliveryJson', () => {
  it('has the time of the next attempt only while the delivery waits', () => {
    expect(keys(deliveryJson(delivery(1), { code: 'due' }))).toBe(
      'id event_id hook_id hook_event call_id kind state attempts accepted_at explain explanation',
    )
    expect(deliveryJson(delivery(1, { dueMs: NOW })).next_attempt_at).toBe('2030-01-15T12:00:00.250Z')
    expect(deliveryJson(delivery(1, { dueMs: NOW, state: 'in_flight' })).next_attempt_at).toBeUndefined()
  })
})

describe('deliveryKind', () => {
  it.each([
    ['first', { attempts: 0 }],
    ['first', { attempts: 1, state: 'delivered' }],
    ['retry', { attempts: 1 }],
    ['retry', { attempts: 2, state: 'exhausted' }],
    ['first', { attempts: 0, state: 'expired' }],
    ['replay', { attempts: 1, replayOf: 'old' }],
    ['test', { attempts: 1, lane: 'test/d' }],
  ] as const)('is %s for %o', (kind, changes) => {
    expect(deliveryKind(delivery(1, changes))).toBe(kind)
  })
})

describe('JSON of logins and commands', () => {
  it('has the account fields in the order of the documentation', () => {
    expect(keys(loginJson(account, 'user-1', []))).toBe(
      'account_id account_name owner_id language is_reseller reseller_id apps',
    )
    const { resellerId: _, ...plain } = { ...account, name: '' }
    expect(roundTrip(loginJson(plain, undefined, []))).toEqual({
      account_id: account.id,
      language: 'en-US',
      is_reseller: false,
      apps: [],
    })
  })

  it('prefers account_realm to realm', () => {
    expect(
      parseCredentialsLogin({ credentials: 'c', account_realm: 'new', realm: 'old', ui_metadata: {} }),
    ).toEqual({
      credentials: 'c',
      realm: 'new',
    })
    expect(
      parseCredentialsLogin({ credentials: 'c', realm: 'old', method: 'sha', account_name: 'n' }),
    ).toEqual({
      credentials: 'c',
      realm: 'old',
      method: 'sha',
      accountName: 'n',
    })
  })
})

describe('the body of a replay', () => {
  it('names one delivery, or includes the whole last second of a range', () => {
    expect(parseReplay({ delivery_id: 'd', ui_metadata: {} }, true)).toEqual({ deliveryId: 'd' })
    expect(
      parseReplay({ created_from: 62_167_219_201, created_to: 62_167_219_201, result: 'failure' }, false),
    ).toEqual({
      selection: { createdFromMs: 1000, createdToMs: 1999, result: 'failure' },
      isDryRun: false,
    })
    expect(parseReplay({ dry_run: true }, true)).toEqual({ selection: {}, isDryRun: true })
  })

  it('shows its range in the JSON of its job so that it can be sent again', () => {
    const { created_from, created_to } = replayJobJson(
      replayJob(1, { request: { createdFromMs: 1000, createdToMs: 1999 } }),
    )
    expect(parseReplay({ created_from, created_to }, false)).toMatchObject({
      selection: { createdFromMs: 1000, createdToMs: 1999 },
    })
  })
})

describe('the JSON of a delivery', () => {
  it('names its newest replay, and says whether one has recovered it', () => {
    const replays = { lastId: 'd3', lastAcceptedMs: NOW, hasRecovered: false }
    const failed = roundTrip(deliveryJson(delivery(1, { replays })))
    expect(failed).toMatchObject({ replayed_by: 'd3' })
    expect(failed).not.toHaveProperty('recovered')
    expect(deliveryJson(delivery(1, { replays: { ...replays, hasRecovered: true } }))).toMatchObject({
      replayed_by: 'd3',
      recovered: true,
    })
    expect(roundTrip(deliveryJson(delivery(1)))).not.toHaveProperty('replayed_by')
  })
})
