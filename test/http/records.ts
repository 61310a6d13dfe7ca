import type { Account } from '../../src/accounts/account.js'
import type { StoredAttempt } from '../../src/delivery/attempt-record.js'
import type { StoredDelivery } from '../../src/delivery/delivery-queries.js'
import { type ErrorCode, HookswitchError } from '../../src/errors.js'
import type { RequestRecord, ResponseRecord } from '../../src/http/message.js'
import type { WebhookView } from '../../src/webhooks/view.js'

/** The account of `TOKEN`, one below it, and one that is neither. */
export const OWN = 'own-account'
export const CHILD = 'child-account'
export const FOREIGN = 'foreign-account'
export const TOKEN = 'valid-token'
export const API_KEY = 'a'.repeat(64)
export const NOW = Date.UTC(2030, 0, 15, 12, 0, 0, 250)
export const NODE = 'node-1'
export const VERSION = '9.9.9'
export const REQUEST_ID = '0123456789abcdef0123456789abcdef'
export const HOOK = 'webhook-1'

export const account: Account = {
  id: OWN,
  name: 'Own',
  realm: 'own.example.com',
  enabled: true,
  language: 'en-US',
  isReseller: false,
  resellerId: 'reseller-1',
  createdMs: NOW,
  modifiedMs: NOW,
}

export const thrown = (code: ErrorCode, details = {}) => new HookswitchError(code, `thrown: ${code}`, details)

export function webhook(changes: Partial<WebhookView> = {}): WebhookView {
  return {
    id: HOOK,
    accountId: OWN,
    name: 'Hook',
    uri: 'https://receiver.example.com/',
    hook: 'channel_create',
    httpVerb: 'post',
    retries: 2,
    format: 'json',
    enabled: true,
    includeSubaccounts: false,
    includeInternalLegs: true,
    ordering: 'call',
    createdMs: NOW - 5000,
    modifiedMs: NOW - 1000,
    revision: 3,
    ...changes,
  }
}

export function attempt(position: number, changes: Partial<StoredAttempt> = {}): StoredAttempt {
  return {
    id: `attempt-${position}`,
    accountId: OWN,
    webhookId: HOOK,
    hook: 'channel_create',
    eventId: 'event-1',
    deliveryId: 'delivery-1',
    callId: 'call-1',
    uri: 'https://receiver.example.com/',
    method: 'post',
    attempt: 1,
    retriesLeft: 2,
    result: position % 2 === 0 ? 'success' : 'failure',
    atMs: NOW + position,
    position,
    ...changes,
  }
}

export function delivery(position: number, changes: Partial<StoredDelivery> = {}): StoredDelivery {
  return {
    id: `delivery-${position}`,
    accountId: OWN,
    webhookId: HOOK,
    eventId: 'event-1',
    eventAccountId: OWN,
    callId: 'call-1',
    hook: 'channel_create',
    eventTimestampMs: NOW,
    variant: 0,
    encoding: 'json',
    httpVerb: 'post',
    lane: 'lane',
    epoch: 1,
    state: 'waiting',
    attempts: 1,
    tries: 1,
    interruptions: 0,
    fence: 1,
    acceptedMs: NOW,
    position,
    ahead: 0,
    ...changes,
  }
}

const encoder = new TextEncoder()

export interface Sent {
  readonly headers?: RequestRecord['headers']
  /** An object is sent as JSON, text as it is. */
  readonly body?: unknown
  /** Default `TOKEN`; null: none. */
  readonly token?: string | null
  readonly more?: Partial<RequestRecord>
}

/** A request as an adapter hands it over: `request('GET', '/v1/webhooks')`. */
export function request(method: string, url: string, sent: Sent = {}): RequestRecord {
  const { body, token = TOKEN } = sent
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  return {
    method,
    url,
    headers: {
      ...(token !== null && { 'x-auth-token': token }),
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...sent.headers,
    },
    ...(text !== undefined && { body: encoder.encode(text) }),
    ...sent.more,
  }
}

/** The body of an answer. */
export const jsonOf = (response: ResponseRecord) => JSON.parse(response.body) as Record<string, unknown>

/** Nothing is logged. */
export const silent = { error() {}, warn() {} }
