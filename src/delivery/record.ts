import type { Observation, SendRequest } from '../ports.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { AttemptRecord } from './attempt-record.js'
import type { Delivery } from './lifecycle.js'
import type { Outcome } from './outcome.js'
import { redactHeaders } from './request.js'
import { maxTries, type NextDelivery, type RetryRules } from './retry.js'

/** KAZOO's words: clients compare the first. */
const BAD_RESPONSE = 'bad response code'
const NO_RESPONSE = 'kazoo http client error'

/** Most headers of an answer that are kept. */
const MAX_RESPONSE_HEADERS = 64

function base(
  id: string,
  delivery: Delivery,
  webhook: Webhook,
  next: NextDelivery,
  rules: RetryRules,
  atMs: number,
) {
  return {
    id,
    accountId: delivery.accountId,
    webhookId: delivery.webhookId,
    hook: delivery.hook,
    eventId: delivery.eventId,
    deliveryId: delivery.id,
    ...(delivery.callId === undefined ? {} : { callId: delivery.callId }),
    uri: webhook.settings.uri,
    method: delivery.httpVerb,
    retriesLeft: Math.max(0, maxTries(rules) - next.tries),
    atMs,
  }
}

function seenOf(observation: Observation): Partial<AttemptRecord> {
  if (observation.kind !== 'response') return {}
  return {
    status: observation.status,
    responseHeaders: redactHeaders(observation.headers.slice(0, 2 * MAX_RESPONSE_HEADERS)),
    responseBody: observation.body,
  }
}

function reasonOf(outcome: Outcome): Partial<AttemptRecord> {
  switch (outcome.kind) {
    case 'delivered':
      return {}
    case 'own_fault':
      return { reason: NO_RESPONSE, clientError: 'own_fault' }
    case 'failed':
      if (outcome.failure === 'http') return { reason: BAD_RESPONSE }
      if (outcome.failure === 'redirect') return { reason: BAD_RESPONSE, clientError: 'redirect' }
      return { reason: NO_RESPONSE, clientError: outcome.failure }
  }
}

/** The record of one attempt. */
export function attemptRecord(
  id: string,
  delivery: Delivery,
  webhook: Webhook,
  attempted: {
    request: SendRequest
    observation: Observation
    outcome: Outcome
    sentMs: number
    durationMs: number
  },
  next: NextDelivery,
  rules: RetryRules,
): AttemptRecord {
  return {
    ...base(id, delivery, webhook, next, rules, attempted.sentMs),
    attempt: next.attempts,
    result: attempted.outcome.kind === 'delivered' ? 'success' : 'failure',
    ...reasonOf(attempted.outcome),
    ...seenOf(attempted.observation),
    requestHeaders: redactHeaders(attempted.request.headers),
    durationMs: Math.max(0, Math.round(attempted.durationMs)),
  }
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
    result: 'failure',
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
  return { ...base(id, delivery, webhook, next, rules, atMs), result: 'failure', reason: next.state }
}
