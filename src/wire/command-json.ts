/** JSON of commands and their results. */
import { type Failure, invalidInput } from '../errors.js'
import { isFailure, parseTime, type TimeSpan } from './time.js'
import type { JsonObject } from './webhook-json.js'

/** The deliveries to send again. */
export type ReplaySelection =
  | { readonly deliveryId: string }
  | {
      readonly createdFromMs?: number
      readonly createdToMs?: number
      readonly result?: string
    }

/**
 * Parses the body of a replay, already validated by its schema. Both ends of a range are inclusive.
 *
 * @throws `InvalidInput` for a time that is neither Gregorian seconds nor ISO 8601
 */
export function parseReplay(data: unknown): ReplaySelection {
  const { delivery_id: deliveryId, ...range } = data as {
    delivery_id?: string
    created_from?: unknown
    created_to?: unknown
    result?: string
  }
  if (deliveryId !== undefined) return { deliveryId }
  const from = range.created_from === undefined ? undefined : parseTime('created_from', range.created_from)
  const to = range.created_to === undefined ? undefined : parseTime('created_to', range.created_to)
  const failures = [from, to].filter((parsed) => parsed !== undefined && isFailure(parsed)) as Failure[]
  if (failures.length > 0) throw invalidInput(failures)
  return {
    ...(from && { createdFromMs: (from as TimeSpan).firstMs }),
    ...(to && { createdToMs: (to as TimeSpan).lastMs }),
    ...(range.result === undefined ? {} : { result: range.result }),
  }
}

export const testJson = (deliveryId: string): JsonObject => ({ delivery_id: deliveryId })
export const replayJson = (deliveryIds: readonly string[]): JsonObject => ({ delivery_ids: deliveryIds })
export const publishedJson = (eventIds: readonly string[]): JsonObject => ({ event_ids: eventIds })
export const secretJson = (secret: string): JsonObject => ({ secret })

/** Parses the body of an erasure; the operation validates it. */
export function parseErase(data: Readonly<Record<string, unknown>>): {
  readonly callId?: string
  readonly number?: string
} {
  const { call_id: callId, number } = data as { call_id?: string; number?: string }
  return { ...(callId !== undefined && { callId }), ...(number !== undefined && { number }) }
}

/** Translates the path of a failure of an erasure to wire names. */
export const toEraseFailure = (failure: Failure): Failure =>
  failure.path === 'callId' ? { ...failure, path: 'call_id' } : failure

export const eraseJson = (erased: {
  readonly callIds?: readonly string[]
  readonly rows: number
}): JsonObject => ({ call_ids: erased.callIds, rows: erased.rows })
