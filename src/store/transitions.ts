import type { NewDelivery, Settlement } from '../delivery/delivery-store.js'
import { type Delivery, isTerminal } from '../delivery/lifecycle.js'
import { disabledByService, keepsHealth, type Webhook } from '../webhooks/webhook.js'

/** What becomes of a row: the same in every store, so it is decided here and only written there. */

type Draft = { -readonly [Name in keyof Delivery]: Delivery[Name] }

/**
 * A copy without due time, reason and end. Written out, since these copies are what a store does most: spreading an
 * object of so many properties, itself spread together, was measured at 15 microseconds, this at 0.2.
 */
function copyOf(delivery: NewDelivery, acceptedMs: number): Draft {
  const copy: Draft = {
    id: delivery.id,
    accountId: delivery.accountId,
    webhookId: delivery.webhookId,
    eventId: delivery.eventId,
    eventAccountId: delivery.eventAccountId,
    hook: delivery.hook,
    eventTimestampMs: delivery.eventTimestampMs,
    variant: delivery.variant,
    encoding: delivery.encoding,
    httpVerb: delivery.httpVerb,
    lane: delivery.lane,
    epoch: delivery.epoch,
    state: 'waiting',
    attempts: 0,
    tries: 0,
    interruptions: 0,
    fence: 0,
    acceptedMs,
  }
  if (delivery.callId !== undefined) copy.callId = delivery.callId
  if (delivery.replayOf !== undefined) copy.replayOf = delivery.replayOf
  return copy
}

/**
 * An accepted delivery.
 *
 * @param head whether it is the first of its lane: due at once
 * @param now store time, ms
 */
export function accepted(delivery: NewDelivery, head: boolean, now: number): Delivery {
  const row = copyOf(delivery, now)
  if (head) row.dueMs = now
  return row
}

/** A delivery on its way: under a new fence, due no more. */
export function claimed(delivery: Delivery): Delivery {
  const row = copyOf(delivery, delivery.acceptedMs)
  row.state = 'in_flight'
  row.attempts = delivery.attempts
  row.tries = delivery.tries
  row.interruptions = delivery.interruptions
  row.fence = delivery.fence + 1
  if (delivery.reason !== undefined) row.reason = delivery.reason
  return row
}

/** The next of a lane, when the one before it has ended. */
export function promoted(delivery: Delivery, now: number): Delivery {
  const row = copyOf(delivery, delivery.acceptedMs)
  row.state = delivery.state
  row.attempts = delivery.attempts
  row.tries = delivery.tries
  row.interruptions = delivery.interruptions
  row.fence = delivery.fence
  if (delivery.reason !== undefined) row.reason = delivery.reason
  row.dueMs = now
  return row
}

/**
 * A delivery after its settlement.
 *
 * @param head whether it is the first of its lane: only heads have a due time
 */
export function settledAs(
  delivery: Delivery,
  next: Settlement['next'],
  head: boolean,
  now: number,
): Delivery {
  const row = copyOf(delivery, delivery.acceptedMs)
  row.state = next.state
  row.attempts = next.attempts
  row.tries = next.tries
  row.interruptions = next.interruptions
  row.fence = delivery.fence
  if (next.reason !== undefined) row.reason = next.reason
  if (isTerminal(next.state)) row.endedMs = now
  else if (head) row.dueMs = next.dueMs ?? now
  return row
}

/** The webhook after a settlement: the same object where nothing changes, as when it is of another epoch by now. */
export function webhookAfter(webhook: Webhook, change: Settlement['endpoint']): Webhook {
  if (!change || change.epoch !== webhook.epoch) return webhook
  const { health: before, ...clean } = webhook
  const health = change.health === undefined ? before : (change.health ?? undefined)
  const after = health === before ? webhook : health === undefined ? clean : { ...clean, health }
  return change.disable && after.settings.enabled ? disabledByService(after, change.disable) : after
}

/**
 * The row that a replacement writes. Health is the store's, not its owner's: it changes without a new revision, so
 * what is stored stays while it holds, whatever the new row says.
 */
export function replacementOf(stored: Webhook, next: Webhook): Webhook {
  const { health: _stale, ...row } = next
  const keeps = stored.health !== undefined && keepsHealth(stored.settings, next.settings)
  return keeps ? { ...row, health: stored.health } : row
}
