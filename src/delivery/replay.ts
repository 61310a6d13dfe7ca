/** Replays ended deliveries: sends them again as new deliveries. */
import { HookswitchError, invalidInput, notFound } from '../errors.js'
import type { Metrics } from '../metrics.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'
import { countDeliveries } from './accept.js'
import { replayId } from './delivery-ids.js'
import type { StoredDelivery } from './delivery-queries.js'
import type { Acceptance, DeliveryReads, NewDelivery } from './delivery-store.js'
import { type DeliveryState, isTerminal } from './lifecycle.js'

export interface ReplayDeps {
  readonly webhooks: Pick<WebhookStore, 'read'>
  readonly deliveries: Pick<DeliveryReads, 'delivery' | 'deliveries'>
  accept(acceptance: Acceptance): Promise<unknown>
  newId(): string
  readonly metrics?: Pick<Metrics, 'count'>
}

/** One delivery, or those that were accepted in a time range (Unix ms, inclusive) and ended with a result. */
export type ReplayRequest =
  | { readonly deliveryId: string }
  | {
      readonly createdFromMs?: number
      readonly createdToMs?: number
      /**
       * `success`, `failure` (any other end), or a state: `delivered`, `exhausted`, `expired`, `cancelled`,
       * `quarantined`. Absent: all.
       */
      readonly result?: string
    }

/** Maximum number of deliveries that one request replays. */
export const MAX_REPLAYS = 1000

const TERMINAL: readonly DeliveryState[] = ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined']
const RESULTS: ReadonlyMap<string, readonly DeliveryState[]> = new Map<string, readonly DeliveryState[]>([
  ['success', ['delivered']],
  ['failure', TERMINAL.filter((state) => state !== 'delivered')],
  ...TERMINAL.map((state) => [state, [state]] as const),
])

/** What `ReplayRequest.result` may be: a result, or a state in which a delivery ends. */
export const REPLAY_RESULTS: readonly string[] = [...RESULTS.keys()]

function unknownResult(value: string | undefined): HookswitchError {
  const message = 'Value not found in enumerated list of values'
  return invalidInput([{ path: 'result', rule: 'enum', message, target: REPLAY_RESULTS, value }])
}

async function selectDeliveries(
  deps: ReplayDeps,
  accountId: string,
  webhookId: string,
  request: ReplayRequest,
): Promise<readonly StoredDelivery[]> {
  if ('deliveryId' in request) {
    const delivery = await deps.deliveries.delivery(accountId, request.deliveryId)
    if (!delivery || delivery.webhookId !== webhookId) throw notFound(request.deliveryId, 'delivery')
    if (!isTerminal(delivery.state)) throw new HookswitchError('Conflict', 'this delivery has not ended yet')
    return [delivery]
  }
  const { createdFromMs, createdToMs, result } = request
  const states = result === undefined ? TERMINAL : RESULTS.get(result)
  if (!states) throw unknownResult(result)
  return deps.deliveries.deliveries({
    accountId,
    webhookId,
    states,
    ascending: true,
    limit: MAX_REPLAYS,
    ...(createdFromMs === undefined ? {} : { fromMs: createdFromMs }),
    ...(createdToMs === undefined ? {} : { toMs: createdToMs }),
  })
}

/**
 * Replays ended deliveries. The new deliveries have new ids and the same bytes, refer to the old ones, and
 * are sent in the order of the old ones, in one lane.
 *
 * @returns the ids of the new deliveries
 * @throws `NotFound`, `InvalidInput` for an unknown result, `Conflict` for a delivery that has not ended or a
 *   webhook that is disabled, `QueueFull`, `StoreUnavailable`
 */
export async function replayDeliveries(
  deps: ReplayDeps,
  accountId: string,
  webhookId: string,
  request: ReplayRequest,
  maxPending: number,
): Promise<readonly string[]> {
  const webhook = await deps.webhooks.read(accountId, webhookId)
  if (!webhook) throw notFound(webhookId, 'webhook')
  if (!webhook.settings.enabled)
    throw new HookswitchError('Conflict', 'the webhook is disabled', { field: 'enabled' })
  const lane = `replay/${deps.newId()}`
  const deliveries = (await selectDeliveries(deps, accountId, webhookId, request)).map((old): NewDelivery => {
    const { eventId, eventAccountId, callId, hook, eventTimestampMs, variant, encoding, httpVerb } = old
    return {
      id: replayId(eventId, deps.newId()),
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
      epoch: webhook.epoch,
      replayOf: old.id,
      ...(callId === undefined ? {} : { callId }),
    }
  })
  if (deliveries.length > 0) await deps.accept({ events: [], deliveries, maxPending })
  countDeliveries(deps, deliveries.length)
  return deliveries.map(({ id }) => id)
}
