/** What the replays of a delivery say of it. */
import type { DeliveryReplays } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { wholeDeliveryId } from './delivery-ids.js'
import type { DeliveryRow } from './rows.js'
import { DELIVERED } from './state-codes.js'

/** The newest replay of a delivery. */
interface ReplayRow {
  /** Null: there is none. */
  readonly position: number | null
  /** In its short form. */
  readonly id: string
  readonly acceptedMs: number
  /** How many of the replays count as recovery. */
  readonly recovered: number
}

// The other columns of a query with one `max` are those of its row.
const NEWEST = 'max(position) as position, id, accepted_ms as "acceptedMs"'

/** Parameters: key of the webhook, position of the delivery. */
const ENDED_REPLAYS_SQL = `select ${NEWEST}, sum(state = ${DELIVERED}) as recovered
  from hookswitch_attempt indexed by hookswitch_attempt_original
  where webhook = ? and event = ? and event is not null and state is not null`

/** Parameters: epoch and key of the webhook, position of the delivery. */
const WAITING_REPLAYS_SQL = `select ${NEWEST}, sum(epoch >= ?) as recovered
  from hookswitch_waiting indexed by hookswitch_waiting_original
  where webhook = ? and event = ? and event is not null`

/** Of a delivery `d`: none of its replays was delivered or waits. Parameter: epoch of the webhook. */
export const IS_NOT_RECOVERED = `not exists (
    select 1 from hookswitch_attempt r indexed by hookswitch_attempt_original
    where r.webhook = d.webhook and r.event = d.position and r.event is not null and r.state = ${DELIVERED}
  ) and not exists (
    select 1 from hookswitch_waiting r indexed by hookswitch_waiting_original
    where r.webhook = d.webhook and r.event = d.position and r.event is not null and r.epoch >= ?
  )`

/** Returns a function that reads the replays of a delivery; `undefined`: it has none, as a replay has none. */
export function createReplayReader({
  prepareQuery,
}: EngineContext): (row: DeliveryRow, epoch: number) => DeliveryReplays | undefined {
  const ended = prepareQuery<ReplayRow>(ENDED_REPLAYS_SQL)
  const waiting = prepareQuery<ReplayRow>(WAITING_REPLAYS_SQL)
  return ({ webhook, position, event, eventId }, epoch) => {
    if (event !== position) return undefined
    const found = [ended.get(webhook, position)!, waiting.get(epoch, webhook, position)!]
    const newest = found.reduce((a, b) => ((b.position ?? -1) > (a.position ?? -1) ? b : a))
    if (newest.position === null) return undefined
    return {
      lastId: wholeDeliveryId(newest.id, eventId),
      lastAcceptedMs: newest.acceptedMs,
      hasRecovered: found.some(({ recovered }) => recovered > 0),
    }
  }
}
