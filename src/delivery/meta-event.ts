/**
 * Accepts meta events: events about webhooks, which the service publishes. Which ones, and how many, is decided in
 * runtime/meta-events.ts.
 */
import type { MetaEvent } from '../webhooks/meta-hooks.js'
import { type AcceptDeps, countDeliveries } from './accept.js'
import { createBodyVariants, encodingOf } from './body-variants.js'
import { firstDeliveryId } from './delivery-ids.js'
import type { NewDelivery } from './delivery-store.js'
import { matches } from './match.js'
import { metaPayloadOf } from './payload.js'

/**
 * Accepts a meta event for the webhooks that name its kind in `hook` or `only`. Without one, nothing is written.
 *
 * @throws `QueueFull`, `StoreUnavailable`, `NotFound` for a webhook that is removed at this moment
 */
export async function acceptMetaEvent(deps: AcceptDeps, event: MetaEvent): Promise<void> {
  const { accountId, hook, timestampMs } = event
  const lineage = await deps.directory.lineage(accountId)
  const candidates = await deps.webhooks.candidates(
    lineage.map(({ id }) => id),
    hook,
  )
  const eventId = deps.newId()
  const payload = metaPayloadOf(event, eventId)
  const wanted = candidates.filter(
    (webhook) => webhook.id !== event.webhookId && matches(webhook, event, lineage, payload),
  )
  if (wanted.length === 0) return
  const bodies = createBodyVariants(payload, JSON.stringify(payload), false)
  const deliveries = wanted.map(
    ({ id: webhookId, accountId: ownerId, settings, epoch }, index): NewDelivery => {
      const id = firstDeliveryId(eventId, index)
      return {
        id,
        accountId: ownerId,
        webhookId,
        eventId,
        eventAccountId: accountId,
        hook,
        eventTimestampMs: timestampMs,
        variant: bodies.indexFor(settings),
        encoding: encodingOf(settings),
        httpVerb: settings.httpVerb,
        lane: `-/${id}`,
        epoch,
      }
    },
  )
  const stored = { id: eventId, accountId, hook, timestampMs, numbered: false, bodies: bodies.templates }
  await deps.accept({ events: [stored], deliveries })
  countDeliveries(deps, deliveries.length)
}
