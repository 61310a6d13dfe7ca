/** A request listener for `node:http`, `node:https`, connect and Express. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpService, RequestRecord, ResponseRecord } from 'hookswitch'
import { drainRequest, readNodeBody } from './node-body.js'
import { checkOptions, milliseconds } from './node-options.js'
import { sendStream } from './node-stream.js'
import {
  BODY_TIMEOUT_MS,
  handleRequest,
  hasTooLargeHeaders,
  headerRecord,
  requestPath,
  transportError,
} from './request-record.js'

export interface NodeHandlerOptions {
  /**
   * Time limit for a request body after its headers, in milliseconds; then 408. An integer from 1 to 2 147 483 647.
   * Default 30 000.
   */
  readonly bodyTimeoutMs?: number
}

/** A `node:http` request listener and connect middleware. Without `next`, paths outside `/v1` and `/v2` get a 404. */
export type NodeHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** Returns the body that an earlier body parser read, or `undefined` if the body is unread. */
export type ParsedBodyReader = (
  req: IncomingMessage,
) => Pick<RequestRecord, 'body' | 'parsedBody'> | undefined

/**
 * Creates a listener for `http.createServer`, or a middleware for connect and compatible frameworks, mounted at the
 * root or under a prefix. Paths outside `/v1` and `/v2` go to `next` if there is one. The listener never throws. A
 * request body larger than 1 MiB gets a 413.
 *
 * @param hs a hookswitch instance
 * @throws HookswitchError `InvalidOption` naming the option, if it is unknown or its value is invalid
 * @example http.createServer(nodeHandler(hs)).listen(8000)
 */
export function nodeHandler(hs: HttpService, options: NodeHandlerOptions = {}): NodeHandler {
  const { bodyTimeoutMs } = checkOptions(
    options,
    { bodyTimeoutMs: BODY_TIMEOUT_MS },
    { bodyTimeoutMs: milliseconds },
  )
  return createNodeHandler(hs, bodyTimeoutMs, () => undefined)
}

const ignore = () => {}

/**
 * Creates a handler for a framework that may have read the body already.
 *
 * @param isLimited whether the server itself limits headers as `createServer` does
 */
export function createNodeHandler(
  hs: HttpService,
  bodyTimeoutMs: number,
  readParsedBody: ParsedBodyReader,
  isLimited = false,
): NodeHandler {
  return (req, res, next) => {
    const url = requestPath(req.url ?? '/')
    if (next !== undefined && !hs.handlesPath(url)) return next()
    // A client that disconnects during the response is not an error.
    res.on('error', ignore)
    if (!isLimited && hasTooLargeHeaders(req.rawHeaders))
      return void rejectAndDrain(req, res, transportError(hs, 431))
    respond(hs, req, res, url, bodyTimeoutMs, readParsedBody).catch(() => res.destroy())
  }
}

async function respond(
  hs: HttpService,
  req: IncomingMessage,
  res: ServerResponse,
  url: string,
  bodyTimeoutMs: number,
  readParsedBody: ParsedBodyReader,
): Promise<void> {
  // Awaited only if asynchronous: an unnecessary `await` delays every request without a body.
  const reading = readParsedBody(req) ?? readNodeBody(req, bodyTimeoutMs)
  const bodyResult = reading instanceof Promise ? await reading : reading
  if (bodyResult === 'aborted') return void res.destroy()
  const isRejected = 'bodyProblem' in bodyResult
  const response = await handleRequest(hs, {
    method: req.method ?? 'GET',
    url,
    headers: headerRecord(req.rawHeaders),
    ...bodyResult,
    ...(req.socket.remoteAddress === undefined ? {} : { remoteAddress: req.socket.remoteAddress }),
    mountPrefix: mountPrefix(req as MountedRequest),
  })
  if (response.stream) return sendStream(res, response, response.stream)
  if (!isRejected) return queueResponse(res, response)
  // The host has already responded, for example after its own timeout.
  if (res.headersSent || res.writableEnded) return
  await rejectAndDrain(req, res, response)
}

/** Maximum number of responses per batch, so that the first does not wait for a thousand others. */
const MAX_BATCH = 16

let queuedResponses: { readonly res: ServerResponse; readonly response: ResponseRecord }[] = []

/**
 * Sends the responses of one event loop iteration together. Sent one by one, each would wake a client or proxy on the
 * same machine, which sleeps again before the next: a seventh of the cost of a GET of a webhook.
 */
function queueResponse(res: ServerResponse, response: ResponseRecord): void {
  const count = queuedResponses.push({ res, response })
  if (count === 1) setImmediate(flushResponses)
  else if (count === MAX_BATCH) flushResponses()
}

function flushResponses(): void {
  const batch = queuedResponses
  queuedResponses = []
  for (const { res, response } of batch) {
    // The host has already responded, for example after its own timeout.
    if (res.headersSent || res.writableEnded) continue
    try {
      res.writeHead(response.status, response.headers).end(response.bytes ?? response.body)
    } catch {
      // The host's middleware may have replaced these methods; the other responses must still be sent.
      res.destroy()
    }
  }
}

/** Responds to a request whose body was not read completely; ends the response once the client stops sending. */
export async function rejectAndDrain(
  req: IncomingMessage,
  res: ServerResponse,
  response: ResponseRecord,
): Promise<void> {
  // HTTP/2 forbids `connection`; there the stream ends, not the connection.
  const closing = req.httpVersionMajor === 1 ? { connection: 'close' } : {}
  res.writeHead(response.status, { ...response.headers, ...closing })
  // By its content-length the body is complete for the client; `end` would close the connection at once.
  res.write(response.bytes ?? response.body)
  await drainRequest(req)
  res.end()
}

interface MountedRequest extends IncomingMessage {
  /** Set by connect and Express: the target including the mount point. */
  originalUrl?: string
  /** Set by Express: the mount point. */
  baseUrl?: string
}

/** Returns the mount point that the framework removed from `url`; '' at the root. */
function mountPrefix(req: MountedRequest): string {
  const { url = '/', originalUrl, baseUrl } = req
  if (typeof baseUrl === 'string') return baseUrl.replace(/(?<!\/)\/+$/, '')
  if (typeof originalUrl !== 'string') return ''
  const whole = requestPath(originalUrl)
  const rest = requestPath(url)
  return whole.endsWith(rest) ? whole.slice(0, whole.length - rest.length).replace(/(?<!\/)\/+$/, '') : ''
}
