/** JSON of commands and their results. */
import type { Failure } from '../errors.js'
import { fromGregorian } from '../values/gregorian-time.js'
import type { JsonObject } from './webhook-json.js'

/** The deliveries to send again. */
export type ReplaySelection =
  | { readonly deliveryId: string }
  | {
      readonly createdFromMs?: number
      readonly createdToMs?: number
      readonly result?: 'success' | 'failure'
    }

/** Parses the body of a replay, already validated by its schema. Times are whole seconds; both ends are inclusive. */
export function parseReplay(data: unknown): ReplaySelection {
  const { delivery_id: deliveryId, ...range } = data as {
    delivery_id?: string
    created_from?: number
    created_to?: number
    result?: 'success' | 'failure'
  }
  if (deliveryId !== undefined) return { deliveryId }
  return {
    ...(range.created_from === undefined ? {} : { createdFromMs: fromGregorian(range.created_from) }),
    ...(range.created_to === undefined ? {} : { createdToMs: fromGregorian(range.created_to) + 999 }),
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
