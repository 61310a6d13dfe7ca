/** Responds to parser errors, which have no response object: on the socket itself, after responses already pending. */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HttpService, ResponseRecord } from 'hookswitch/adapter'
import { type ParserError, serializeResponse, statusOfParserError } from './parser-errors.js'
import { transportError } from './request-record.js'

/** Milliseconds that a rejected client has to read its response and close the connection. */
const CLOSE_TIMEOUT_MS = 2_000

interface SocketResponder {
  /** Records the current request of a socket. Must be called for every request. */
  trackExchange(req: IncomingMessage, res: ServerResponse): void
  /** Writes the response to the bare socket and closes it. */
  respondAndClose(socket: Duplex, response: ResponseRecord): void
}

/** Responds to `clientError` with the JSON envelope, once per connection, and closes the connection. */
export function respondToParserErrors(
  server: Server,
  hs: HttpService,
  maxHeaderBytes: number,
): SocketResponder {
  const exchanges = new WeakMap<Duplex, { req: IncomingMessage; res: ServerResponse }>()
  const rejectedSockets = new WeakSet<Duplex>()

  server.on('clientError', (error: Error & ParserError, socket) => {
    // The parser reports each later packet of a broken stream again.
    if (rejectedSockets.has(socket)) return
    const status = statusOfParserError(error, maxHeaderBytes)
    if (status === undefined || !socket.writable) return void socket.destroy()
    rejectedSockets.add(socket)
    const response = transportError(
      hs,
      status,
      status === 413 ? { data: extensionsTooLarge(maxHeaderBytes) } : {},
    )
    const { req, res } = exchanges.get(socket) ?? {}
    if (req === undefined || res === undefined || res.writableFinished)
      return respondAndClose(socket, response)
    // A pipelined request failed: its response follows that of the current request.
    if (req.complete) return void res.once('close', () => respondAndClose(socket, response))
    // The body of the current request failed: destroying the request ends its reader.
    res.once('close', () => req.destroy())
    // The current request is already rejected, so its response only has to end.
    if (res.headersSent) return void res.end()
    res.writeHead(response.status, { ...response.headers, connection: 'close' }).end(response.body)
  })

  return {
    trackExchange(req, res) {
      const exchange = exchanges.get(req.socket)
      if (exchange) Object.assign(exchange, { req, res })
      else exchanges.set(req.socket, { req, res })
    },
    respondAndClose,
  }
}

function respondAndClose(socket: Duplex, response: ResponseRecord): void {
  if (!socket.writable) return void socket.destroy()
  socket.on('error', () => {})
  socket.end(serializeResponse(response, STATUS_CODES[response.status] ?? '', new Date().toUTCString()))
  // Destroying the socket at once would reset a client that still writes before it reads the response.
  const timer = setTimeout(() => socket.destroy(), CLOSE_TIMEOUT_MS)
  socket.once('close', () => clearTimeout(timer))
  socket.resume()
}

function extensionsTooLarge(target: number): Record<string, unknown> {
  return { body: { maxSize: { message: `Chunk extensions must be at most ${target} bytes`, target } } }
}
