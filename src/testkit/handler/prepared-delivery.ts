/** Builds a delivery as accepting its event would. */

import type { Webhook } from 'hookswitch/store'
import { buildDelivery } from '../../delivery/accept.js'
import { createBodyVariants, fillIn } from '../../delivery/body-variants.js'
import { type CheckedEvent, checkPayloadSize } from '../../delivery/event.js'
import { payloadFields } from '../../delivery/payload.js'
import type { SendableDelivery } from '../../delivery/request.js'

/** One event that is delivered to the handler under test. */
export interface ScriptedDelivery {
  /** The `webhook-id` of all its requests. */
  readonly id: string
  /** `event_id` in the payload. */
  readonly eventId: string
  /** The event that is delivered. */
  readonly event: CheckedEvent
  /** `sequence` in the payload: 1, 2, … per call. */
  readonly sequence: number
  /** JSON, or the pairs of a form or query. The same in every attempt. */
  readonly body: string
  /** Deliveries of the same lane are sent one at a time, in order. */
  readonly lane: string
}

/** A scripted delivery with what requests are built from. */
export interface PreparedDelivery extends ScriptedDelivery {
  readonly delivery: SendableDelivery
}

/** Builds all parts of a delivery that are fixed when its event is accepted. */
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
  const bodies = createBodyVariants(payload, json, true)
  const variant = bodies.indexFor(settings)
  const body = fillIn(bodies.templates[variant]!, sequence)
  const lane = settings.ordering === 'none' ? `-/${id}` : `${event.accountId}/${event.callId}`
  const delivery: SendableDelivery = {
    ...buildDelivery(id, event, eventId, webhook, variant, lane),
    attempts: 0,
    body,
    traceparent: undefined,
  }
  return { id, eventId, event, sequence, body, lane, delivery }
}
