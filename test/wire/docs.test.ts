import { describe, expect, it } from 'vitest'
import { attemptDoc } from '../../src/wire/attempt-doc.js'
import { loginDoc, readUserAuth } from '../../src/wire/auth-doc.js'
import { readReplay } from '../../src/wire/command-docs.js'
import { deliveryDoc } from '../../src/wire/delivery-doc.js'
import { readWebhook } from '../../src/wire/names.js'
import { webhookDoc, webhookSummary } from '../../src/wire/webhook-doc.js'
import { account, attempt, delivery, NOW, webhook } from '../http/records.js'

/** What a client reads: absent fields are gone. */
const sent = (doc: unknown) => JSON.parse(JSON.stringify(doc))
const keys = (doc: unknown) => Object.keys(sent(doc)).join(' ')
const greg = (ms: number) => Math.floor(ms / 1000) + 62_167_219_200

const full = webhook({
  customData: { k: 'v' },
  customRequestHeaders: { 'x-key': 'v' },
  group: 'g',
  maxAgeSeconds: 60,
  extra: { ui: { color: 'red' }, id: 'evil', _read_only: 'evil', httpVerb: 'get' },
  disableReason: 'too many failed attempts',
  enabledMs: NOW,
  disabledMs: NOW + 1000,
})

describe('webhookDoc', () => {
  it('shows every field in the order of the documentation', () => {
    expect(keys(webhookDoc(webhook()))).toBe(
      'id name uri hook http_verb retries format enabled include_subaccounts include_internal_legs ordering _read_only',
    )
    expect(keys(webhookDoc(full))).toBe(
      'id name uri hook http_verb retries format enabled include_subaccounts include_internal_legs custom_data ' +
        'custom_request_headers group max_age_seconds ordering ui _read_only httpVerb disable_reason',
    )
  })

  it('lets no key of the client cover what the server says', () => {
    const doc = sent(webhookDoc(full))
    expect(doc._read_only).toEqual({
      created: greg(NOW - 5000),
      modified: greg(NOW - 1000),
      enabled_at: greg(NOW),
      disabled_at: greg(NOW + 1000),
    })
    expect(doc.disable_reason).toBe('too many failed attempts')
  })

  it('comes back as what it was read from', () => {
    const { settings, extra } = readWebhook(sent(webhookDoc({ ...full, extra: { ui: { color: 'red' } } })))
    expect(extra).toEqual({ ui: { color: 'red' } })
    expect(full).toMatchObject(settings)
    expect(Object.keys(settings)).toHaveLength(14)
  })

  it('has a summary for lists', () => {
    expect(keys(webhookSummary(full))).toBe('id hook name uri group enabled disable_reason')
    expect(keys(webhookSummary(webhook()))).toBe('id hook name uri enabled')
  })
})

describe('attemptDoc', () => {
  it('shows a whole attempt as user interfaces read it', () => {
    const doc = attemptDoc(
      attempt(1, {
        method: 'POST',
        reason: 'bad response code',
        clientError: 'timeout',
        status: 503,
        responseHeaders: ['Set-Cookie', 'a', 'X-A', '1', 'Set-Cookie', 'b', '__proto__', 'p'],
        responseBody: 'no',
        requestHeaders: ['X-Hook-ID', 'webhook-1'],
        requestBody: '{}',
        durationMs: 12,
      }),
    )
    expect(keys(doc)).toBe(
      'id hook_id hook_event event_id delivery_id call_id uri method attempt retries_left retries result reason ' +
        'client_error resp_status_code resp_headers resp_body req_headers req_body duration_ms timestamp sent_at',
    )
    expect(doc).toMatchObject({
      method: 'post',
      resp_status_code: '503',
      retries_left: 2,
      retries: 3,
      req_headers: { 'X-Hook-ID': 'webhook-1' },
      timestamp: greg(NOW),
      sent_at: '2030-01-15T12:00:00.251Z',
    })
    expect(JSON.stringify(doc.resp_headers)).toBe('{"Set-Cookie":"a, b","X-A":"1","__proto__":"p"}')
  })

  it('leaves out what an end without a request has not', () => {
    const { attempt: _, callId: __, ...end } = attempt(1, { reason: 'expired' })
    expect(keys(attemptDoc(end))).toBe(
      'id hook_id hook_event event_id delivery_id uri method retries_left retries result reason timestamp sent_at',
    )
  })
})

describe('deliveryDoc', () => {
  it('says when the next attempt is, while there is one to come', () => {
    expect(keys(deliveryDoc(delivery(1), 'why'))).toBe('id event_id hook_id call_id state attempts explain')
    expect(deliveryDoc(delivery(1, { dueMs: NOW }), 'why').next_attempt_at).toBe('2030-01-15T12:00:00.250Z')
    expect(
      deliveryDoc(delivery(1, { dueMs: NOW, state: 'in_flight' }), 'why').next_attempt_at,
    ).toBeUndefined()
  })
})

describe('logins and commands', () => {
  it('shows the account in the order of the documentation', () => {
    expect(keys(loginDoc(account, 'user-1'))).toBe(
      'account_id account_name owner_id language is_reseller reseller_id apps',
    )
    const { resellerId: _, ...plain } = { ...account, name: '' }
    expect(sent(loginDoc(plain, undefined))).toEqual({
      account_id: account.id,
      language: 'en-US',
      is_reseller: false,
      apps: [],
    })
  })

  it('prefers the newer name of the realm', () => {
    expect(readUserAuth({ credentials: 'c', account_realm: 'new', realm: 'old', ui_metadata: {} })).toEqual({
      credentials: 'c',
      realm: 'new',
    })
    expect(readUserAuth({ credentials: 'c', realm: 'old', method: 'sha', account_name: 'n' })).toEqual({
      credentials: 'c',
      realm: 'old',
      method: 'sha',
      accountName: 'n',
    })
  })

  it('reads the seconds of a replay as whole ones', () => {
    expect(readReplay({ delivery_id: 'd', created_from: 5 })).toEqual({ deliveryId: 'd' })
    expect(
      readReplay({ created_from: 62_167_219_201, created_to: 62_167_219_201, result: 'failure' }),
    ).toEqual({
      createdFromMs: 1000,
      createdToMs: 1999,
      result: 'failure',
    })
  })
})
