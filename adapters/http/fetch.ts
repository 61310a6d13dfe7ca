/** hookswitch for web-standard `Request` and `Response`: Hono, Bun, Deno, edge runtimes. Uses no Node APIs. */
import { HookswitchError } from 'hookswitch'
import {
  type BodyAdmission,
  type BodyProblem,
  checkService,
  type HttpService,
  type RequestRecord,
  type ResponseRecord,
  type ResponseStream,
} from 'hookswitch/adapter'
import {
  admitBody,
  BODY_TIMEOUT_MS,
  type BodyResult,
  handleRequest,
  hasTooLargeHeaders,
  headerRecord,
  isDeclaredTooLarge,
  requestPath,
  transportError,
  withBody,
} from './request-record.js'
import { type AwaitTaken, createUnsent, UNSENT_DEFAULTS } from './unsent.js'

/** Facts that a `Request` does not contain. */
export interface FetchInfo {
  /** Address of the peer, without port; logins are rate-limited by it. Default: unknown. */
  readonly remoteAddress?: string | undefined
  /** Mount point, without trailing slash; removed from the path if the path starts with it. Default ''. */
  readonly mountPrefix?: string | undefined
}

/**
 * Creates a function from `Request` to `Response`. Paths outside `/v1` and `/v2` get a 404. A request body must arrive
 * within 30 s and be at most 1 MiB; otherwise the response is 408 or 413. Headers above 16 KiB get a 431. Frameworks may pass another value as the
 * second argument (Hono's `app.mount` passes its bindings).
 *
 * @param hs a hookswitch instance
 * @throws HookswitchError `InvalidOption` if `hs` is no instance; `InvalidInput` (the promise rejects) if the host has already read the request body
 * @example app.all('/v2/*', (c) => fetchHandler(hs)(c.req.raw))
 */
export function fetchHandler(hs: HttpService): (request: Request, info?: FetchInfo) => Promise<Response> {
  checkService('fetchHandler', hs)
  const awaitTaken = createUnsent(UNSENT_DEFAULTS)
  return async (request, info) => {
    if (request.bodyUsed) {
      throw new HookswitchError(
        'InvalidInput',
        'the request body was already read; pass fetchHandler a clone of the request',
      )
    }
    const { remoteAddress, mountPrefix = '' } = info ?? {}
    const path = requestPath(request.url)
    const inner = path.startsWith(`${mountPrefix}/`) ? path.slice(mountPrefix.length) : path
    const rawHeaders = [...request.headers].flat()
    if (hasTooLargeHeaders(rawHeaders)) return toResponse(transportError(hs, 431))
    const headers = headerRecord(rawHeaders)
    const head = {
      method: request.method,
      url: hs.handlesPath(inner) ? inner : path,
      headers,
      ...(typeof remoteAddress === 'string' ? { remoteAddress } : {}),
    }
    const bodyResult = request.body
      ? await readBody(request.body, headers, BODY_TIMEOUT_MS, admitBody(hs, head))
      : {}
    const response =
      bodyResult === 'aborted'
        ? transportError(hs, 400)
        : await handleRequest(hs, withBody({ ...head, mountPrefix }, bodyResult))
    return response.stream
      ? toStreamResponse(request, response, response.stream, awaitTaken)
      : toResponse(response)
  }
}

const encoder = new TextEncoder()

/** A response that the runtime reads as fast as its client takes it, and cancels when the client has gone. */
function toStreamResponse(
  { signal }: Request,
  { status, headers }: ResponseRecord,
  stream: ResponseStream,
  awaitTaken: AwaitTaken,
): Response {
  let release = () => {}
  let isOver = false
  let abort = () => {}
  const stop = () => {
    isOver = true
    release()
    signal.removeEventListener('abort', stop)
    stream.close()
  }
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      abort = () => {
        if (isOver) return
        stop()
        controller.error(new Error('the client reads nothing, or the rest cannot be read'))
      }
      stream.onAbort(abort)
    },
    async pull(controller) {
      release()
      const part = await stream.next()
      if (isOver) return
      if (part !== undefined) {
        release = awaitTaken(part.length, abort)
        return controller.enqueue(encoder.encode(part))
      }
      stop()
      controller.close()
    },
    cancel: stop,
  })
  return new Response(body, { status, headers })
}

/** `Response` throws if a 204 or 304 has a body, even an empty one. */
function toResponse({ status, headers, body, bytes }: ResponseRecord): Response {
  const content = bytes ? (bytes as Uint8Array<ArrayBuffer>) : body
  return new Response(content.length === 0 ? null : content, { status, headers })
}

async function readBody(
  stream: ReadableStream<Uint8Array>,
  headers: RequestRecord['headers'],
  timeoutMs: number,
  admission: BodyAdmission,
): Promise<BodyResult> {
  if (isDeclaredTooLarge(headers, admission.maxBytes)) {
    admission.end()
    return { bodyProblem: admission.excess }
  }
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<'too_slow'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'too_slow')
  })
  // Not awaited: the source may be slow to cancel, or fail.
  const stop = (bodyProblem: BodyProblem): BodyResult => {
    reader.cancel().catch(() => {})
    return { bodyProblem }
  }
  try {
    for (;;) {
      const next = await Promise.race([reader.read(), timeout])
      if (next === 'too_slow') return stop(next)
      if (next.done) return size === 0 ? {} : { body: concatenate(chunks, size) }
      size += next.value.length
      const problem = admission.take(next.value.length)
      if (problem) return stop(problem)
      chunks.push(next.value)
    }
  } catch {
    return 'aborted'
  } finally {
    clearTimeout(timer)
    admission.end()
  }
}

function concatenate(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const body = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    body.set(chunk, offset)
    offset += chunk.length
  }
  return body
}
