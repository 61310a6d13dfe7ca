/** JSON of deliveries. */
import { deliveryKind, type StoredDelivery } from '../delivery/delivery-queries.js'
import { toIsoTime } from '../values/iso-time.js'
import type { JsonObject } from './webhook-json.js'

/**
 * Returns the JSON of one delivery.
 *
 * @param explain one sentence that explains its state
 */
export function deliveryJson(delivery: StoredDelivery, explain: string): JsonObject {
  const dueMs = delivery.state === 'waiting' ? delivery.dueMs : undefined
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    hook_id: delivery.webhookId,
    hook_event: delivery.hook,
    call_id: delivery.callId,
    kind: deliveryKind(delivery),
    replay_of: delivery.replayOf,
    state: delivery.state,
    reason: delivery.reason,
    attempts: delivery.attempts,
    accepted_at: toIsoTime(delivery.acceptedMs),
    next_attempt_at: isoTime(dueMs),
    ended_at: isoTime(delivery.endedMs),
    explain,
  }
}

/** Returns the JSON of a delivery in a list over all accounts. */
export function foundDeliveryJson(delivery: StoredDelivery, explain: string): JsonObject {
  return { account_id: delivery.accountId, ...deliveryJson(delivery, explain) }
}

const isoTime = (unixMs: number | undefined) => (unixMs === undefined ? undefined : toIsoTime(unixMs))
