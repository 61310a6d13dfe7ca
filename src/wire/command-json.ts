/** JSON of commands and their results. */
import type { MatchReport } from '../delivery/match-report.js'
import type { RequestPreview } from '../delivery/preview.js'
import type { ReplayCount, Replayed, ReplayRequest } from '../delivery/replay.js'
import { type Failure, invalidInput } from '../errors.js'
import { MAX_FAILURES } from '../values/schema-failures.js'
import { headersJson } from './attempt-json.js'
import { decodeReplayCursor, encodeReplayCursor } from './cursor.js'
import { isFailure, parseTime, type TimeSpan } from './time.js'
import type { JsonObject } from './webhook-json.js'

/** The body of a replay. */
export interface ParsedReplay {
  readonly request: ReplayRequest
  /** Only the number of deliveries is wanted. */
  readonly isDryRun: boolean
}

/**
 * Parses the body of a replay, already validated by its schema. Both ends of a range are inclusive. `created_from` may be
 * the `next_from` of an earlier response.
 *
 * @throws `InvalidInput` for a time that is neither Gregorian seconds nor ISO 8601
 */
export function parseReplay(data: unknown): ParsedReplay {
  const {
    delivery_id: deliveryId,
    dry_run: isDryRun = false,
    ...range
  } = data as {
    delivery_id?: string
    dry_run?: boolean
    created_from?: unknown
    created_to?: unknown
    result?: string
  }
  if (deliveryId !== undefined) return { request: { deliveryId }, isDryRun }
  const after = typeof range.created_from === 'string' ? decodeReplayCursor(range.created_from) : undefined
  const hasTime = range.created_from !== undefined && !after
  const from = hasTime ? parseTime('created_from', range.created_from) : undefined
  const to = range.created_to === undefined ? undefined : parseTime('created_to', range.created_to)
  const failures = [from, to].filter((parsed) => parsed !== undefined && isFailure(parsed)) as Failure[]
  if (failures.length > 0) throw invalidInput(failures)
  const request = {
    ...(from && { createdFromMs: (from as TimeSpan).firstMs }),
    ...(to && { createdToMs: (to as TimeSpan).lastMs }),
    ...(range.result === undefined ? {} : { result: range.result }),
    ...(after && { after }),
  }
  return { request, isDryRun }
}

export const testJson = (deliveryId: string): JsonObject => ({ delivery_id: deliveryId })
export const replayJson = ({ deliveryIds, next }: Replayed): JsonObject => ({
  delivery_ids: deliveryIds,
  more: next !== undefined,
  next_from: next && encodeReplayCursor(next),
})
export const replayCountJson = ({ count, isCapped }: ReplayCount): JsonObject => ({ count, capped: isCapped })
export const matchJson = ({ id, name, isWanted, why }: MatchReport): JsonObject => ({
  id,
  name,
  wanted: isWanted,
  why,
})
export const previewJson = ({ method, uri, headers, body, curl }: RequestPreview): JsonObject => ({
  method,
  uri,
  headers: headersJson(headers),
  body,
  curl,
})
export const publishedJson = (eventIds: readonly string[]): JsonObject => ({ event_ids: eventIds })
export const secretJson = (secret: string): JsonObject => ({ secret })

/** The fields of an erasure on the wire. */
const ERASE_FIELDS = ['call_id', 'number']

/** Monster UI adds it to every request that changes something. */
const UI_METADATA = 'ui_metadata'

/**
 * Parses the body of an erasure; the operation validates the values. Without any field it selects the whole account, so
 * a misspelt field must not be ignored as on other routes. `ui_metadata` is ignored beside a field that selects calls.
 *
 * @throws `InvalidInput` naming each unknown field
 */
export function parseErase(data: Readonly<Record<string, unknown>>): {
  readonly callId?: string
  readonly number?: string
} {
  const { call_id: callId, number } = data as { call_id?: string; number?: string }
  const selection = { ...(callId !== undefined && { callId }), ...(number !== undefined && { number }) }
  const isWhole = Object.keys(selection).length === 0
  const unknown = Object.keys(data).filter(
    (name) => !ERASE_FIELDS.includes(name) && (isWhole || name !== UI_METADATA),
  )
  if (unknown.length > 0) throw invalidInput(unknown.slice(0, MAX_FAILURES).map(unknownField))
  return selection
}

const unknownField = (path: string): Failure => ({
  path,
  rule: 'additionalProperties',
  message: 'is not a field of an erasure',
  target: false,
})

/** Translates the path of a failure of an erasure to wire names. */
export const toEraseFailure = (failure: Failure): Failure =>
  failure.path === 'callId' ? { ...failure, path: 'call_id' } : failure

export const eraseJson = (erased: {
  readonly callIds?: readonly string[]
  readonly rows: number
}): JsonObject => ({ call_ids: erased.callIds, rows: erased.rows })
