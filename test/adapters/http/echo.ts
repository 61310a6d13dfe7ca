/** An `HttpService` that responds with the request record it receives. */
import { createHash } from 'node:crypto'
import type { HttpService, RequestRecord, ResponseRecord } from 'hookswitch/adapter'

/** Response body for paths of the host. */
export const HOST_RESPONSE = 'a path of the host'

/** Response status for a body that the adapter could not read. */
const PROBLEM_STATUS = { too_large: 413, no_token: 401, too_slow: 408, busy: 503, address_busy: 429 }

/**
 * @param exact true: echoes the bytes of the body; false: only its JSON value, if it has one, because an earlier body
 * parser leaves no more
 */
export function echoService(exact: boolean): HttpService {
  const handlesPath = (url: string) => /^\/v[12](?:[/?#]|$)/.test(url)
  return {
    handlesPath,
    handle: async (request) => {
      if (!handlesPath(request.url)) return textResponse(request, 404, 'text/plain', HOST_RESPONSE)
      const record = JSON.stringify({
        method: request.method,
        url: request.url,
        headers: Object.entries(request.headers).sort(([a], [b]) => (a < b ? -1 : 1)),
        payload: exact ? exactPayload(request) : jsonPayload(request),
        bodyProblem: request.bodyProblem,
        remote: request.remoteAddress?.replace('::ffff:', ''),
        mountPrefix: request.mountPrefix,
      })
      return textResponse(
        request,
        request.bodyProblem ? PROBLEM_STATUS[request.bodyProblem] : 200,
        'application/json',
        record,
      )
    },
  }
}

function textResponse(request: RequestRecord, status: number, type: string, body: string): ResponseRecord {
  return {
    status,
    headers: {
      'content-type': type,
      'content-length': String(Buffer.byteLength(body)),
      // Also compares records for responses without a body.
      ...(body === HOST_RESPONSE ? {} : { 'x-record-digest': digest(body) }),
    },
    body: request.method === 'HEAD' ? '' : body,
  }
}

function exactPayload({ body, parsedBody }: RequestRecord): unknown {
  if (parsedBody !== undefined) return { parsedBody }
  return body && { length: body.length, digest: digest(body) }
}

function jsonPayload({ body, parsedBody }: RequestRecord): unknown {
  if (parsedBody !== undefined) return { json: parsedBody }
  try {
    return (
      body && {
        json: JSON.parse(
          new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(body)),
        ),
      }
    )
  } catch {
    return body && { length: body.length, digest: digest(body) }
  }
}

const digest = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex').slice(0, 16)
