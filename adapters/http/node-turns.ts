/** Handles the requests of a connection one after the other: the next one when the response before it was taken. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection that wait for their turn; a client that sends more without reading is disconnected. */
const MAX_WAITING = 100

interface Connection {
  last: ServerResponse
  waiting: number
}

const connections = new WeakMap<Socket, Connection>()

/**
 * Runs `handle` when the earlier requests of the connection are answered, and their responses taken (RFC 9112, section
 * 9.3.2, lets a client send requests without waiting). Never runs it if the connection closes before.
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
  if (connection.waiting === MAX_WAITING) return void socket.destroy()
  connection.waiting += 1
  last.once('close', () => {
    connection.waiting -= 1
    if (!socket.destroyed) handle()
  })
}
