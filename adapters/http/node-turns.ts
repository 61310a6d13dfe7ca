/** Handles the requests of a connection one after the other: the next one when the response before it was taken. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that wait for their turn; a client that sends more without reading is disconnected. */
const MAX_WAITING = 100

/** Node's parser of a connection, which has no public API; `onIncoming` is called for each request. */
interface Parsed extends Socket {
  readonly parser?: { onIncoming: () => number } | null
}

/** The value with which Node's parser leaves the rest of a packet to another protocol. */
const STOP_PARSING = 2

/**
 * Closes a connection without parsing the rest of what it sent: a packet may have a thousand requests, and Node keeps all of
 * them until the next turn of the event loop.
 */
function disconnect(socket: Parsed): void {
  socket.destroy()
  if (socket.parser) socket.parser.onIncoming = () => STOP_PARSING
}

interface Connection {
  last: ServerResponse
  waiting: number
}

const connections = new WeakMap<Socket, Connection>()

/**
 * Runs `handle` when the earlier requests of the connection are answered, and their responses taken (RFC 9112, section
 * 9.3.2, lets a client send requests without waiting). Never runs it if the connection is closed before, or has sent its last
 * response because the server closes.
 */
export function inTurn(req: IncomingMessage, res: ServerResponse, handle: () => void): void {
  // The requests of an HTTP/2 connection are independent; its flow control limits each.
  if (req.httpVersionMajor !== 1) return void handle()
  const { socket } = req
  const connection = connections.get(socket)
  if (!connection) {
    connections.set(socket, { last: res, waiting: 0 })
    return void handle()
  }
  const { last } = connection
  connection.last = res
  if (last.writableFinished) return void handle()
  if (socket.destroyed) return
  if (connection.waiting === MAX_WAITING) return void disconnect(socket)
  connection.waiting += 1
  last.once('close', () => {
    connection.waiting -= 1
    if (socket.writable) handle()
  })
}
