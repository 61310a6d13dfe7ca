/**
 * Attempt records as durable stores keep them: without the fields of the delivery, its event and its webhook, and with the
 * request in two parts. Most attempts of a webhook share the first part. A tenth of the time and a fifth of the bytes of
 * the record as JSON.
 */
import type { AttemptRecord } from '../../delivery/attempt-record.js'

/** The parts of a record. */
export interface RecordParts {
  /** When the request was sent, or when the end was decided: wall clock, Unix ms. */
  readonly atMs: number
  /**
   * URL, method, and then name and value of each request header, one per line. Names and values of the service, and values
   * that other columns contain, are single control characters; an empty value is in `doc`.
   */
  readonly request: string
  /** JSON array, see `Doc`. Begins with `[1` for a success. */
  readonly doc: string
}

/** The fields of a record that the rows of its delivery contain. */
export type RecordContext = Pick<
  AttemptRecord,
  'accountId' | 'webhookId' | 'hook' | 'eventId' | 'deliveryId' | 'callId'
>

type Optional<Value> = Value | null | undefined

type Doc = readonly [
  isSuccess: 0 | 1,
  id: string,
  retriesLeft: number,
  attempt: Optional<number>,
  status: Optional<number>,
  durationMs: Optional<number>,
  responseHeaders: Optional<readonly string[]>,
  responseBody: Optional<string>,
  /** The values of request headers that `request` leaves out; absent: there are no request headers. */
  requestValues: Optional<readonly string[]>,
  reason: Optional<string>,
  clientError: Optional<string>,
  /** This and what follows is left out where all of it is absent. */
  cause?: Optional<string>,
  detail?: Optional<string>,
  /** Sum of `OUT_OF_ORDER` and `LATE`. */
  flags?: number,
]

const OUT_OF_ORDER = 1
const LATE = 2

const REDACTED = '[redacted]'
const SEPARATOR = '\n'

/** Headers that the service sets: their codes are 1, 2, …; part of the schema. Code 10 is the separator. */
const NAMES: readonly string[] = [
  '',
  'accept-encoding',
  'X-Hook-ID',
  'X-Account-ID',
  'User-Agent',
  'Accept',
  'X-Hook-Event',
  'X-Hook-Attempt',
  'webhook-id',
  'webhook-timestamp',
  '',
  'webhook-signature',
  'Content-Type',
  'traceparent',
]

/** Values that the service sets: their codes follow those of the context; part of the schema. */
const VALUES: readonly string[] = [
  REDACTED,
  'identity',
  '*/*',
  'application/json',
  'application/x-www-form-urlencoded',
]
const FIRST_VALUE = 11

/** Headers whose other values are the same in most requests of a webhook. */
const COMMON_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'User-Agent',
  'Accept',
  'Content-Type',
])

const codesOf = (texts: readonly string[], first: number): ReadonlyMap<string, string> =>
  new Map(
    texts
      .map((text, index): [string, string] => [text, String.fromCharCode(first + index)])
      .filter(([text]) => text),
  )
const NAME_CODES = codesOf(NAMES, 0)
const VALUE_CODES = codesOf(VALUES, FIRST_VALUE)

/** The values of the context, by their codes: 1, 2, …; part of the schema. */
function contextValues(
  { accountId, webhookId, hook, eventId, deliveryId, callId = '' }: RecordContext,
  attempt: Optional<number>,
  atMs: number,
): readonly string[] {
  return [
    '',
    webhookId,
    accountId,
    hook,
    `${attempt}`,
    deliveryId,
    `${Math.floor(atMs / 1000)}`,
    eventId,
    callId,
  ]
}

/** The parts of a record, as durable stores keep them. */
export function encodeRecord(record: AttemptRecord): RecordParts {
  const { id, uri, method, attempt, retriesLeft, status, durationMs, reason, clientError, atMs } = record
  const { responseHeaders, responseBody, requestHeaders, cause, detail } = record
  const flags = (record.outOfOrder ? OUT_OF_ORDER : 0) + (record.late ? LATE : 0)
  let request = uri + SEPARATOR + method
  let values: string[] | undefined
  if (requestHeaders) {
    values = []
    const known = contextValues(record, attempt, atMs)
    for (let index = 0; index + 1 < requestHeaders.length; index += 2) {
      const name = requestHeaders[index]!
      const value = requestHeaders[index + 1]!
      request += SEPARATOR + (NAME_CODES.get(name) ?? name) + SEPARATOR
      const code = VALUE_CODES.get(value) ?? contextCode(known, value)
      if (code !== undefined) request += code
      else if (isCommon(name, value)) request += value
      else values.push(value)
    }
  }
  const doc: Doc = [
    record.result === 'success' ? 1 : 0,
    id,
    retriesLeft,
    attempt,
    status,
    durationMs,
    responseHeaders,
    responseBody,
    values,
    reason,
    clientError,
  ]
  const hasMore = cause !== undefined || detail !== undefined || flags > 0
  return { atMs, request, doc: JSON.stringify(hasMore ? [...doc, cause, detail, flags] : doc) }
}

function contextCode(known: readonly string[], value: string): string | undefined {
  const index = value === '' ? -1 : known.indexOf(value)
  return index > 0 ? String.fromCharCode(index) : undefined
}

/** One character would be read as a code. */
function isCommon(name: string, value: string): boolean {
  return COMMON_HEADERS.has(name) && value.length > 1 && !value.includes(SEPARATOR)
}

type MutableRecord = { -readonly [Name in keyof AttemptRecord]: AttemptRecord[Name] }

/**
 * The record of these parts.
 *
 * @param context what the rows of its delivery contain
 */
export function decodeRecord({ atMs, request, doc }: RecordParts, context: RecordContext): AttemptRecord {
  const [
    isSuccess,
    id,
    retriesLeft,
    attempt,
    status,
    durationMs,
    headers,
    body,
    values,
    reason,
    clientError,
    cause,
    detail,
    flags = 0,
  ] = JSON.parse(doc) as Doc
  const [uri = '', method = '', ...lines] = request.split(SEPARATOR)
  const { accountId, webhookId, hook, eventId, deliveryId, callId } = context
  const record: MutableRecord = {
    id,
    accountId,
    webhookId,
    hook,
    eventId,
    deliveryId,
    uri,
    method,
    retriesLeft,
    result: isSuccess === 1 ? 'success' : 'failure',
    atMs,
  }
  if (callId !== undefined) record.callId = callId
  if (isPresent(attempt)) record.attempt = attempt
  if (isPresent(reason)) record.reason = reason
  if (isPresent(clientError)) record.clientError = clientError
  if (isPresent(cause)) record.cause = cause
  if (isPresent(detail)) record.detail = detail
  if (flags & OUT_OF_ORDER) record.outOfOrder = true
  if (flags & LATE) record.late = true
  if (isPresent(status)) record.status = status
  if (isPresent(headers)) record.responseHeaders = headers
  if (isPresent(body)) record.responseBody = body
  if (isPresent(durationMs)) record.durationMs = durationMs
  if (isPresent(values)) {
    const known = contextValues(context, attempt, atMs)
    let next = 0
    record.requestHeaders = lines.map((line, index) => {
      const code = line.length === 1 ? line.charCodeAt(0) : 0
      if (index % 2 === 0) return NAMES[code] || line
      if (line === '') return values[next++]!
      return code === 0 ? line : (known[code] ?? VALUES[code - FIRST_VALUE]!)
    })
  }
  return record
}

const isPresent = <Value>(value: Optional<Value>): value is Value => value !== null && value !== undefined
