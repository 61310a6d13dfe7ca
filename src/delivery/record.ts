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

/** Retries are the tries after the first, so one that took none of the budget leaves all of them. */
function retriesLeft(next: NextDelivery, rules: RetryRules): number {
  return Math.max(0, maxTries(rules) - Math.max(1, next.tries))
}

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
    retriesLeft: retriesLeft(next, rules),
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

/** The record of one attempt. */
export function attemptRecord(
  id: string,
  delivery: Delivery,
  webhook: Webhook,
  attempted: Attempted,
  outcome: Outcome,
  next: NextDelivery,
  rules: RetryRules,
): AttemptRecord {
  const { request, observation, sentMs } = attempted
  const durationMs = Math.max(0, Math.round(attempted.durationMs))
  const requestHeaders = redactHeaders(request.headers)
  if (outcome.kind === 'delivered' && observation.kind === 'response' && delivery.callId !== undefined) {
    // One literal for what nearly all are: keys added to an object later cost more than all of this.
    return {
      id,
      accountId: delivery.accountId,
      webhookId: delivery.webhookId,
      hook: delivery.hook,
      eventId: delivery.eventId,
      deliveryId: delivery.id,
      callId: delivery.callId,
      uri: webhook.settings.uri,
      method: delivery.httpVerb,
      retriesLeft: retriesLeft(next, rules),
      result: 'success',
      atMs: sentMs,
      attempt: next.attempts,
      status: observation.status,
      responseHeaders: keptHeaders(observation.headers),
      responseBody: observation.body,
      requestHeaders,
      durationMs,
    }
  }
  const record = base(id, delivery, webhook, next, rules, sentMs)
  if (outcome.kind === 'delivered') record.result = 'success'
  record.attempt = next.attempts
  noteReason(record, outcome)
  if (observation.kind === 'response') {
    record.status = observation.status
    record.responseHeaders = keptHeaders(observation.headers)
    record.responseBody = observation.body
  }
  record.requestHeaders = requestHeaders
  record.durationMs = durationMs
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
