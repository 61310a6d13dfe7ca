/** Sends a test: a sample event to one webhook. */
import { HookswitchError, notFound } from '../errors.js'
import { ALL_HOOKS } from '../webhooks/catalogue.js'
import { isMetaHook } from '../webhooks/meta-hooks.js'
import type { WebhookSettings } from '../webhooks/webhook.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'
import { type AcceptDeps, buildDelivery, countDeliveries } from './accept.js'
import { createBodyVariants } from './body-variants.js'
import { firstDeliveryId } from './delivery-ids.js'
import { TEST_LANE } from './delivery-queries.js'
import { type CheckedEvent, checkEvent } from './event.js'
import { samplePayload } from './payload.js'

/** What building a sample needs. */
export interface SampleDeps extends Pick<AcceptDeps, 'clock' | 'isKnownHook' | 'knownHooks' | 'customKinds'> {
  /** The first sample of a kind of event; `undefined`: the kind is not in the catalogue. */
  sampleOf(hook: string): Readonly<Record<string, unknown>> | undefined
}

interface SendTestDeps extends Omit<AcceptDeps, 'webhooks' | 'directory'>, SampleDeps {
  readonly webhooks: Pick<WebhookStore, 'read'>
}

/** The kind of event whose sample is sent to a webhook: of `all`, the first of `only`, or `channel_create`. */
export function sampledHook({ hook, only }: Pick<WebhookSettings, 'hook' | 'only'>): string {
  return hook === ALL_HOOKS ? (only?.[0] ?? 'channel_create') : hook
}

/**
 * The sample of a kind of event, as if it happened now in this account.
 *
 * @throws `Conflict` for a kind that is not in the catalogue
 */
export function sampleEvent(deps: SampleDeps, accountId: string, hook: string): CheckedEvent {
  const now = deps.clock.now()
  const sample = deps.sampleOf(hook)
  if (!sample) throw new HookswitchError('Conflict', `'${hook}' is not a registered event`, { field: 'hook' })
  const input = { ...sample, accountId, timestampMs: now }
  return isMetaHook(hook)
    ? (input as unknown as CheckedEvent)
    : checkEvent(input, now, deps.isKnownHook, deps.knownHooks, deps.customKinds)
}

/**
 * Sends the sample of a webhook's hook to it now (`all`: of the first of `only`, or a `channel_create`), also
 * while the webhook is disabled or its filter would not let the sample pass. The test has its own lane and takes no sequence number of a call.
 *
 * @returns the delivery's id
 * @throws `NotFound`, `Conflict` for a kind that is no longer in the catalogue, `QueueFull`,
 *   `StoreUnavailable`
 */
export async function sendTest(deps: SendTestDeps, accountId: string, webhookId: string): Promise<string> {
  const webhook = await deps.webhooks.read(accountId, webhookId)
  if (!webhook) throw notFound(webhookId, 'webhook')
  const event = sampleEvent(deps, accountId, sampledHook(webhook.settings))
  const eventId = deps.newId()
  const deliveryId = firstDeliveryId(eventId, 0)
  const payload = samplePayload(event, eventId, 1)
  const bodies = createBodyVariants(payload, JSON.stringify(payload), false)
  const variant = bodies.indexFor(webhook.settings)
  const { callId, timestampMs } = event
  await deps.accept({
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
    deliveries: [buildDelivery(deliveryId, event, eventId, webhook, variant, `${TEST_LANE}${deliveryId}`)],
  })
  countDeliveries(deps, 1)
  return deliveryId
}
