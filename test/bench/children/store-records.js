/** Builds events, deliveries and settlements as a node writes them, to fill a store without sending anything. */
import { randomBytes } from 'node:crypto'
import { createPositions } from 'hookswitch/store'
import { payloadOf } from 'hookswitch/testkit'
import { eventAt } from './events.js'

/** A number that no node of a measurement has. */
const NODE = 127

const positions = createPositions(NODE)

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
  const position = positions.next(timestampMs)
  return { id, position, accountId, callId, hook: event.hook, timestampMs, numbered: true, bodies: [body] }
}

/**
 * A delivery of an event to a webhook.
 *
 * @param {{ id: string, accountId: string }} webhook with epoch 1
 * @param {string} lane default: the lane of the call
 */
export function newDelivery(event, webhook, lane = `${event.accountId}/${event.callId}`) {
  return {
    // Ids of deliveries begin like that of their event.
    id: event.id.slice(0, 24) + newId().slice(24),
    position: event.position,
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
})

/** A group with these parts. @param {object} parts `lease` and `version`: those of the node; without them it has none */
export const groupOf = (parts) => ({
  lease: undefined,
  version: 0,
  accepted: [],
  ended: [],
  finished: [],
  pending: 0,
  isRepeat: false,
  ...parts,
})

/** Takes all shards of a store and reads what waits there, as a node does at its start. */
export async function takeAll(store, owner, leaseMs) {
  const lease = await store.deliveries.own(owner, leaseMs)
  const parts = []
  let cursor
  do {
    const part = await store.deliveries.load(lease, lease.shards, cursor)
    parts.push(part)
    cursor = part.cursor
  } while (cursor !== undefined)
  await store.deliveries.completeTakeover(lease, lease.shards)
  return { lease, version: parts[0].version, parts }
}

/** The start of the first attempt of a delivery. */
export const startOf = ({ webhookId, position, epoch }) => ({ webhookId, position, attempt: 1, epoch })

/** The record of the first attempt of a delivery. */
function recordOf(delivery, changes) {
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
    attempt: 1,
    retriesLeft: 2,
    requestHeaders: [
      ['content-type', 'application/json'],
      ['user-agent', 'hookswitch/0.1.0'],
      ['webhook-id', delivery.id],
      ['webhook-timestamp', String(seconds)],
      ['webhook-signature', `v1,${newId()}${newId().slice(20)}`],
    ].flat(),
    durationMs: 1.5,
    atMs: Date.now(),
    ...changes,
  }
}

/** The settlement of the first attempt of a delivery. */
export function settlementOf(delivery, next, record) {
  const { id, webhookId, position } = delivery
  return {
    deliveryId: id,
    webhookId,
    position,
    expect: { attempts: 0 },
    next: { attempts: 1, tries: 1, interruptions: 0, ...next },
    record: recordOf(delivery, record),
  }
}

/** The settlement of a delivery whose first request was answered with 200. */
export const deliveredSettlement = (delivery) =>
  settlementOf(
    delivery,
    { state: 'delivered' },
    {
      result: 'success',
      status: 200,
      responseHeaders: ['content-type', 'text/plain', 'content-length', '2'],
      responseBody: 'ok',
    },
  )

/** The settlement of a tenth failed connection, which opens the circuit breaker of the endpoint until `untilMs`. */
export const failedSettlement = (delivery, now, untilMs) => ({
  ...settlementOf(
    delivery,
    { state: 'waiting', dueMs: now, reason: 'connection' },
    { result: 'failure', reason: 'no answer', clientError: 'connection' },
  ),
  endpoint: {
    epoch: 1,
    health: { failuresInRow: 10, openings: 1, pausedUntilMs: untilMs, failingSinceMs: now },
  },
})
