/** Answers on Node's own request and response: the listener that `node:http`, `node:https`, connect and Express call. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpService, RequestRecord, ResponseRecord } from 'hookswitch'
import { BODY_TIMEOUT_MS, handled, headerRecord, requestPath } from './incoming.js'
import { lingered, readNodeBody } from './node-body.js'
import { checkedOptions, milliseconds } from './node-options.js'

export interface NodeHandlerOptions {
  /** Longest time in milliseconds that a request body may take after its headers; then 408. Default 30 000. */
  readonly bodyTimeoutMs?: number
}

/** A request listener of `node:http` and a middleware of connect: without `next`, foreign paths are answered 404. */
export type NodeHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** What a body parser mounted before us left of the body; `undefined` where the body is still to be read. */
export type EatenBody = (req: IncomingMessage) => Pick<RequestRecord, 'body' | 'parsedBody'> | undefined

/**
 * A listener for `http.createServer`, or a middleware for connect and its like, mounted at a prefix or not. It never
 * throws and never rejects. Paths that are not ours go to `next` where there is one.
 *
 * @throws HookswitchError `InvalidOption`, naming the option
 * @example http.createServer(nodeHandler(hs)).listen(8000)
 */
export function nodeHandler(hs: HttpService, options: NodeHandlerOptions = {}): NodeHandler {
  const { bodyTimeoutMs } = checkedOptions(
    options,
    { bodyTimeoutMs: BODY_TIMEOUT_MS },
    { bodyTimeoutMs: milliseconds },
  )
  return handlerWith(hs, bodyTimeoutMs, () => undefined)
}

const ignore = () => {}

/** `nodeHandler` for a framework that may have read the body already. */
export function handlerWith(hs: HttpService, bodyTimeoutMs: number, eaten: EatenBody): NodeHandler {
  return (req, res, next) => {
    const url = requestPath(req.url ?? '/')
    if (next !== undefined && !hs.owns(url)) return next()
    // a client that goes away while it is answered hurts nobody
    res.on('error', ignore)
    answer(hs, req, res, url, bodyTimeoutMs, eaten).catch(() => res.destroy())
  }
}

async function answer(
  hs: HttpService,
  req: IncomingMessage,
  res: ServerResponse,
  url: string,
  bodyTimeoutMs: number,
  eaten: EatenBody,
): Promise<void> {
  const reading = eaten(req) ?? readNodeBody(req, bodyTimeoutMs)
  const read = reading instanceof Promise ? await reading : reading
  if (read === 'gone') return void res.destroy()
  const refused = 'bodyProblem' in read
  const response = await handled(hs, {
    method: req.method ?? 'GET',
    url,
    headers: headerRecord(req.rawHeaders),
    ...read,
    ...(req.socket.remoteAddress === undefined ? {} : { remoteAddress: req.socket.remoteAddress }),
    mountPrefix: mountPrefix(req as MountedRequest),
  })
  if (!refused) return sendSoon(res, response)
  // somebody else has answered meanwhile: a time-out of the host
  if (res.headersSent || res.writableEnded) return
  await refuse(req, res, response)
}

/** Most answers that wait for each other: the first must not wait for a thousand. */
const MAX_TOGETHER = 16

let ready: { readonly res: ServerResponse; readonly response: ResponseRecord }[] = []

/**
 * Sends the answers of one turn of the event loop together. One by one, each would wake a client or proxy on the same
 * machine that falls asleep again before the next: a seventh of all that reading a webhook costs.
 */
function sendSoon(res: ServerResponse, response: ResponseRecord): void {
  const count = ready.push({ res, response })
  if (count === 1) setImmediate(sendReady)
  else if (count === MAX_TOGETHER) sendReady()
}

function sendReady(): void {
  const sending = ready
  ready = []
  for (const { res, response } of sending) {
    // somebody else has answered meanwhile: a time-out of the host
    if (res.headersSent || res.writableEnded) continue
    try {
      res.writeHead(response.status, response.headers).end(response.body)
    } catch {
      // middleware of the host may have replaced these: the others are answered all the same
      res.destroy()
    }
  }
}

/** Sends an answer whose request was not read to its end, and closes once the client has stopped sending. */
export async function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  response: ResponseRecord,
): Promise<void> {
  // HTTP/2 has no such header: there the stream is closed, not the connection
  const closing = req.httpVersionMajor === 1 ? { connection: 'close' } : {}
  res.writeHead(response.status, { ...response.headers, ...closing })
  // complete for the client by its content-length; `end` would close at once
  res.write(response.body)
  await lingered(req)
  res.end()
}

interface MountedRequest extends IncomingMessage {
  /** Set by connect and Express: the target before a mount point was cut off. */
  originalUrl?: string
  /** Set by Express: what was cut off. */
  baseUrl?: string
}

/** Where we are mounted, as the frameworks that cut the mount point off `url` tell it; '' at the root. */
function mountPrefix(req: MountedRequest): string {
  const { url = '/', originalUrl, baseUrl } = req
  if (typeof baseUrl === 'string') return baseUrl.replace(/\/+$/, '')
  if (typeof originalUrl !== 'string') return ''
  const whole = requestPath(originalUrl)
  const rest = requestPath(url)
  return whole.endsWith(rest) ? whole.slice(0, whole.length - rest.length).replace(/\/+$/, '') : ''
}
