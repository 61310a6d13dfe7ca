/** A service that answers with the request record that it was handed. */
import { createHash } from 'node:crypto'
import type { HttpService, RequestRecord, ResponseRecord } from 'hookswitch'

/** What every face answers for a path that is not ours. */
export const FOREIGN = 'a path of the host'

/** Status of the answer for a body that could not be read. */
const PROBLEMS = { too_large: 413, too_slow: 408 }

/**
 * @param exact true: the bytes of the body count; false: only its JSON value, where it has one, which is all that a
 * body parser before us leaves
 */
export function echoService(exact: boolean): HttpService {
  const owns = (url: string) => /^\/v[12](?:[/?#]|$)/.test(url)
  return {
    owns,
    handle: async (request) => {
      if (!owns(request.url)) return answer(request, 404, 'text/plain', FOREIGN)
      const seen = JSON.stringify({
        method: request.method,
        url: request.url,
        headers: Object.entries(request.headers).sort(([a], [b]) => (a < b ? -1 : 1)),
        payload: exact ? exactly(request) : loosely(request),
        bodyProblem: request.bodyProblem,
        remote: request.remoteAddress?.replace('::ffff:', ''),
        mountPrefix: request.mountPrefix,
      })
      return answer(
        request,
        request.bodyProblem ? PROBLEMS[request.bodyProblem] : 200,
        'application/json',
        seen,
      )
    },
  }
}

function answer(request: RequestRecord, status: number, type: string, body: string): ResponseRecord {
  return {
    status,
    headers: {
      'content-type': type,
      'content-length': String(Buffer.byteLength(body)),
      // what was seen, told also where the body of the answer is left out
      ...(body === FOREIGN ? {} : { 'x-seen': digest(body) }),
    },
    body: request.method === 'HEAD' ? '' : body,
  }
}

function exactly({ body, parsedBody }: RequestRecord): unknown {
  if (parsedBody !== undefined) return { parsedBody }
  return body && { length: body.length, digest: digest(body) }
}

function loosely({ body, parsedBody }: RequestRecord): unknown {
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
