import type { StoredDelivery } from '../delivery/delivery-queries.js'
import { isoTime } from '../values/iso-time.js'
import type { Doc } from './webhook-doc.js'

/**
 * One delivery as the API shows it.
 *
 * @param explain one plain sentence why it is where it is
 */
export function deliveryDoc(delivery: StoredDelivery, explain: string): Doc {
  const due = delivery.state === 'waiting' ? delivery.dueMs : undefined
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    hook_id: delivery.webhookId,
    call_id: delivery.callId,
    state: delivery.state,
    attempts: delivery.attempts,
    next_attempt_at: due === undefined ? undefined : isoTime(due),
    explain,
  }
}
