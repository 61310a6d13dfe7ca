/** The JSON envelope of every response (KAZOO). */
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
interface SuccessExtras {
  readonly revision?: string | undefined
  /** Present for lists. */
  readonly page?: PageFields | undefined
  /** The `start_key` that the client sent. */
  readonly startKey?: string | undefined
  /** Present only if there are any. */
  readonly warnings?: readonly FieldWarning[] | undefined
}

/** What the envelope says of a page. */
export interface PageFields {
  /** Number of items of this page, `page_size`. */
  readonly count: number
  readonly nextStartKey?: string | undefined
  /** True: there is more, and no next page. */
  readonly isTruncated?: true | undefined
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
    page_size: extras.page?.count,
    start_key: extras.startKey,
    next_start_key: extras.page?.nextStartKey,
    truncated: extras.page?.isTruncated,
    metadata: extras.warnings && { warnings: extras.warnings },
  }
}

/** The JSON text of a list in its envelope, in parts: items are joined by commas, and a long list is never one text. */
interface ListText {
  /** The text before the items. */
  readonly open: string
  item(json: unknown): string
  /** The text after the items. */
  close(page: PageFields, startKey: string | undefined): string
}

/** The same text as `serializeSuccess` of all items. */
export function listText(fields: EnvelopeFields): ListText {
  const isIndented = fields.indent === true
  const [line, end] = isIndented ? ['\n    ', '\n  '] : ['', '']
  return {
    open: isIndented ? `{\n  "data": [` : '{"data":[',
    // A line break in JSON text is never part of a string.
    item: (json) =>
      isIndented ? line + stringify(json, true).replaceAll('\n', line) : stringify(json, false),
    close(page, startKey) {
      const rest = stringify(successEnvelope(undefined, fields, { page, startKey }), fields.indent).slice(1)
      return `${page.count > 0 ? end : ''}],${rest}`
    },
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
