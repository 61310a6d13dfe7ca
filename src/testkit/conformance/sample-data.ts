/** Rows for the conformance suite and the tests of stores: valid, distinct, with overrides. */

import type { Account } from '../../accounts/account.js'
import type { ApiKeyRow } from '../../accounts/account-store.js'
import type { User } from '../../accounts/user.js'
import type { TokenRow } from '../../auth/token-store.js'
import type { AttemptRecord } from '../../delivery/attempt-record.js'
import type { NewDelivery, NewEvent } from '../../delivery/delivery-store.js'
import type { Delivery } from '../../delivery/lifecycle.js'
import { createPositions, MAX_NODES } from '../../delivery/positions.js'
import type { StoredReplay } from '../../delivery/replay-store.js'
import type { Webhook } from '../../webhooks/webhook.js'

/** 2025-01-01T00:00:00Z: the wall clock of all sample rows, Unix ms. */
export const WALL_MS = 1_735_689_600_000

/** The change of an endpoint that disables a webhook of epoch 1. */
export const DISABLING = { epoch: 1, disable: { reason: 'gone', atMs: WALL_MS } }

let created = 0

/** A unique id. */
export function freshId(kind: string): string {
  created += 1
  return `${kind}-${created}`
}

/** Digits of an event's id that the ids of its deliveries share. */
const SHARED_DIGITS = 24
/** The golden ratio in 32 bits (Knuth, TAOCP 3, 6.4): spreads consecutive numbers, so that ids are not in order. */
const SPREAD = 0x9e37_79b1

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')

/** A unique event id: 32 hex digits. */
export function freshEventId(): string {
  created += 1
  return `${hex(Math.imul(created, SPREAD) >>> 0, 8)}${hex(created, SHARED_DIGITS - 8)}${'0'.repeat(8)}`
}

/** A unique delivery id: 32 hex digits that begin as the event's id does. */
function freshDeliveryId(eventId: string): string {
  if (!/^[0-9a-f]{32}$/.test(eventId)) return freshId('delivery')
  created += 1
  return `${eventId.slice(0, SHARED_DIGITS)}${hex(created, 8)}`
}

/** Positions of rows that no node has numbered: those of the last node. */
const positions = createPositions(MAX_NODES - 1)

export function newAccount(overrides: Partial<Account> = {}): Account {
  const id = overrides.id ?? freshId('account')
  return {
    id,
    name: `Account ${id}`,
    realm: `${id}.example.com`,
    enabled: true,
    language: 'en-us',
    isReseller: false,
    createdMs: WALL_MS,
    modifiedMs: WALL_MS,
    ...overrides,
  }
}

export function newApiKey(accountId: string, overrides: Partial<ApiKeyRow> = {}): ApiKeyRow {
  const version = freshId('version')
  return { accountId, hash: `hash-of-${version}`, sealed: `sealed-${version}`, version, ...overrides }
}

export function newUser(accountId: string, overrides: Partial<User> = {}): User {
  const id = overrides.id ?? freshId('user')
  return {
    id,
    accountId,
    username: `name-${id}`,
    credentialKeys: [`md5-${id}`, `sha1-${id}`],
    credentialVersion: freshId('version'),
    createdMs: WALL_MS,
    modifiedMs: WALL_MS,
    ...overrides,
  }
}

export function newToken(accountId: string, overrides: Partial<TokenRow> = {}): TokenRow {
  return {
    hash: freshId('token-hash'),
    accountId,
    credentialVersion: 'version-1',
    issuedMs: WALL_MS,
    expiresMs: WALL_MS + 86_400_000,
    ...overrides,
  }
}

/** Origin of all webhooks made by `newWebhook`. */
const ORIGIN = 'https://receiver.example.com'

