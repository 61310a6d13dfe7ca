/** Rows of the memory store as readers see them. */
import { laneKey } from '../../delivery/lane-key.js'
import type { Delivery, DeliveryState } from '../../delivery/lifecycle.js'
import type { WaitingDeliveries } from '../../delivery/queue-store.js'
import { laneKindOf, laneName } from '../engine/lanes.js'
import type { Row } from './state.js'

/** The state as readers see it (`effectiveState`). */
export function effectiveStateName(row: Row): DeliveryState {
  return row.state === 'waiting' && row.source.epoch < row.endpoint.webhook.epoch ? 'cancelled' : row.state
}

type MutableDelivery = { -readonly [Name in keyof Delivery]: Delivery[Name] }

/** A copy of the stored delivery, without a due time. */
export function deliveryOf(row: Row): MutableDelivery {
  const { source } = row
  const kind = laneKindOf(source.lane)
  const copy: MutableDelivery = {
    id: source.id,
    accountId: source.accountId,
    webhookId: source.webhookId,
    eventId: source.eventId,
    eventAccountId: source.eventAccountId,
    hook: source.hook,
    eventTimestampMs: source.eventTimestampMs,
    variant: source.variant,
    encoding: source.encoding,
    httpVerb: source.httpVerb,
    lane: laneName(kind, kind === 2 ? laneKey(source.lane) : 0, source),
    epoch: source.epoch,
    state: row.state,
    attempts: row.attempts,
    tries: row.tries,
    interruptions: row.interruptions,
    acceptedMs: row.accepted.ms,
  }
  if (source.callId !== undefined) copy.callId = source.callId
  if (source.replayOf !== undefined) copy.replayOf = source.replayOf
  if (source.originalPosition !== undefined) copy.originalPosition = source.originalPosition
  if (row.reason !== undefined) copy.reason = row.reason
  if (row.failed) copy.failedMs = row.failed.ms
  if (row.ended) copy.endedMs = row.ended.ms
  return copy
}

export function bodyOf({ event, source }: Row): string {
  return event.bodies[source.variant]!
}

/** Waiting deliveries, column by column. */
function columnsOf(rows: readonly Row[]): WaitingDeliveries {
  const count = rows.length
  const webhookIds: string[] = []
  const indexes = new Map<string, number>()
  const columns = {
    webhook: new Uint32Array(count),
    position: new Float64Array(count),
    lane: new Float64Array(count),
    sequence: new Uint32Array(count),
    dueMs: new Float64Array(count),
    epoch: new Uint32Array(count),
    attempts: new Uint32Array(count),
    tries: new Uint32Array(count),
    interruptions: new Uint8Array(count),
    failedMs: new Float64Array(count),
  }
  for (let index = 0; index < count; index += 1) {
    const row = rows[index]!
    const { webhookId, lane, epoch } = row.source
    let webhook = indexes.get(webhookId)
    if (webhook === undefined) {
      webhook = webhookIds.push(webhookId) - 1
      indexes.set(webhookId, webhook)
    }
    columns.webhook[index] = webhook
    columns.position[index] = row.position
    columns.lane[index] = laneKey(lane)
    columns.sequence[index] = row.sequence
    columns.dueMs[index] = row.due?.ms ?? 0
    columns.epoch[index] = epoch
    columns.attempts[index] = row.attempts
    columns.tries[index] = row.tries
    columns.interruptions[index] = row.interruptions
    columns.failedMs[index] = row.failed?.ms ?? 0
  }
  return { count, webhookIds, ...columns }
}

const NO_ROWS = columnsOf([])

/** As `columnsOf`. Most polls find nothing, and then nothing is allocated. */
export const toColumns = (rows: readonly Row[]): WaitingDeliveries =>
  rows.length === 0 ? NO_ROWS : columnsOf(rows)
