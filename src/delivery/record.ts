import type { Webhook } from '../webhooks/webhook.js'
import type { Attempted } from './attempt.js'
import type { AttemptRecord } from './attempt-record.js'
import type { Delivery } from './lifecycle.js'
import type { Outcome } from './outcome.js'
import { redactHeaders } from './request.js'
import { maxTries, type NextDelivery, type RetryRules } from './retry.js'

/** KAZOO's words: clients compare the first. */
const BAD_RESPONSE = 'bad response code'
const NO_RESPONSE = 'kazoo http client error'

type Draft = { -readonly [Name in keyof AttemptRecord]: AttemptRecord[Name] }

/** Most headers of an answer that are kept. */
const MAX_RESPONSE_HEADERS = 64

function base(
  id: string,
  delivery: Delivery,
  webhook: Webhook,
  next: NextDelivery,
  rules: RetryRules,
  atMs: number,
): Draft {
  const record: Draft = {
    id,
    accountId: delivery.accountId,
    webhookId: delivery.webhookId,
    hook: delivery.hook,
    eventId: delivery.eventId,
    deliveryId: delivery.id,
    uri: webhook.settings.uri,
    method: delivery.httpVerb,
    // Retries are the tries after the first, so one that took none of the budget leaves all of them.
    retriesLeft: Math.max(0, maxTries(rules) - Math.max(1, next.tries)),
    result: 'failure',
    atMs,
  }
  if (delivery.callId !== undefined) record.callId = delivery.callId
  return record
}

function noteReason(record: Draft, outcome: Outcome): void {
  if (outcome.kind === 'delivered') return
  const answered = outcome.kind === 'failed' && (outcome.failure === 'http' || outcome.failure === 'redirect')
  record.reason = answered ? BAD_RESPONSE : NO_RESPONSE
  if (outcome.kind === 'own_fault') record.clientError = 'own_fault'
  else if (outcome.failure !== 'http') record.clientError = outcome.failure
}

function keptHeaders(headers: readonly string[]): readonly string[] {
  const most = 2 * MAX_RESPONSE_HEADERS
  return redactHeaders(headers.length > most ? headers.slice(0, most) : headers)
}

/** The record of one attempt. Set key by key: spreading all parts of it into one object costs ten times as much. */
export function attemptRecord(
  id: string,
  delivery: Delivery,
  webhook: Webhook,
  attempted: Attempted,
  outcome: Outcome,
  next: NextDelivery,
  rules: RetryRules,
): AttemptRecord {
  const { request, observation, sentMs, durationMs } = attempted
  const record = base(id, delivery, webhook, next, rules, sentMs)
  if (outcome.kind === 'delivered') record.result = 'success'
  record.attempt = next.attempts
  noteReason(record, outcome)
  if (observation.kind === 'response') {
    const { status, headers, body } = observation
    record.status = status
    record.responseHeaders = keptHeaders(headers)
    record.responseBody = body
  }
  record.requestHeaders = redactHeaders(request.headers)
  record.durationMs = Math.max(0, Math.round(durationMs))
  return record
}

/** The record of an attempt that nobody saw the end of: it may have reached the receiver. */
export function interruptedRecord(
  id: string,
  delivery: Delivery,
  webhook: Webhook,
  next: NextDelivery,
  rules: RetryRules,
  atMs: number,
): AttemptRecord {
  return {
    ...base(id, delivery, webhook, next, rules, atMs),
    attempt: next.attempts,
    reason: 'interrupted',
  }
}

/** The record of an end without a request: it is no attempt and takes no number. */
export function unsentRecord(
  id: string,
  delivery: Delivery,
  webhook: Webhook,
  next: NextDelivery,
  rules: RetryRules,
  atMs: number,
): AttemptRecord {
  return { ...base(id, delivery, webhook, next, rules, atMs), reason: next.state }
}
