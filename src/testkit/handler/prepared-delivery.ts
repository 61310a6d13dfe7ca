import { newDelivery } from '../../delivery/accept.js'
import { bodiesOf, fillIn } from '../../delivery/bodies.js'
import type { Claim } from '../../delivery/delivery-store.js'
import { type CheckedEvent, checkPayloadSize } from '../../delivery/event.js'
import { payloadFields } from '../../delivery/payload.js'
import type { Webhook } from '../../webhooks/webhook.js'

/** One event on its way to the receiver under test. */
export interface ScriptedDelivery {
  /** The `webhook-id` of all its requests. */
  readonly id: string
  /** `event_id` in the payload. */
  readonly eventId: string
  readonly event: CheckedEvent
  /** `sequence` in the payload: 1, 2, … for each call. */
  readonly sequence: number
  /** JSON, or the pairs of a form or query: the same on every attempt. */
  readonly body: string
  /** Deliveries of one lane are sent one after the other. */
  readonly lane: string
}

/** With what a request is built from. */
export interface PreparedDelivery extends ScriptedDelivery {
  readonly claim: Claim
}

/** Everything of a delivery that is frozen when its event is accepted. */
export function prepareDelivery(
  ids: { readonly id: string; readonly eventId: string },
  event: CheckedEvent,
  sequence: number,
  webhook: Webhook,
): PreparedDelivery {
  const { id, eventId } = ids
  const { settings } = webhook
  const payload = payloadFields(event, eventId)
  const json = JSON.stringify(payload)
  checkPayloadSize(json)
  const bodies = bodiesOf(payload, json, true)
  const variant = bodies.variant(settings)
  const body = fillIn(bodies.templates[variant]!, sequence)
  const lane = settings.ordering === 'call' ? `${event.accountId}/${event.callId}` : `-/${id}`
  const delivery: Claim['delivery'] = {
    ...newDelivery(id, event, eventId, webhook, variant, lane),
    state: 'in_flight',
    attempts: 0,
    tries: 0,
    interruptions: 0,
    fence: 1,
    acceptedMs: event.timestampMs,
  }
  return { id, eventId, event, sequence, body, lane, claim: { delivery, body } }
}
