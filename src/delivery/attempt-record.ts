/**
 * Attempt records: built for each attempt, and for each delivery that ends without a request (`expired`,
 * `cancelled` or `quarantined`).
 */
import type { Dialled, Observation, SendRequest } from '../ports.js'
import { failureSentence } from '../values/failure-cause.js'
import { parseUrl } from '../values/parse-url.js'
import { printableLine } from '../values/printable.js'
import { REDACTED, redactText } from '../values/redact.js'
import { isSecretHeader } from '../values/secret-names.js'
import { parseTraceparent } from '../values/traceparent.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Delivery } from './lifecycle.js'
import { findHeader, type Outcome } from './outcome.js'
import { maxTries, type NextDelivery, QUEUE_FULL, type RetryRules } from './retry.js'

/** One request and what was observed of it. */
export interface AttemptResult {
  readonly request: SendRequest
  readonly observation: Observation
  /** Where the request went, as far as the sender knows. */
  readonly dialled?: Dialled | undefined
  /** Wall clock, Unix ms. */
  readonly sentMs: number
  readonly durationMs: number
  /** True: it was sent while an earlier event of its call was not delivered (`orderingPatienceSeconds`). */
  readonly isOutOfOrder?: boolean
  /** True: the receiver answered after `attemptTimeoutMs`. */
  readonly isLate?: boolean
}

/**
 * The stored record of one attempt, or of an end without a request. It has no request body: the store adds it
 * when the record is read (`StoredAttempt`).
 */
export interface AttemptRecord {
  /** Id of this record, unique in the store. */
  readonly id: string
  /** The webhook's account. */
  readonly accountId: string
  /** Id of the webhook. */
  readonly webhookId: string
  /** Kind of the event, such as `channel_create`. */
  readonly hook: string
  /** Id of the event. */
  readonly eventId: string
  /** Id of the delivery: the header `webhook-id` of its requests (Standard Webhooks 1.0.0). */
  readonly deliveryId: string
  /** Id of the call leg of the event. */
  readonly callId?: string
  /** The webhook's URL at the time of this record. */
  readonly uri: string
  /** HTTP method in lower case: `get`, `post`, `put`, `patch` or `delete`. */
  readonly method: string
  /** 1, 2, …; absent for an end without a request. */
  readonly attempt?: number
  /** Retries left after this record, 0 or more. An attempt that is not charged uses up none. */
  readonly retriesLeft: number
  /** `success`: the receiver responded 2xx. `failure`: anything else, also an end without a request. */
  readonly result: 'success' | 'failure'
  /**
   * Why it failed: `bad status` (a response other than 2xx), `no answer`, `own fault` (the request could not be sent), or
   * `interrupted`; for an end without a request its state (`expired`, `cancelled`, `quarantined`). Absent on success.
   */
  readonly reason?: string
  /**
   * Class of the failure: `redirect`, `timeout`, `connection`, `dns`, `tls`, `protocol`, `blocked_address`,
   * `own_fault`.
   */
  readonly clientError?: string
  /** Cause of the failure, from the closed list of `FAILURE_CAUSES`. Absent where the class alone is known. */
  readonly cause?: string
  /** What was observed, in one line: why it failed, or what was wrong with the head of an accepted response. */
  readonly detail?: string
  /** True: it was sent while an earlier event of its call was not delivered. Absent: it was not. */
  readonly outOfOrder?: boolean
  /** True: the receiver answered after `attemptTimeoutMs`. Absent: it did not. */
  readonly late?: boolean
  /** HTTP status code of the response. Absent without a response. */
  readonly status?: number
  /** Name, value, name, value, …; secrets redacted. */
  readonly responseHeaders?: readonly string[]
  /** At most 8 KiB of the response body as text; invalid UTF-8 is replaced. Absent without a response. */
  readonly responseBody?: string
  /** Name, value, name, value, …; the signature and the values of custom headers redacted. Absent for an end without a request. */
  readonly requestHeaders?: readonly string[]
  /**
   * Duration of the request in milliseconds, rounded. Absent when interrupted, and for an end without a
   * request.
   */
  readonly durationMs?: number
  /** When the request was sent, or when the end was decided: wall clock, Unix ms. */
  readonly atMs: number
}

/** A record as the store returns it, with its position and the request body. */
export interface StoredAttempt extends AttemptRecord {
  /** Grows with every record of the store; the stable cursor of lists. */
  readonly position: number
  /** At most 8 KiB; absent for an end without a request and for methods without a body. */
  readonly requestBody?: string
  /** The parties of the call, each at most 255 characters; absent where the event names none, or is no longer stored. */
  readonly call?: {
    /** `inbound` or `outbound`. */
    readonly direction?: string
    /** Calling party: a number, or a SIP user with its domain. */
    readonly from?: string
    /** Called party: a number, or a SIP user with its domain. */
    readonly to?: string
    /** Name of the caller. */
    readonly callerName?: string
  }
}

type MutableRecord = { -readonly [Name in keyof AttemptRecord]: AttemptRecord[Name] }

