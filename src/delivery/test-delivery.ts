import { HookswitchError, notFound } from '../errors.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'
import { type AcceptDoors, countDeliveries, newDelivery } from './accept.js'
import { bodiesOf } from './bodies.js'
import { checkEvent } from './event.js'
import { payloadOf, SEQUENCE } from './payload.js'

export interface TestDoors extends Omit<AcceptDoors, 'webhooks' | 'directory'> {
  readonly webhooks: Pick<WebhookStore, 'read'>
  /** The first sample of a kind of event; `undefined`: the catalogue has it no longer. */
  sampleOf(hook: string): Readonly<Record<string, unknown>> | undefined
}

/**
 * Sends the sample of a webhook's hook to it now (`all`: a `channel_create`), also while it is disabled: in a
 * lane of its own, and without taking a number of any call.
 *
 * @returns the delivery's id
 * @throws `NotFound`, `Conflict` for a kind that the catalogue has no longer, `QueueFull`, `StoreUnavailable`
 */
export async function sendTest(
  doors: TestDoors,
  accountId: string,
  webhookId: string,
  maxPending: number,
): Promise<string> {
  const webhook = await doors.webhooks.read(accountId, webhookId)
  if (!webhook) throw notFound(webhookId)
  const { hook } = webhook.settings
  const now = doors.clock.now()
  const sample = doors.sampleOf(hook === 'all' ? 'channel_create' : hook)
  if (!sample)
    throw new HookswitchError('Conflict', `the catalogue has no kind of event '${hook}'`, { field: 'hook' })
  const event = checkEvent({ ...sample, accountId, timestampMs: now }, now, doors.knowsHook)
  const eventId = doors.newId()
  const deliveryId = doors.newId()
  const payload = { ...payloadOf(event, eventId), [SEQUENCE]: 1 }
  const bodies = bodiesOf(payload, JSON.stringify(payload), false)
  const variant = bodies.variant(webhook.settings)
  const { callId, timestampMs } = event
  await doors.deliveries.accept(
    {
      events: [
        {
          id: eventId,
          accountId,
          callId,
          hook: event.hook,
          timestampMs,
          numbered: false,
          bodies: bodies.templates,
        },
      ],
      deliveries: [newDelivery(deliveryId, event, eventId, webhook, variant, `test/${deliveryId}`)],
      maxPending,
    },
    doors.storeNow(),
  )
  countDeliveries(doors, 1)
  return deliveryId
}
