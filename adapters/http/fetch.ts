/** hookswitch for the Request and Response of the web: Hono, Bun, Deno, edge runtimes. Uses nothing of Node. */
import { HookswitchError, type HttpService, MAX_BODY_BYTES } from 'hookswitch'
import {
  announcesTooMuch,
  BODY_TIMEOUT_MS,
  handled,
  headerRecord,
  type ReadBody,
  refusal,
  requestPath,
} from './incoming.js'

/** What a Request does not tell. */
export interface FetchInfo {
  /** Address of the peer, without port; the limits on logins count by it. */
  readonly remoteAddress?: string
  /** Where we are mounted, without trailing slash; cut off the path where it still stands there. Default ''. */
  readonly mountPrefix?: string
}

/**
 * A function from Request to Response; paths that are not ours are answered 404. It may be mounted by frameworks that
 * pass something else as second argument (Hono's `app.mount` passes its bindings).
 *
 * @throws HookswitchError `InvalidInput` (the promise rejects) where the host has read the body before
 * @example app.all('/v2/*', (c) => fetchHandler(hs)(c.req.raw))
 */
export function fetchHandler(hs: HttpService): (request: Request, info?: FetchInfo) => Promise<Response> {
  return async (request, info) => {
    if (request.bodyUsed) {
      throw new HookswitchError('InvalidInput', 'the body was read before fetchHandler; hand over a clone')
    }
    const { remoteAddress, mountPrefix = '' } = info ?? {}
    const path = requestPath(request.url)
    const inner = path.startsWith(`${mountPrefix}/`) ? path.slice(mountPrefix.length) : path
    const headers = headerRecord([...request.headers].flat())
    const read = announcesTooMuch(headers)
      ? ({ bodyProblem: 'too_large' } as const)
      : await readBody(request.body, BODY_TIMEOUT_MS)
    const response =
      read === 'gone'
        ? refusal(hs, 400)
        : await handled(hs, {
            method: request.method,
            url: hs.owns(inner) ? inner : path,
            headers,
            ...read,
            ...(typeof remoteAddress === 'string' ? { remoteAddress } : {}),
            mountPrefix,
          })
    // a body, even an empty one, is not allowed with 204 and 304
    return new Response(response.body === '' ? null : response.body, {
      status: response.status,
      headers: response.headers,
    })
  }
}

async function readBody(stream: ReadableStream<Uint8Array> | null, timeoutMs: number): Promise<ReadBody> {
  if (stream === null) return {}
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<'too_slow'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'too_slow')
  })
  // not awaited: the source may take its time, or fail, to hear that nobody reads on
  const stop = (bodyProblem: 'too_slow' | 'too_large'): ReadBody => {
    reader.cancel().catch(() => {})
    return { bodyProblem }
  }
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), late])
      if (next === 'too_slow') return stop(next)
      if (next.done) return size === 0 ? {} : { body: joined(chunks, size) }
      size += next.value.length
      if (size > MAX_BODY_BYTES) return stop('too_large')
      chunks.push(next.value)
    }
  } catch {
    return 'gone'
  } finally {
    clearTimeout(timer)
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const body = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    body.set(chunk, at)
    at += chunk.length
  }
  return body
}
