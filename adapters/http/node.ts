/** hookswitch on `node:http`: a listener for an existing server, or a complete server with limits. */
import { readFileSync } from 'node:fs'
import http from 'node:http'
import type { Socket } from 'node:net'
import { checkService, type HttpService } from 'hookswitch/adapter'
import { createNodeHandler, rejectAndDrain, startRecord } from './node-handler.js'
import { bytes, checkOptions, count, invalidOption, milliseconds, totalBytes } from './node-options.js'
import { respondToParserErrors } from './node-sockets.js'
import { inTurn } from './node-turns.js'
import {
  admitBody,
  BODY_TIMEOUT_MS,
  isDeclaredTooLarge,
  requestPath,
  transportError,
} from './request-record.js'
import { createUnsent, UNSENT_DEFAULTS } from './unsent.js'

export { type NodeHandler, type NodeHandlerOptions, nodeHandler } from './node-handler.js'

/** Options of `createServer`; all are optional. */
export interface ServerOptions {
  /**
   * Time limit for the headers of a request, in milliseconds; then 408. An integer from 1 to 2 147 483 647, at most
   * `requestTimeoutMs`. Default 10 000.
   */
  readonly headersTimeoutMs?: number | undefined
  /**
   * Time limit for a whole request with its body, in milliseconds; then 408. An integer from 1 to 2 147 483 647.
   * Default 30 000.
   */
  readonly requestTimeoutMs?: number | undefined
  /**
   * How long an idle connection stays open for the next request, in milliseconds. An integer from 1 to 2 147 483 647. Keep it
   * above what the proxy in front keeps idle connections (60 s or less by default: AWS ALB, nginx, HAProxy), or requests that
   * it sends while a connection is closed are lost. Default 65 000.
   */
  readonly keepAliveTimeoutMs?: number | undefined
  /**
   * Maximum size of request target and headers together, in bytes; more is 414 or 431. An integer from 1 024 to
   * 1 048 576. Default 16 384.
   */
  readonly maxHeaderBytes?: number | undefined
  /**
   * Maximum number of open connections; further ones are closed without a response. Default: 10 000, or half of the files that
   * the process may open where that is less.
   */
  readonly maxConnections?: number | undefined
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

const DEFAULTS = Object.freeze({
  headersTimeoutMs: 10_000,
  requestTimeoutMs: BODY_TIMEOUT_MS,
  keepAliveTimeoutMs: 65_000,
  maxHeaderBytes: 16_384,
  ...UNSENT_DEFAULTS,
})

const VALIDATORS = {
  headersTimeoutMs: milliseconds,
  requestTimeoutMs: milliseconds,
  keepAliveTimeoutMs: milliseconds,
  maxHeaderBytes: bytes,
  maxConnections: count,
  writeTimeoutMs: milliseconds,
  maxUnsentBytes: totalBytes,
}

/** Half of the files that this process may open, since deliveries, the store and the host need some too; at most 10,000. */
function defaultMaxConnections(): number {
  let limits = ''
  try {
    limits = readFileSync('/proc/self/limits', 'latin1')
  } catch {
    // Not Linux.
  }
  const files = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
  return Math.max(1, Math.min(10_000, Math.floor(files / 2)))
}

const METHODS = 'GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS'

/**
 * Creates a `node:http` server, not yet listening, that responds to every request with the JSON envelope. This includes
 * requests that the HTTP parser rejects, slow clients, a missing `Host` (RFC 9112, section 3.2), an unknown `Expect`
 * (RFC 9110, section 10.1.1) and CONNECT.
 *
 * @param hs a hookswitch instance
 * @throws HookswitchError `InvalidOption` naming the option, if it is unknown or its value is invalid, or if `hs` is no
 *   instance
 * @example createServer(hs).listen(8000)
 */
export function createServer(hs: HttpService, options: ServerOptions = {}): http.Server {
  checkService('createServer', hs)
  const checked = checkOptions('createServer', options, DEFAULTS, VALIDATORS)
  const { headersTimeoutMs, requestTimeoutMs, maxHeaderBytes } = checked
  if (headersTimeoutMs > requestTimeoutMs) {
    throw invalidOption('headersTimeoutMs', 'must not exceed requestTimeoutMs')
  }
  const server = http.createServer({
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: checked.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, Math.ceil(headersTimeoutMs / 4)),
    maxHeaderSize: maxHeaderBytes,
    // `isValidRequest` checks the header; Node's own response has no body.
    requireHostHeader: false,
  })
  // By default Node silently drops headers beyond 2 000; `maxHeaderSize` limits them anyway.
  server.maxHeadersCount = 0
  server.maxConnections = checked.maxConnections ?? defaultMaxConnections()

