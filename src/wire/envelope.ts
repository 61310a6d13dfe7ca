/** The JSON envelope of every response (KAZOO). */
import type { Page } from './list.js'
import type { FieldWarning } from './warnings.js'

/** Envelope fields that do not depend on the result. */
export interface EnvelopeFields {
  readonly requestId: string
  /** ISO 8601, UTC. */
  readonly timestamp: string
  readonly node: string
  /** Version of this package; only for a caller with a valid token. */
  readonly version?: string | undefined
  /** The token of the request, or the one that a login issued. */
  readonly authToken?: string | undefined
  readonly indent?: boolean
}

/** Envelope fields of a success besides `data`. */
export interface SuccessExtras {
  readonly revision?: string | undefined
  /** Present for lists; `page_size` counts the items of this page. */
  readonly page?: Page | undefined
  /** The `start_key` that the client sent. */
  readonly startKey?: string | undefined
  /** Present only if there are any. */
  readonly warnings?: readonly FieldWarning[] | undefined
}

const stringify = (value: unknown, indent: boolean | undefined) =>
  indent === true ? JSON.stringify(value, null, 2) : JSON.stringify(value)

/**
 * Serializes a success. JSON omits `undefined` fields.
 *
 * @param dataJson `data` as JSON text, if it is already serialized
 */
export function serializeSuccess(
  data: unknown,
  fields: EnvelopeFields,
  extras: SuccessExtras = {},
  dataJson?: string,
): string {
  if (dataJson === undefined) return stringify(successEnvelope(data, fields, extras), fields.indent)
  if (fields.indent) return stringify(successEnvelope(JSON.parse(dataJson), fields, extras), true)
  return `{"data":${dataJson},${JSON.stringify(successEnvelope(undefined, fields, extras)).slice(1)}`
}

function successEnvelope(data: unknown, fields: EnvelopeFields, extras: SuccessExtras): object {
  return {
    data,
    status: 'success',
    auth_token: fields.authToken,
    request_id: fields.requestId,
    revision: extras.revision,
    timestamp: fields.timestamp,
    version: fields.version,
    node: fields.node,
    page_size: extras.page?.items.length,
    start_key: extras.startKey,
    next_start_key: extras.page?.nextStartKey,
    metadata: extras.warnings && { warnings: extras.warnings },
  }
}

/** Serializes an error. `data` is always an object: clients call methods on it. */
export function serializeError(
  status: number,
  name: string,
  data: Readonly<Record<string, unknown>>,
  fields: Partial<EnvelopeFields>,
): string {
  return stringify(
    {
      data,
      error: String(status),
      message: name,
      status: 'error',
      request_id: fields.requestId,
      timestamp: fields.timestamp,
      node: fields.node,
      auth_token: fields.authToken,
      version: fields.version,
    },
    fields.indent,
  )
}
