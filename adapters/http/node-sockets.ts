/** Answers where there is no response object: on the socket itself, in its turn behind answers that are still due. */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HttpService, ResponseRecord } from 'hookswitch'
import { refusal } from './incoming.js'
import { type ParserError, parserStatus, rawAnswer } from './parser-errors.js'

/** How long in milliseconds a refused client may take to read its answer and close. */
const LINGER_MS = 2_000

export interface Sockets {
  /** Notes the request that a socket is at; to be told of every one. */
  exchange(req: IncomingMessage, res: ServerResponse): void
  /** Answers on the bare socket and closes it. */
  end(socket: Duplex, response: ResponseRecord): void
}

/** Listens for `clientError` and answers it in JSON: once a connection, which is closed after it. */
export function answerParserErrors(server: Server, hs: HttpService, maxHeaderBytes: number): Sockets {
  const current = new WeakMap<Duplex, { req: IncomingMessage; res: ServerResponse }>()
  const refused = new WeakSet<Duplex>()

  server.on('clientError', (error: Error & ParserError, socket) => {
    // the parser complains again about each later packet of a broken stream
    if (refused.has(socket)) return
    const status = parserStatus(error, maxHeaderBytes)
    if (status === undefined || !socket.writable) return void socket.destroy()
    refused.add(socket)
    const response = refusal(hs, status, status === 413 ? { data: tooLarge(maxHeaderBytes) } : {})
    const { req, res } = current.get(socket) ?? {}
    if (req === undefined || res === undefined || res.writableFinished) return end(socket, response)
    // a request behind the one being answered: its answer comes after that one
    if (req.complete) return void res.once('close', () => end(socket, response))
    // the body of the request that is being read: nothing more of it comes, and who reads it must hear so
    res.once('close', () => req.destroy())
    // where that is refused already, there is nothing left to wait for
    if (res.headersSent) return void res.end()
    res.writeHead(response.status, { ...response.headers, connection: 'close' }).end(response.body)
  })

  return {
    exchange(req, res) {
      const before = current.get(req.socket)
      if (before) Object.assign(before, { req, res })
      else current.set(req.socket, { req, res })
    },
    end,
  }
}

function end(socket: Duplex, response: ResponseRecord): void {
  if (!socket.writable) return void socket.destroy()
  socket.on('error', () => {})
  socket.end(rawAnswer(response, STATUS_CODES[response.status] ?? '', new Date().toUTCString()))
  // destroyed at once, a client that still writes would be reset before it reads the answer
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
  socket.resume()
}

function tooLarge(target: number): Record<string, unknown> {
  return { body: { maxSize: { message: `Chunk extensions must be at most ${target} bytes`, target } } }
}
