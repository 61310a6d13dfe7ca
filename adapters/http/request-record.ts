/** Builds request records, so that all HTTP adapters do it alike. */
import {
  type BodyAdmission,
  ERROR_NAMES,
  errorResponse,
  type HttpService,
  MAX_BODY_BYTES,
  type RequestHead,
  type RequestRecord,
  type ResponseRecord,
} from 'hookswitch/adapter'

/** Default time limit for a request body in milliseconds; then 408 (RFC 9110, section 15.5.9). */
export const BODY_TIMEOUT_MS = 30_000

/** The body or its problem; `aborted`: the client disconnected before its body was complete. */
export type BodyResult = Pick<RequestRecord, 'body' | 'bodyProblem'> | 'aborted'

/** Returns path and query of a request target; removes scheme and authority of the absolute form (RFC 9112, 3.2.2). */
export function requestPath(target: string): string {
  if (target.startsWith('/')) return target
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target)
  if (absolute === null) return target
  const rest = target.slice(absolute[0].length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/**
 * Converts headers to a record with lower-case names. Repeated headers are joined with ', ' (RFC 9110, section 5.3), as
 * the `Headers` class of fetch does. `x-auth-token` becomes an array, because two different tokens are an error; a
 * token never contains a comma.
 *
 * @param rawHeaders alternating names and values, like Node's `rawHeaders` (its `headers` drops some repeated headers)
 */
export function headerRecord(rawHeaders: readonly string[]): RequestRecord['headers'] {
  // No prototype: a client may send a header named `__proto__` or `constructor`.
  const record: Record<string, string | string[]> = Object.create(null)
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase()
    // HTTP/2 pseudo-headers: method and path are read elsewhere.
    if (name.startsWith(':')) continue
    const value = rawHeaders[index + 1]!
    const previous = record[name]
    record[name] = previous === undefined ? value : `${previous}, ${value}`
  }
  const tokens = record['x-auth-token']
  if (typeof tokens === 'string' && tokens.includes(',')) {
    record['x-auth-token'] = tokens.split(',').map((token) => token.trim())
  }
  return record
}

/** The limit of request headers on a server whose own limit is higher, in bytes. */
const MAX_HEADER_BYTES = 16_384

/**
 * Returns whether the headers of a request are above 16 KiB; then 431.
 *
 * @param rawHeaders alternating names and values
 */
export function hasTooLargeHeaders(rawHeaders: readonly string[]): boolean {
  // Each pair has four more bytes on the wire: `: ` and the end of the line.
  let bytes = 0
  for (const text of rawHeaders) bytes += text.length + 2
  return bytes > MAX_HEADER_BYTES
}

/** Returns whether the declared content length is above the limit, so that the body need not be read. */
export function isDeclaredTooLarge(headers: RequestRecord['headers'], maxBytes: number): boolean {
  return Number(headers['content-length'] ?? 0) > maxBytes
}

/** Admits the body of a request. A service that does not do so itself gets every body up to 1 MiB. */
export function admitBody(hs: HttpService, head: RequestHead): BodyAdmission {
  if (hs.admitBody) return hs.admitBody(head)
  let size = 0
  return {
    maxBytes: MAX_BODY_BYTES,
    excess: 'too_large',
    take(bytes) {
      size += bytes
      return size > MAX_BODY_BYTES ? 'too_large' : undefined
    },
    end() {},
  }
}

/** Builds the response to an error of the transport, in the JSON envelope, because clients parse every response. */
export function transportError(
  hs: HttpService,
  status: number,
  details: { data?: Record<string, unknown>; headers?: Record<string, string> } = {},
): ResponseRecord {
  return errorResponse(status, ERROR_NAMES[status] ?? 'validation error', {
    ...details,
    ...(hs.node === undefined ? {} : { node: hs.node }),
    requestId: crypto.randomUUID().replaceAll('-', ''),
    timestamp: new Date().toISOString(),
  })
}

export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] }

/** A request with its body, to which nothing else refers. @param body becomes the request */
export function withBody(head: RequestRecord, body: Partial<RequestRecord>): RequestRecord {
  const record: Mutable<RequestRecord> = Object.assign(body, head)
  record.dropBody = () => {
    delete record.body
    delete record.parsedBody
  }
  return record
}

/** Calls `hs.handle`. If it throws (an `HttpService` must not), the response is a 500 without details. */
export async function handleRequest(hs: HttpService, request: RequestRecord): Promise<ResponseRecord> {
  try {
    return await hs.handle(request)
  } catch {
    return transportError(hs, 500)
  }
}