export function newWebhook(
  overrides: Omit<Partial<Webhook>, 'settings'> & { readonly settings?: Partial<Webhook['settings']> } = {},
): Webhook {
  const { settings, ...row } = overrides
  const id = row.id ?? freshId('webhook')
  return {
    id,
    accountId: 'account',
    settings: {
      name: `Webhook ${id}`,
      uri: `${ORIGIN}/${id}`,
      hook: 'channel_create',
      httpVerb: 'post',
      retries: 2,
      format: 'json',
      enabled: true,
      includeSubaccounts: false,
      includeInternalLegs: true,
      ordering: 'call',
      ...settings,
    },
    secrets: [{ sealed: `sealed-secret-of-${id}` }],
    createdMs: WALL_MS,
    modifiedMs: WALL_MS,
    enabledMs: WALL_MS,
    revision: 1,
    epoch: 1,
    ...row,
  }
}

/** An event of a new call, with one body that lacks its sequence number. */
export function newEvent(overrides: Partial<NewEvent> = {}): NewEvent {
  const id = overrides.id ?? freshEventId()
  return {
    id,
    position: positions.next(WALL_MS),
    accountId: 'account',
    callId: `call-of-${id}`,
    hook: 'channel_create',
    timestampMs: WALL_MS,
    numbered: true,
    bodies: [{ head: `{"event_id":"${id}","sequence":`, tail: '}' }],
    ...overrides,
  }
}

/**
 * The delivery of an event to a webhook, in the lane of the event's call, or in a lane to itself for ordering `none`. A
 * replay (`newReplay`) has its own position, and a lane to itself unless `lane` is given.
 */
export function newDelivery(
  webhook: Webhook,
  event: NewEvent,
  overrides: Partial<NewDelivery> = {},
): NewDelivery {
  const id = overrides.id ?? freshDeliveryId(event.id)
  const isReplay = overrides.replayOf !== undefined
  const orderedLane = `${event.accountId}/${event.callId}`
  const lane = isReplay ? `replay/${id}` : webhook.settings.ordering === 'none' ? `-/${id}` : orderedLane
  return {
    id,
    position: isReplay ? positions.next(WALL_MS) : event.position!,
    accountId: webhook.accountId,
    webhookId: webhook.id,
    eventId: event.id,
    eventAccountId: event.accountId,
    ...(event.callId === undefined ? {} : { callId: event.callId }),
    hook: event.hook,
    eventTimestampMs: event.timestampMs,
    variant: 0,
    encoding: 'json',
    httpVerb: webhook.settings.httpVerb,
    lane,
    epoch: webhook.epoch,
    ...overrides,
  }
}

/** A replay of a stored delivery. */
export function newReplay(
  webhook: Webhook,
  event: NewEvent,
  { id: replayOf, position: originalPosition }: Pick<NewDelivery, 'id' | 'position'>,
  overrides: Partial<NewDelivery> = {},
): NewDelivery {
  return newDelivery(webhook, event, { replayOf, originalPosition, ...overrides })
}

/** A replay job of an account that runs. */
export function newReplayJob(overrides: Partial<StoredReplay> = {}): StoredReplay {
  return {
    id: freshEventId(),
    accountId: 'account',
    state: 'running',
    createdMs: WALL_MS,
    revision: 1,
    doc: '{"states":["exhausted"]}',
    ...overrides,
  }
}

/** The record of a failed attempt. */
export function newRecord(delivery: Delivery, overrides: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    id: freshId('attempt'),
    accountId: delivery.accountId,
    webhookId: delivery.webhookId,
    hook: delivery.hook,
    eventId: delivery.eventId,
    deliveryId: delivery.id,
    ...(delivery.callId === undefined ? {} : { callId: delivery.callId }),
    uri: `https://receiver.example.com/${delivery.webhookId}`,
    method: delivery.httpVerb,
    attempt: delivery.attempts + 1,
    retriesLeft: 2,
    result: 'failure',
    reason: 'bad status',
    status: 500,
    responseHeaders: ['content-type', 'text/plain'],
    responseBody: 'oops',
    requestHeaders: ['content-type', 'application/json'],
    durationMs: 12.5,
    atMs: WALL_MS,
    ...overrides,
  }
}
