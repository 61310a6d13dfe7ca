/** Replays ended deliveries: sends them again as new deliveries. */
import { HookswitchError, invalidInput, notFound } from '../errors.js'
import type { Metrics } from '../metrics.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'
import { countDeliveries } from './accept.js'
import { replayId } from './delivery-ids.js'
import type { DeliveryQuery, StoredDelivery } from './delivery-queries.js'
import type { Acceptance, DeliveryReads, NewDelivery } from './delivery-store.js'
import { type DeliveryState, isTerminal } from './lifecycle.js'

export interface ReplayDeps {
  readonly webhooks: Pick<WebhookStore, 'read'>
  readonly deliveries: Pick<DeliveryReads, 'delivery' | 'deliveries'>
  accept(acceptance: Acceptance): Promise<unknown>
  newId(): string
  /** Store time, ms. */
  storeNow(): number
  readonly metrics?: Pick<Metrics, 'count'>
}

/** Where the replay of a range continues. */
export interface ReplayCursor {
  /** Position of the last delivery that was examined. */
  readonly position: number
  /** Latest time of acceptance, in Unix milliseconds: before the first request, so that its own replays are left out. */
  readonly untilMs: number
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
      /** `Replayed.next` of the request before; the other fields stay the same. Default: from the start of the range. */
      readonly after?: ReplayCursor
    }

/** What one request replayed. */
export interface Replayed {
  /** Ids of the new deliveries, at most 1,000, in the order in which they are sent. */
  readonly deliveryIds: readonly string[]
  /** Where the next request continues (`after`). Absent: there are no more. */
  readonly next?: ReplayCursor
}

/** How many deliveries a replay would send again. */
export interface ReplayCount {
  /** Their number, at most 10,000. */
  readonly count: number
  /** True: there are more. */
  readonly isCapped: boolean
}

/** Maximum number of deliveries that one request replays. */
export const MAX_REPLAYS = 1000
/** Maximum number of deliveries that are counted. */
const MAX_COUNTED = 10_000

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

type RangeRequest = Exclude<ReplayRequest, { readonly deliveryId: string }>

/** @throws `NotFound`, `Conflict` for a delivery that has not ended */
async function readEnded(
  deps: { readonly deliveries: Pick<DeliveryReads, 'delivery'> },
  accountId: string,
  webhookId: string,
  deliveryId: string,
): Promise<StoredDelivery> {
  const delivery = await deps.deliveries.delivery(accountId, deliveryId)
  if (!delivery || delivery.webhookId !== webhookId) throw notFound(deliveryId, 'delivery')
  if (!isTerminal(delivery.state)) throw new HookswitchError('Conflict', 'this delivery has not ended yet')
  return delivery
}

/** The query of a range, oldest first. @throws `InvalidInput` for an unknown result */
function rangeQuery(
  accountId: string,
  webhookId: string,
  request: RangeRequest,
  limit: number,
): DeliveryQuery {
  const { createdFromMs, createdToMs, result, after } = request
  const states = result === undefined ? TERMINAL : RESULTS.get(result)
  if (!states) throw unknownResult(result)
  const toMs = Math.min(createdToMs ?? Number.POSITIVE_INFINITY, after?.untilMs ?? Number.POSITIVE_INFINITY)
  return {
    accountId,
    webhookId,
    states,
    ascending: true,
    limit,
    ...(createdFromMs === undefined ? {} : { fromMs: createdFromMs }),
    ...(toMs === Number.POSITIVE_INFINITY ? {} : { toMs }),
    ...(after && { cursor: after.position }),
  }
}

/** The deliveries that one request replays. */
async function selectDeliveries(
  deps: ReplayDeps,
  accountId: string,
  webhookId: string,
  request: ReplayRequest,
): Promise<{ readonly deliveries: readonly StoredDelivery[]; readonly next?: ReplayCursor }> {
  if ('deliveryId' in request)
    return { deliveries: [await readEnded(deps, accountId, webhookId, request.deliveryId)] }
  const untilMs = request.after?.untilMs ?? Math.floor(deps.storeNow()) - 1
  const found = await deps.deliveries.deliveries(rangeQuery(accountId, webhookId, request, MAX_REPLAYS + 1))
  const deliveries = found.slice(0, MAX_REPLAYS)
  if (found.length <= MAX_REPLAYS) return { deliveries }
  return { deliveries, next: { position: deliveries.at(-1)!.position, untilMs } }
}

/**
 * Counts the deliveries that a replay would send again, those of further requests included; writes nothing.
 *
 * @throws `NotFound`, `InvalidInput` for an unknown result, `Conflict` for a delivery that has not ended
 */
export async function countReplays(
  deps: {
    readonly webhooks: Pick<WebhookStore, 'read'>
    readonly deliveries: Pick<DeliveryReads, 'delivery' | 'countDeliveries'>
  },
  accountId: string,
  webhookId: string,
  request: ReplayRequest,
): Promise<ReplayCount> {
  if (!(await deps.webhooks.read(accountId, webhookId))) throw notFound(webhookId, 'webhook')
  if ('deliveryId' in request) {
    await readEnded(deps, accountId, webhookId, request.deliveryId)
    return { count: 1, isCapped: false }
  }
  const query = rangeQuery(accountId, webhookId, request, MAX_COUNTED)
  const count = await deps.deliveries.countDeliveries(query)
  return { count, isCapped: count >= MAX_COUNTED }
}

/**
 * Replays ended deliveries, at most 1,000. The new deliveries have new ids and the same bytes, refer to the old ones, and
 * are sent in the order of the old ones, in one lane.
 *
 * @throws `NotFound`, `InvalidInput` for an unknown result, `Conflict` for a delivery that has not ended or a
 *   webhook that is disabled, `QueueFull`, `StoreUnavailable`
 */
export async function replayDeliveries(
  deps: ReplayDeps,
  accountId: string,
  webhookId: string,
  request: ReplayRequest,
): Promise<Replayed> {
  const webhook = await deps.webhooks.read(accountId, webhookId)
  if (!webhook) throw notFound(webhookId, 'webhook')
  if (!webhook.settings.enabled)
    throw new HookswitchError('Conflict', 'the webhook is disabled', { field: 'enabled' })
  const lane = `replay/${deps.newId()}`
  const { deliveries: ended, ...next } = await selectDeliveries(deps, accountId, webhookId, request)
  const deliveries = ended.map((old): NewDelivery => {
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
  if (deliveries.length > 0) await deps.accept({ events: [], deliveries })
  countDeliveries(deps, deliveries.length)
  return { deliveryIds: deliveries.map(({ id }) => id), ...next }
}
