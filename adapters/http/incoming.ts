/** What all HTTP adapters read alike from a request, so that every one of them makes the same record of it. */
import {
  errorResponse,
  type HttpService,
  MAX_BODY_BYTES,
  REFUSAL_NAMES,
  type RequestRecord,
  type ResponseRecord,
} from 'hookswitch'

/** Longest time in milliseconds that the body of a request may take (RFC 9110 15.5.9: 408). */
export const BODY_TIMEOUT_MS = 30_000

/** `gone`: the client went away before its body was complete, so there is nobody to answer. */
export type ReadBody = Pick<RequestRecord, 'body' | 'bodyProblem'> | 'gone'

/** Path and query of a request target as sent; an absolute one (RFC 9112 3.2.2) loses its scheme and authority. */
export function requestPath(target: string): string {
  if (target.startsWith('/')) return target
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target)
  if (absolute === null) return target
  const rest = target.slice(absolute[0].length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/**
 * Headers, names and values in turn as in Node's `rawHeaders` (its `headers` drops what was sent twice), as a record
 * with lower-case names. What was sent twice is joined with ', ', as RFC 9110 5.3 has it and as
 * `Headers` of fetch does. Only `x-auth-token` stays a list, for two different tokens are refused; a token has no comma.
 */
export function headerRecord(rawHeaders: readonly string[]): RequestRecord['headers'] {
  // without a prototype: a client may call a header `__proto__` or `constructor`
  const record: Record<string, string | string[]> = Object.create(null)
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    // pseudo-headers of HTTP/2: method and path, told elsewhere
    if (name.startsWith(':')) continue
    const value = rawHeaders[at + 1]!
    const before = record[name]
    record[name] = before === undefined ? value : `${before}, ${value}`
  }
  const tokens = record['x-auth-token']
  if (typeof tokens === 'string' && tokens.includes(',')) {
    record['x-auth-token'] = tokens.split(',').map((token) => token.trim())
  }
  return record
}

/** True where the announced length alone says that a body is too large, so that not a byte of it need be read. */
export function announcesTooMuch(headers: RequestRecord['headers']): boolean {
  return Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES
}

/** An error of the transport in our JSON envelope; a client parses what it gets, whoever refused it. */
export function refusal(
  hs: HttpService,
  status: number,
  details: { data?: Record<string, unknown>; headers?: Record<string, string> } = {},
): ResponseRecord {
  return errorResponse(status, REFUSAL_NAMES[status] ?? 'validation error', {
    ...details,
    ...(hs.node === undefined ? {} : { node: hs.node }),
    requestId: crypto.randomUUID().replaceAll('-', ''),
    timestamp: new Date().toISOString(),
  })
}

/** `hs.handle`, but what it throws (it does not) is an answer too, and tells nothing. */
export async function handled(hs: HttpService, request: RequestRecord): Promise<ResponseRecord> {
  try {
    return await hs.handle(request)
  } catch {
    return refusal(hs, 500)
  }
}
