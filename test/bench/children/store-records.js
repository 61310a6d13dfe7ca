/** Builds events, deliveries and settlements as a node writes them, to fill a store without sending anything. */
import { randomBytes } from 'node:crypto'
import { payloadOf } from 'hookswitch/testkit'
import { eventAt } from './events.js'

const NO_LIMIT = 1_000_000_000

/** 32 random hex digits, like the ids of the package. */
export const newId = () => randomBytes(16).toString('hex')

/** The n-th event of an account whose calls have `eventsPerCall` events. */
export function newEvent(accountId, index, eventsPerCall) {
  const event = eventAt(index, 1)
  const callId = `call-${accountId}-${Math.floor(index / eventsPerCall)}@pbx.example.com`
  const timestampMs = Date.now()
  const id = newId()
  const json = JSON.stringify(payloadOf({ ...event, accountId, callId, timestampMs }, id))
  const body = { head: `${json.slice(0, -1)},"sequence":`, tail: '}' }
  return { id, accountId, callId, hook: event.hook, timestampMs, numbered: true, bodies: [body] }
}

/**
 * A delivery of an event to a webhook.
 *
 * @param {{ id: string, accountId: string }} webhook with epoch 1
 * @param {string} lane default: the lane of the call
 */
export function newDelivery(event, webhook, lane = `${event.accountId}/${event.callId}`) {
  return {
    id: newId(),
    accountId: webhook.accountId,
    webhookId: webhook.id,
    eventId: event.id,
    eventAccountId: event.accountId,
    callId: event.callId,
    hook: event.hook,
    eventTimestampMs: event.timestampMs,
    variant: 0,
    encoding: 'json',
    httpVerb: 'post',
    lane,
    epoch: 1,
  }
}

/** @param {readonly (readonly [event: object, webhooks: readonly object[], lane?: string])[]} parts */
export const acceptanceOf = (parts) => ({
  events: parts.map(([event]) => event),
  deliveries: parts.flatMap(([event, webhooks, lane]) =>
    webhooks.map((webhook) => newDelivery(event, webhook, lane)),
  ),
  maxPending: NO_LIMIT,
})

/** The record of an attempt. */
function recordOf({ delivery, body }, changes) {
  const seconds = Math.floor(Date.now() / 1000)
  return {
    id: newId(),
    accountId: delivery.accountId,
    webhookId: delivery.webhookId,
    hook: delivery.hook,
    eventId: delivery.eventId,
    deliveryId: delivery.id,
    callId: delivery.callId,
    uri: `http://127.0.0.1:80/hooks/${delivery.accountId}`,
    method: 'POST',
    attempt: delivery.attempts + 1,
    retriesLeft: 2,
    requestHeaders: [
      ['content-type', 'application/json'],
      ['user-agent', 'hookswitch/0.1.0'],
      ['webhook-id', delivery.id],
      ['webhook-timestamp', String(seconds)],
      ['webhook-signature', `v1,${body.slice(0, 44)}`],
    ].flat(),
    durationMs: 1.5,
    atMs: Date.now(),
    ...changes,
  }
}

function settlementOf(owner, claim, next, record) {
  const { id, webhookId, fence, attempts, tries } = claim.delivery
  return {
    owner,
    deliveryId: id,
    webhookId,
    expect: { state: 'in_flight', fence },
    next: { attempts: attempts + 1, tries: tries + 1, interruptions: 0, ...next },
    record: recordOf(claim, record),
  }
}

/** The settlement of a claim whose request was answered with 200. */
export const deliveredSettlement = (owner, claim) =>
  settlementOf(
    owner,
    claim,
    { state: 'delivered' },
    {
      result: 'success',
      status: 200,
      responseHeaders: ['content-type', 'text/plain', 'content-length', '2'],
      responseBody: 'ok',
    },
  )

/** The settlement of a tenth failed connection, which opens the circuit breaker of the endpoint until `untilMs`. */
export const failedSettlement = (owner, claim, now, untilMs) => ({
  ...settlementOf(
    owner,
    claim,
    { state: 'waiting', dueMs: now, reason: 'connection' },
    { result: 'failure', reason: 'connection', clientError: 'connection' },
  ),
  endpoint: {
    epoch: 1,
    health: { failuresInRow: 10, openings: 1, pausedUntilMs: untilMs, failingSinceMs: now },
  },
})