/** Reasons of records that version 0.1 stored, in KAZOO's words. */
const OLD_REASONS: Readonly<Record<string, string>> = {
  'bad response code': 'bad status',
  'kazoo http client error': 'no answer',
}

/** The record with the reason that this version gives. */
export function withCurrentReason(attempt: StoredAttempt): StoredAttempt {
  const { reason, clientError } = attempt
  if (reason === undefined || !Object.hasOwn(OLD_REASONS, reason)) return attempt
  return { ...attempt, reason: clientError === 'own_fault' ? 'own fault' : OLD_REASONS[reason]! }
}

/** Response headers that are stored, at most. */
const MAX_RESPONSE_HEADERS = 64

function startRecord(
  id: string,
  delivery: Delivery,
  webhook: Webhook,
  next: NextDelivery,
  rules: RetryRules,
  atMs: number,
): MutableRecord {
  const record: MutableRecord = {
    id,
    accountId: delivery.accountId,
    webhookId: delivery.webhookId,
    hook: delivery.hook,
    eventId: delivery.eventId,
    deliveryId: delivery.id,
    uri: webhook.settings.uri,
    method: delivery.httpVerb,
    // Retries are the tries after the first: an attempt that is not charged leaves all of them.
    retriesLeft: Math.max(0, maxTries(rules) - Math.max(1, next.tries)),
    result: 'failure',
    atMs,
  }
  if (delivery.callId !== undefined) record.callId = delivery.callId
  return record
}

function setReason(record: MutableRecord, outcome: Outcome): void {
  if (outcome.kind === 'delivered') return
  if (outcome.kind === 'own_fault') {
    record.reason = 'own fault'
    record.clientError = 'own_fault'
    return
  }
  const { failure } = outcome
  record.reason = failure === 'http' || failure === 'redirect' ? 'bad status' : 'no answer'
  if (failure !== 'http') record.clientError = failure
  if (outcome.cause !== undefined) record.cause = outcome.cause
}

/** Longest `detail`, in UTF-16 units. */
const MAX_DETAIL = 400
/** Text of a sender that is read, in UTF-16 units. */
const MAX_OBSERVED = 2_000
/** Longest target of a redirect that is named, in UTF-16 units. */
const MAX_TARGET = 200
/** A longer `Location` is not read: a part of it may be a part of a password. */
const MAX_LOCATION = 2_048

const cut = (text: string, length: number) =>
  text.length <= length ? text : `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`

/** Text for people on one short line: parts of it may come from the receiver. */
const shortLine = (text: string) => cut(printableLine(redactText(text)), MAX_DETAIL)

/** IP addresses, with zone and port. Each part is bounded, so that a match takes constant time. */
const ADDRESSES =
  /(?<![\w.:])\[?(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[\da-f]{0,4}:){2,8}[\da-f.]{0,15})(?:%\w{1,15})?\]?(?::\d{1,5})?(?!\w)/gi

/** Owners of webhooks must not learn how names resolve inside the host's network. */
const withoutAddresses = (text: string) => text.slice(0, MAX_OBSERVED).replace(ADDRESSES, '[address]')

/** A part of a path without what precedes an `@` and contains a colon. */
function withoutPassword(segment: string): string {
  const parts = segment.split('@')
  return parts
    .map((part, index) => (index < parts.length - 1 && part.includes(':') ? REDACTED : part))
    .join('@')
}

/** Names the target of a redirect without user, password, query and fragment, which may be secret. */
function redirectSentence(headers: readonly string[], requestUrl: string): string {
  const location = findHeader(headers, 'location')
  if (location === undefined) return ''
  const url = location.length > MAX_LOCATION ? undefined : parseUrl(location, requestUrl)
  if (!url) return 'The server redirects to an invalid URL.'
  const { protocol, host, pathname } = url
  // Without slashes, as in `https:user:password@host`, it is a path.
  const path = pathname.split('/').map(withoutPassword).join('/')
  const target = `${protocol}${host === '' ? '' : `//${host}`}${path}`
  return `The server redirects to ${cut(target, MAX_TARGET)}, and redirects are not followed.`
}

/** What was wrong with the body of a response, by its end. */
const BODY_NOTES: ReadonlyMap<string, string> = new Map([
  ['broken', 'The connection ended within the body of the response.'],
  ['timeout', 'The body of the response did not end in time.'],
])

/** What was observed, in one line; empty: nothing to mention. Internal faults are for the log alone. */
function detailOf({ request, observation }: AttemptResult, outcome: Outcome): string {
  if (observation.kind === 'no_response') {
    if (outcome.kind !== 'failed') return ''
    return shortLine(failureSentence(outcome.cause, withoutAddresses(stringOf(outcome.detail))))
  }
  if (observation.kind !== 'response') return ''
  const { headers, note, bodyEnd } = observation
  const isRedirect = outcome.kind === 'failed' && outcome.failure === 'redirect'
  const parts = [
    stringOf(note),
    BODY_NOTES.get(bodyEnd) ?? '',
    isRedirect ? redirectSentence(headers, request.url) : '',
  ]
  const text = parts.filter(Boolean).join(' ')
  return text === '' ? '' : shortLine(text)
}

