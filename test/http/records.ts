/** Sample records and requests for tests of the HTTP API. */
import type { Account } from '../../src/accounts/account.js'
import type { StoredAttempt } from '../../src/delivery/attempt-record.js'
import type { StoredDelivery } from '../../src/delivery/delivery-queries.js'
import type { ReplayJob } from '../../src/delivery/replay-job.js'
import type { RequestRecord, ResponseRecord } from '../../src/http/message.js'
import type { WebhookView } from '../../src/webhooks/view.js'

/** The account of the token, a descendant of it, and an unrelated account. */
export const OWN_ACCOUNT = 'own-account'
export const CHILD_ACCOUNT = 'child-account'
export const FOREIGN_ACCOUNT = 'foreign-account'
export const API_KEY = 'a'.repeat(64)
export const NOW = Date.UTC(2030, 0, 15, 12, 0, 0, 250)
const WEBHOOK_ID = 'webhook-1'

export const account: Account = {
  id: OWN_ACCOUNT,
  name: 'Own',
  realm: 'own.example.com',
  enabled: true,
  language: 'en-US',
  isReseller: false,
  resellerId: 'reseller-1',
  createdMs: NOW,
  modifiedMs: NOW,
}

/** A job over the account, its id of this digit. */
export const replayJob = (digit: number, changes: Partial<ReplayJob> = {}): ReplayJob => ({
  id: String(digit).repeat(32),
  request: { accountId: OWN_ACCOUNT },
  state: 'running',
  createdMs: NOW + digit * 1000,
  count: 12,
  replayed: 5,
  leftOut: [],
  isAutomatic: false,
  revision: 2,
  ...changes,
})

export function webhook(changes: Partial<WebhookView> = {}): WebhookView {
  return {
    id: WEBHOOK_ID,
    accountId: OWN_ACCOUNT,
    name: 'Hook',
    uri: 'https://receiver.example.com/',
    hook: 'channel_create',
    httpVerb: 'post',
    retries: 5,
    effectiveMaxAgeSeconds: 86_400,
    format: 'json',
    enabled: true,
    includeSubaccounts: false,
    includeInternalLegs: true,
    ordering: 'call',
    createdMs: NOW - 5000,
    modifiedMs: NOW - 1000,
    revision: 3,
    health: { state: 'ok', failuresInRow: 0 },
    ...changes,
  }
}

export function attempt(position: number, changes: Partial<StoredAttempt> = {}): StoredAttempt {
  return {
    id: `attempt-${position}`,
    accountId: OWN_ACCOUNT,
    webhookId: WEBHOOK_ID,
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
    accountId: OWN_ACCOUNT,
    webhookId: WEBHOOK_ID,
    eventId: 'event-1',
    eventAccountId: OWN_ACCOUNT,
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
    acceptedMs: NOW,
    position,
    ahead: 0,
    sequence: 1,
    ...changes,
  }
}

const encoder = new TextEncoder()

export interface RequestOptions {
  readonly headers?: RequestRecord['headers']
  /** An object is sent as JSON, a string as it is. */
  readonly body?: unknown
  /** Null: no token. */
  readonly token?: string | null
  readonly more?: Partial<RequestRecord>
}

/** Builds a request record as an adapter does: `request('GET', '/v1/webhooks')`. */
export function request(method: string, url: string, options: RequestOptions = {}): RequestRecord {
  const { body, token = null } = options
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  return {
    method,
    url,
    headers: {
      ...(token !== null && { 'x-auth-token': token }),
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(text !== undefined && { body: encoder.encode(text) }),
    ...options.more,
  }
}

/** The parsed body of a response. */
export const jsonOf = ({ body, bytes }: ResponseRecord) =>
  JSON.parse(bytes ? Buffer.from(bytes).toString() : body) as Record<string, unknown>
