/** Replays ended deliveries: sends them again as new deliveries. */
import { HookswitchError, notFound } from '../errors.js'
import type { Metrics } from '../metrics.js'
import { sha256 } from '../values/hash.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'
import { countDeliveries } from './accept.js'
import { replayId } from './delivery-ids.js'
import type { StoredDelivery } from './delivery-queries.js'
import type { Acceptance, DeliveryReads, NewDelivery } from './delivery-store.js'
import { UNORDERED_LANE } from './lane-key.js'
import { isTerminal } from './lifecycle.js'

interface ReplayDeps {
  readonly webhooks: Pick<WebhookStore, 'read'>
  readonly deliveries: Pick<DeliveryReads, 'delivery'>
  accept(acceptance: Acceptance): Promise<unknown>
  newId(): string
  readonly metrics?: Pick<Metrics, 'count'>
}

/** A replay has the bytes of its original, another id and another lane, and refers to the original. */
function replayOf(
  old: StoredDelivery,
  { epoch }: Pick<Webhook, 'epoch'>,
  id: string,
  lane: string,
): NewDelivery {
  const { accountId, webhookId, eventId, eventAccountId, callId, hook, eventTimestampMs } = old
  const { variant, encoding, httpVerb } = old
  return {
    id,
    accountId,
    webhookId,
    eventId,
    eventAccountId,
    hook,
    eventTimestampMs,
    variant,
    encoding,
    httpVerb,
    lane,
    epoch,
    replayOf: old.replayOf ?? old.id,
    originalPosition: old.originalPosition ?? old.position,
    ...(callId === undefined ? {} : { callId }),
  }
}

/**
 * The replay of a delivery by a job. Its id follows from the original and its newest replay: of two jobs that replay the same
 * delivery at the same time, the second one is refused. Replays of one call are sent in their order, as far as the originals
 * were.
 *
 * @param salt 0, or another number if a replay of another delivery has the id: 28 of its bits are free
 */
export function replayByJob(
  old: StoredDelivery,
  webhook: Pick<Webhook, 'epoch'>,
  job: string,
  salt: number,
): NewDelivery {
  const seed = `${old.webhookId}/${old.id}/${old.replays?.lastId ?? ''}/${salt}`
  const id = replayId(old.eventId, sha256(seed).slice(0, 32))
  const isOrdered = old.callId !== undefined && !old.lane.startsWith(UNORDERED_LANE)
  const lane = isOrdered ? `replay/${job}/${old.eventAccountId}/${old.callId}` : `replay/${id}`
  return replayOf(old, webhook, id, lane)
}

/**
 * Replays one ended delivery, recovered or not. The replay of a replay repeats the original.
 *
 * @returns the id of the new delivery
 * @throws `NotFound`, `Conflict` for a delivery that has not ended or a webhook that is disabled, `QueueFull`,
 *   `StoreUnavailable`
 */
export async function replayDelivery(
  deps: ReplayDeps,
  accountId: string,
  webhookId: string,
  deliveryId: string,
): Promise<string> {
  const webhook = await deps.webhooks.read(accountId, webhookId)
  if (!webhook) throw notFound(webhookId, 'webhook')
  if (!webhook.settings.enabled) throw webhookDisabled()
  const delivery = await deps.deliveries.delivery(accountId, deliveryId)
  if (!delivery || delivery.webhookId !== webhookId) throw notFound(deliveryId, 'delivery')
  if (!isTerminal(delivery.state)) throw new HookswitchError('Conflict', 'this delivery has not ended yet')
  const id = replayId(delivery.eventId, deps.newId())
  await deps.accept({ events: [], deliveries: [replayOf(delivery, webhook, id, `replay/${id}`)] })
  countDeliveries(deps, 1)
  return id
}

export const webhookDisabled = () =>
  new HookswitchError('Conflict', 'the webhook is disabled', { field: 'enabled' })
