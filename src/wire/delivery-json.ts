/** JSON of deliveries. */
import type { StoredDelivery } from '../delivery/delivery-queries.js'
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
    call_id: delivery.callId,
    state: delivery.state,
    attempts: delivery.attempts,
    next_attempt_at: dueMs === undefined ? undefined : toIsoTime(dueMs),
    explain,
  }
}
