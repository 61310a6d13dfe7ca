/** JSON of deliveries. */
import { deliveryKind, type StoredDelivery } from '../delivery/delivery-queries.js'
import { type Explanation, sentenceOf } from '../delivery/explain.js'
import type { CallParties } from '../delivery/payload.js'
import { toIsoTime } from '../values/iso-time.js'
import { partiesJson } from './parties-json.js'
import type { JsonObject } from './webhook-json.js'

/**
 * Returns the JSON of one delivery.
 *
 * @param explanation `undefined`: the fields are there, for filters, and empty
 * @param parties the parties of the call, as its event names them
 */
export function deliveryJson(
  delivery: StoredDelivery,
  explanation?: Explanation,
  parties?: CallParties,
): JsonObject {
  const dueMs = delivery.state === 'waiting' ? delivery.dueMs : undefined
  return {
    id: delivery.id,
    event_id: delivery.eventId,
    hook_id: delivery.webhookId,
    hook_event: delivery.hook,
    call_id: delivery.callId,
    call: partiesJson(parties),
    caller_name: parties?.callerName,
    kind: deliveryKind(delivery),
    replay_of: delivery.replayOf,
    replayed_by: delivery.replays?.lastId,
    recovered: delivery.replays?.hasRecovered === true ? true : undefined,
    state: delivery.state,
    reason: delivery.reason,
    attempts: delivery.attempts,
    accepted_at: toIsoTime(delivery.acceptedMs),
    next_attempt_at: isoTime(dueMs),
    ended_at: isoTime(delivery.endedMs),
    explain: explanation ? sentenceOf(explanation) : '',
    explanation: explanation ?? {},
  }
}

/** Returns the JSON of a delivery in a list over all accounts. */
export function foundDeliveryJson(
  delivery: StoredDelivery,
  explanation?: Explanation,
  parties?: CallParties,
): JsonObject {
  return { account_id: delivery.accountId, ...deliveryJson(delivery, explanation, parties) }
}

const isoTime = (unixMs: number | undefined) => (unixMs === undefined ? undefined : toIsoTime(unixMs))
