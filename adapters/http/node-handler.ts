/** A request listener for `node:http`, `node:https`, connect and Express. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkService, type HttpService, type RequestRecord, type ResponseRecord } from 'hookswitch/adapter'
import { drainRequest, readNodeBody } from './node-body.js'
import { checkOptions, milliseconds, totalBytes } from './node-options.js'
import { partsOf, sendParts, watchEnd } from './node-stream.js'
import { inTurn } from './node-turns.js'
import {
  admitBody,
  BODY_TIMEOUT_MS,
  handleRequest,
  hasTooLargeHeaders,
  headerRecord,
  type Mutable,
  requestPath,
  transportError,
  withBody,
} from './request-record.js'
import { type AwaitTaken, createUnsent, UNSENT_DEFAULTS } from './unsent.js'

export interface NodeHandlerOptions {
  /**
   * Time limit for a request body after its headers, in milliseconds; then 408. An integer from 1 to 2 147 483 647.
   * Default 30 000.
   */
  readonly bodyTimeoutMs?: number | undefined
  /**
   * Time within which a client must take the next part of a response, in milliseconds; then its connection is closed. An
   * integer from 1 to 2 147 483 647. Default 30 000.
   */
  readonly writeTimeoutMs?: number | undefined
  /**
   * Bytes of responses that clients have not taken, of all connections together; above it those are closed that have taken
   * nothing for the longest time. An integer from 1 048 576. Default 67 108 864 (64 MiB).
   */
  readonly maxUnsentBytes?: number | undefined
}

/** A `node:http` request listener and connect middleware. Without `next`, paths outside `/v1` and `/v2` get a 404. */
export type NodeHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** Returns the body that an earlier body parser read, or `undefined` if the body is unread. */
type ParsedBodyReader = (req: IncomingMessage) => Pick<RequestRecord, 'body' | 'parsedBody'> | undefined

/**
 * Creates a listener for `http.createServer`, or a middleware for connect and compatible frameworks, mounted at the
 * root or under a prefix. Paths outside `/v1` and `/v2` go to `next` if there is one. The listener never throws. A
 * request body larger than 1 MiB gets a 413.
 *
 * @param hs a hookswitch instance
 * @throws HookswitchError `InvalidOption` naming the option, if it is unknown or its value is invalid, or if `hs` is no
 *   instance
 * @example http.createServer(nodeHandler(hs)).listen(8000)
 */
export function nodeHandler(hs: HttpService, options: NodeHandlerOptions = {}): NodeHandler {
  checkService('nodeHandler', hs)
  const { bodyTimeoutMs, ...unsent } = checkOptions(
    'nodeHandler',
    options,
    { bodyTimeoutMs: BODY_TIMEOUT_MS, ...UNSENT_DEFAULTS },
    { bodyTimeoutMs: milliseconds, writeTimeoutMs: milliseconds, maxUnsentBytes: totalBytes },
  )
  return createNodeHandler(hs, { bodyTimeoutMs, awaitTaken: createUnsent(unsent) })
}

const ignore = () => {}

interface HandlerSettings {
  readonly bodyTimeoutMs: number
  readonly awaitTaken: AwaitTaken
  /** For a framework that may have read the body already. */
  readonly readParsedBody?: ParsedBodyReader
  /** Whether the server itself limits headers as `createServer` does. Default false. */
  readonly isLimited?: boolean
}

export function createNodeHandler(hs: HttpService, settings: HandlerSettings): NodeHandler {
  const { isLimited = false } = settings
  return (req, res, next) => {
    const url = requestPath(req.url ?? '/')
    if (next !== undefined && !hs.handlesPath(url)) return next()
    // A client that disconnects during the response is not an error.
    res.on('error', ignore)
    inTurn(req, res, () => {
      if (!isLimited && hasTooLargeHeaders(req.rawHeaders))
        return void rejectAndDrain(req, res, transportError(hs, 431))
      respond(hs, req, res, url, settings).catch(() => res.destroy())
    })
  }
}

/**
 * A request as the service sees it, still without its body.
 *
 * @param mountPrefix without trailing slash; '' at the root
 */
export function startRecord(req: IncomingMessage, url: string, mountPrefix: string): Mutable<RequestRecord> {
  const { remoteAddress } = req.socket
  const record: Mutable<RequestRecord> = {
    method: req.method ?? 'GET',
    url,
    headers: headerRecord(req.rawHeaders),
    mountPrefix,
  }
  if (remoteAddress !== undefined) record.remoteAddress = remoteAddress
  return record
}

/** The headers of a body that an earlier body parser has also decoded. */
function decoded(headers: RequestRecord['headers']): RequestRecord['headers'] {
  const { 'content-encoding': _, ...others } = headers
  return others
}

async function respond(
  hs: HttpService,
  req: IncomingMessage,
  res: ServerResponse,
  url: string,
  { bodyTimeoutMs, awaitTaken, readParsedBody }: HandlerSettings,
): Promise<void> {
  const record = startRecord(req, url, mountPrefix(req as MountedRequest))
  const parsed = readParsedBody?.(req)
  // Awaited only if asynchronous: an unnecessary `await` delays every request without a body.
  const reading = parsed ?? readNodeBody(req, bodyTimeoutMs, () => admitBody(hs, record))
  const bodyResult = reading instanceof Promise ? await reading : reading
  if (bodyResult === 'aborted') return void res.destroy()
  const isRejected = 'bodyProblem' in bodyResult
  if (parsed && record.headers['content-encoding'] !== undefined) record.headers = decoded(record.headers)
  const response = await handleRequest(hs, withBody(record, bodyResult))
  const parts = response.stream ?? (isRejected ? undefined : partsOf(response))
  if (parts) return sendParts(res, response, parts, awaitTaken)
  if (!isRejected) return queueResponse(res, response, awaitTaken)
  // The host has already responded, for example after its own timeout.
  if (res.headersSent || res.writableEnded) return
  await rejectAndDrain(req, res, response)
}

/** Maximum number of responses per batch, so that the first does not wait for a thousand others. */
const MAX_BATCH = 16

interface QueuedResponse {
  readonly res: ServerResponse
  readonly response: ResponseRecord
  readonly awaitTaken: AwaitTaken
}

let queuedResponses: QueuedResponse[] = []

/**
 * Sends the responses of one event loop iteration together. Sent one by one, each would wake a client or proxy on the
 * same machine, which sleeps again before the next: a seventh of the cost of a GET of a webhook.
 */
function queueResponse(res: ServerResponse, response: ResponseRecord, awaitTaken: AwaitTaken): void {
  const count = queuedResponses.push({ res, response, awaitTaken })
  if (count === 1) setImmediate(flushResponses)
  else if (count === MAX_BATCH) flushResponses()
}

function flushResponses(): void {
  const batch = queuedResponses
  queuedResponses = []
  for (const { res, response, awaitTaken } of batch) {
    // The host has already responded, for example after its own timeout.
    if (res.headersSent || res.writableEnded) continue
    try {
      res.writeHead(response.status, response.headers).end(response.bytes ?? response.body)
      watchEnd(res, awaitTaken)
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
