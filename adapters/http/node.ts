/** hookswitch on Node's own http: a listener for servers that you have, or a whole server with its limits set. */
import http from 'node:http'
import type { HttpService } from 'hookswitch'
import { announcesTooMuch, BODY_TIMEOUT_MS, refusal } from './incoming.js'
import { nodeHandler, refuse } from './node-handler.js'
import { bytes, checkedOptions, count, invalidOption, milliseconds } from './node-options.js'
import { answerParserErrors } from './node-sockets.js'

export { type NodeHandler, type NodeHandlerOptions, nodeHandler } from './node-handler.js'

export interface ServerOptions {
  /** Longest time in milliseconds until the headers of a request are complete; then 408. Default 10 000. */
  readonly headersTimeoutMs?: number
  /** Longest time in milliseconds until a request is complete with its body; then 408. Default 30 000. */
  readonly requestTimeoutMs?: number
  /** How long in milliseconds an idle connection is kept for the next request. Default 5 000. */
  readonly keepAliveTimeoutMs?: number
  /** Most bytes of request target and headers together; more is 414 or 431. Default 16 384. */
  readonly maxHeaderBytes?: number
  /** Most connections at once; further ones are closed unanswered. Default: no limit. */
  readonly maxConnections?: number
}

const DEFAULTS: Readonly<Required<Omit<ServerOptions, 'maxConnections'>>> = Object.freeze({
  headersTimeoutMs: 10_000,
  requestTimeoutMs: BODY_TIMEOUT_MS,
  keepAliveTimeoutMs: 5_000,
  maxHeaderBytes: 16_384,
})

const RULES = {
  headersTimeoutMs: milliseconds,
  requestTimeoutMs: milliseconds,
  keepAliveTimeoutMs: milliseconds,
  maxHeaderBytes: bytes,
  maxConnections: count,
}

const METHODS = 'GET, HEAD, PUT, POST, PATCH, DELETE, OPTIONS'

/**
 * A `node:http` server, not yet listening, that answers everything in our JSON envelope: also what the HTTP parser
 * refuses, slow clients, a missing `Host` (RFC 9112 3.2), an unknown `Expect` (RFC 9110 10.1.1) and CONNECT.
 *
 * @throws HookswitchError `InvalidOption`, naming the option
 * @example createServer(hs).listen(8000)
 */
export function createServer(hs: HttpService, options: ServerOptions = {}): http.Server {
  const given = checkedOptions(options, DEFAULTS, RULES)
  const { headersTimeoutMs, requestTimeoutMs, maxHeaderBytes } = given
  if (headersTimeoutMs > requestTimeoutMs) {
    throw invalidOption('headersTimeoutMs', 'must not be above requestTimeoutMs')
  }
  const server = http.createServer({
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: given.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(1_000, Math.ceil(headersTimeoutMs / 4)),
    maxHeaderSize: maxHeaderBytes,
    // Node would answer without a body
    requireHostHeader: false,
  })
  // Node drops what is beyond 2 000 fields in silence; the limit in bytes bounds them already
  server.maxHeadersCount = 0
  if (given.maxConnections !== undefined) server.maxConnections = given.maxConnections

  const sockets = answerParserErrors(server, hs, maxHeaderBytes)
  const answering = nodeHandler(hs, { bodyTimeoutMs: requestTimeoutMs })
  const listener: http.RequestListener = (req, res) => {
    sockets.exchange(req, res)
    if (isSound(req)) answering(req, res)
    else void refuse(req, res, refusal(hs, 400))
  }
  return server
    .on('request', listener)
    .on('checkContinue', (req, res) => {
      if (!announcesTooMuch(req.headers)) res.writeContinue()
      listener(req, res)
    })
    .on('checkExpectation', (req, res) => {
      sockets.exchange(req, res)
      void refuse(req, res, refusal(hs, 417))
    })
    .on('connect', (_req, socket) => sockets.end(socket, refusal(hs, 405, { headers: { allow: METHODS } })))
}

const BEYOND_ASCII = /[^\x21-\x7e]/

/**
 * What the parsers of some Node versions let through: exactly one `Host` in HTTP/1.1, at most one before (RFC 9112
 * 3.2); no blank in a field name (5.1); nothing beyond ASCII in the target (3.2, RFC 3986 2).
 */
function isSound(req: http.IncomingMessage): boolean {
  const { rawHeaders, url = '' } = req
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.includes(' ')) return false
    if (name.toLowerCase() === 'host') hosts += 1
  }
  return (hosts === 1 || (hosts === 0 && req.httpVersion !== '1.1')) && !BEYOND_ASCII.test(url)
}