  const responder = respondToParserErrors(server, hs, maxHeaderBytes)
  const handler = createNodeHandler(hs, {
    bodyTimeoutMs: requestTimeoutMs,
    awaitTaken: createUnsent(checked),
    isLimited: true,
  })
  const reject = (req: http.IncomingMessage, res: http.ServerResponse, status: number) => {
    responder.trackExchange(req, res)
    inTurn(req, res, () => void rejectAndDrain(req, res, transportError(hs, status)))
  }
  const closing = closeEveryConnection(server)
  const listener: http.RequestListener = (req, res) => {
    closing.track(req, res)
    if (!isValidRequest(req)) return reject(req, res, 400)
    responder.trackExchange(req, res)
    handler(req, res)
  }
  return server
    .on('timeout', closeIdle)
    .on('request', listener)
    .on('checkContinue', (req, res) => {
      const { maxBytes } = admitBody(hs, startRecord(req, requestPath(req.url ?? '/'), ''))
      if (!isDeclaredTooLarge(req.headers, maxBytes)) res.writeContinue()
      listener(req, res)
    })
    .on('checkExpectation', (req, res) => reject(req, res, 417))
    .on('connect', (_req, socket) =>
      responder.respondAndClose(socket, transportError(hs, 405, { headers: { allow: METHODS } })),
    )
}

/**
 * Makes `close` end with the last response: Node closes the connections that are idle at that moment, but neither those that
 * become idle afterwards nor those that have sent nothing yet. Browsers and clients open such connections ahead.
 */
function closeEveryConnection(server: http.Server) {
  const unused = new Set<Socket>()
  let isClosing = false
  server.on('connection', (socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  const close = server.close.bind(server)
  server.close = (callback) => {
    isClosing = true
    for (const socket of unused) if (socket.bytesRead === 0) socket.destroy()
    return close(callback)
  }
  return {
    track({ socket }: http.IncomingMessage, res: http.ServerResponse): void {
      unused.delete(socket)
      res.once('close', () => {
        // Each call on a socket that is ending adds a listener.
        if (isClosing && socket.writable) socket.destroySoon()
      })
    },
  }
}

/** Closes a connection that has been idle for long enough, unless a request has arrived that is not read yet. */
function closeIdle(socket: Socket): void {
  const { bytesRead } = socket
  // Timers run before sockets are read.
  setImmediate(() => {
    if (socket.bytesRead === bytesRead) socket.destroy()
  })
}

const NON_ASCII_OR_SPACE = /[^\x21-\x7e]/

/**
 * Checks rules that the parsers of some Node versions do not enforce: exactly one `Host` in HTTP/1.1, at most one in
 * HTTP/1.0 (RFC 9112, section 3.2); no space in a field name (5.1); only visible ASCII in the target (3.2; RFC 3986,
 * section 2).
 */
function isValidRequest(req: http.IncomingMessage): boolean {
  const { rawHeaders, url = '' } = req
  let hostCount = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.includes(' ')) return false
    if (name.toLowerCase() === 'host') hostCount += 1
  }
  return (hostCount === 1 || (hostCount === 0 && req.httpVersion !== '1.1')) && !NON_ASCII_OR_SPACE.test(url)
}
