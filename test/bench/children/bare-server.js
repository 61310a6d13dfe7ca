/** A minimal HTTP server: answers each complete request with the same small 200 response. */
import { createServer } from 'node:net'

const RESPONSE = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\nkeep-alive: timeout=30\r\n\r\nok',
)
const EMPTY = Buffer.alloc(0)

/** Length in bytes of the first request in the buffer; `undefined` if it is incomplete. */
function requestLength(buffer) {
  const end = buffer.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(buffer.latin1Slice(0, end)) ?? []
  const total = end + 4 + Number(length)
  return buffer.length < total ? undefined : total
}

const writeNow = (socket, response) => socket.write(response)

/**
 * @param {(buffer: Buffer, length: number, arrived: number) => void} onRequest the first `length` bytes are a request
 * @param {{ now?: () => number, write?: (socket: import('node:net').Socket, response: Buffer) => void }} options
 *   `now`: called when the first byte of a request arrives; its result is `arrived`; `write`: sends the response
 */
export function createBareServer(onRequest, { now = () => 0, write = writeNow } = {}) {
  return createServer({ noDelay: true }, (socket) => {
    let unread = EMPTY
    let arrived = 0
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      if (unread.length === 0) arrived = now()
      let buffer = unread.length === 0 ? chunk : Buffer.concat([unread, chunk])
      for (let length = requestLength(buffer); length !== undefined; length = requestLength(buffer)) {
        onRequest(buffer, length, arrived)
        buffer = buffer.subarray(length)
        write(socket, RESPONSE)
      }
      unread = buffer
    })
  })
}

/** Listens on a free port of the loopback interface. */
export const listen = (server) =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve({ port: server.address().port }))
  })