/** A sender of the host may return anything. */
const stringOf = (text: unknown): string => (typeof text === 'string' ? text : '')

/** Headers that `buildRequest` sets and no webhook can (`findHeaderProblem`), as they are spelt there. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'X-Hook-ID',
  'X-Account-ID',
  'X-Hook-Event',
  'X-Hook-Attempt',
  'webhook-id',
  'webhook-timestamp',
  'Content-Type',
])

/** Headers that a webhook may set too: they are stored with the service's values only. */
function isOwnValue(name: string, value: string): boolean {
  if (name === 'User-Agent') return value.startsWith('hookswitch/')
  if (name === 'Accept') return value === '*/*'
  return name === 'traceparent' && parseTraceparent(value) === value
}

/**
 * Finds names in flat lists of headers. The positions of the last list are kept, since most lists have the same names as
 * the one before.
 */
function createNameFinder(
  isWanted: (name: string) => boolean,
): (headers: readonly string[]) => readonly number[] {
  let last: readonly string[] = []
  let positions: readonly number[] = []

  function hasSameNames(headers: readonly string[]): boolean {
    if (headers.length !== last.length) return false
    for (let index = 0; index < headers.length; index += 2) if (headers[index] !== last[index]) return false
    return true
  }

  return (headers) => {
    if (hasSameNames(headers)) return positions
    const found: number[] = []
    for (let index = 0; index < headers.length; index += 2) if (isWanted(headers[index]!)) found.push(index)
    last = headers.map((text, index) => (index % 2 === 0 ? text : ''))
    positions = found
    return positions
  }
}

const findCredentials = createNameFinder(isSecretHeader)
const findForeign = createNameFinder((name) => !OWN_HEADERS.has(name))

/** Replaces the values of headers whose names indicate a credential. @internal */
export function redactHeaders(headers: readonly string[]): readonly string[] {
  const positions = findCredentials(headers)
  if (positions.length === 0) return headers
  const redacted = headers.slice()
  for (const position of positions) redacted[position + 1] = REDACTED
  return redacted
}

/**
 * Custom headers are encrypted at rest, so their values are not stored here either, whatever their names.
 *
 * @param shownFor what is shown in place of the value of this header
 */
export function redactRequestHeaders(
  headers: readonly string[],
  shownFor: (name: string) => string = () => REDACTED,
): readonly string[] {
  let redacted: string[] | undefined
  for (const position of findForeign(headers)) {
    const name = headers[position]!
    if (isOwnValue(name, headers[position + 1]!)) continue
    redacted ??= headers.slice()
    redacted[position + 1] = shownFor(name)
  }
  return redacted ?? headers
}

function storedResponseHeaders(headers: readonly string[]): readonly string[] {
  const limit = 2 * MAX_RESPONSE_HEADERS
  return redactHeaders(headers.length > limit ? headers.slice(0, limit) : headers)
}

/** The record of one attempt. Set key by key: spreading all parts into one object costs ten times as much. */
export function buildAttemptRecord(
  id: string,
  delivery: Delivery,
  webhook: Webhook,
  result: AttemptResult,
  outcome: Outcome,
  next: NextDelivery,
  rules: RetryRules,
): AttemptRecord {
  const { request, observation, sentMs, durationMs } = result
  const record = startRecord(id, delivery, webhook, next, rules, sentMs)
  if (outcome.kind === 'delivered') record.result = 'success'
  record.attempt = next.attempts
  setReason(record, outcome)
  if (observation.kind === 'response') {
    const { status, headers, body } = observation
    record.status = status
    record.responseHeaders = storedResponseHeaders(headers)
    record.responseBody = body
  }
  const detail = detailOf(result, outcome)
  if (detail !== '') record.detail = detail
  if (result.isOutOfOrder) record.outOfOrder = true
  if (result.isLate) record.late = true
  record.requestHeaders = redactRequestHeaders(request.headers)
  record.durationMs = Math.max(0, Math.round(durationMs))
  return record
}

/** The record of an attempt without a known outcome: the request may have reached the receiver. */
export function buildInterruptedRecord(
  id: string,
  delivery: Delivery,
  webhook: Webhook,
  next: NextDelivery,
  rules: RetryRules,
  atMs: number,
): AttemptRecord {
  return {
    ...startRecord(id, delivery, webhook, next, rules, atMs),
    attempt: next.attempts,
    reason: 'interrupted',
  }
}

/** The record of an end without a request: it is not an attempt and has no number. */
export function buildSkippedRecord(
  id: string,
  delivery: Delivery,
  webhook: Webhook,
  next: NextDelivery,
  rules: RetryRules,
  atMs: number,
): AttemptRecord {
  const reason = next.reason === QUEUE_FULL ? QUEUE_FULL : next.state
  return { ...startRecord(id, delivery, webhook, next, rules, atMs), reason }
}
