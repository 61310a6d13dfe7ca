/** JSON of commands and their results. */
import type { MatchReport } from '../delivery/match-report.js'
import type { RequestPreview } from '../delivery/preview.js'
import { type Failure, invalidInput } from '../errors.js'
import { toIsoTime } from '../values/iso-time.js'
import { MAX_FAILURES } from '../values/schema-failures.js'
import type { CheckedAddress } from '../webhooks/address-check.js'
import { headersJson } from './attempt-json.js'
import type { JsonObject } from './webhook-json.js'

export const testJson = (deliveryId: string): JsonObject => ({ delivery_id: deliveryId })
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
export const checkedAddressJson = ({ isOk, tls, ...rest }: CheckedAddress): JsonObject => ({
  ok: isOk,
  ...rest,
  tls: tls && { valid_to: toIsoTime(tls.validToMs) },
})
export const publishedJson = (eventIds: readonly string[]): JsonObject => ({ event_ids: eventIds })
export const secretJson = (secret: string): JsonObject => ({ secret })

/** The fields of an erasure on the wire. */
const ERASE_FIELDS = ['call_id', 'number']

/** Monster UI adds it to every request that changes something. */
export const UI_METADATA = 'ui_metadata'

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
