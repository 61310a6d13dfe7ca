/** JSON of the history of a call. */
import type { CallEvent, CallHistory, CallLeg } from '../delivery/call-history.js'
import { toGregorian } from '../values/gregorian-time.js'
import { toIsoTime } from '../values/iso-time.js'
import { deliveryJson } from './delivery-json.js'
import { MAX_PAGE_BYTES } from './list.js'
import type { JsonObject } from './webhook-json.js'

const legJson = ({ callId, direction, from, to, events }: CallLeg): JsonObject => ({
  call_id: callId,
  direction,
  from,
  to,
  events,
})

const eventJson = ({
  id,
  accountId,
  callId,
  hook,
  sequence,
  timestampMs,
  deliveries,
}: CallEvent): JsonObject => ({
  id,
  account_id: accountId,
  call_id: callId,
  hook,
  sequence,
  timestamp: toGregorian(timestampMs),
  happened_at: toIsoTime(timestampMs),
  deliveries: deliveries.map(callDeliveryJson),
})

function callDeliveryJson(delivery: CallEvent['deliveries'][number]): JsonObject {
  const { webhookName, lastStatus } = delivery
  const { id, hook_id, kind, replay_of, replayed_by, state, reason, attempts, next_attempt_at, ended_at } =
    deliveryJson(delivery)
  return {
    id,
    hook_id,
    hook_name: webhookName,
    kind,
    replay_of,
    replayed_by,
    state,
    reason,
    attempts,
    last_status: lastStatus === undefined ? undefined : String(lastStatus),
    next_attempt_at,
    ended_at,
  }
}

/** Returns the JSON of the history of a call. Of events above 1 MiB of JSON, the oldest are left out. */
export function callJson({ callId, legs, events, unwanted, isTruncated, records }: CallHistory): JsonObject {
  const all = events.map(eventJson)
  let first = all.length
  for (let bytes = 0; first > 0; first -= 1) {
    bytes += Buffer.byteLength(JSON.stringify(all[first - 1])) + 1
    if (bytes > MAX_PAGE_BYTES) break
  }
  return {
    call_id: callId,
    legs: legs.map(legJson),
    events: all.slice(first),
    unwanted: unwanted.map((event) => ({ call_id: event.callId, sequence: event.sequence })),
    truncated: isTruncated || first > 0,
    records: first > 0 ? 'part' : records,
  }
}
