/** A server that costs next to nothing: whole requests in, the same small 200 out. */
import { createServer } from 'node:net'

const ANSWER = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\nkeep-alive: timeout=30\r\n\r\nok',
)
const EMPTY = Buffer.alloc(0)

/** Bytes of the first whole request in the buffer; `undefined`: more must come. */
function lengthOf(buffer) {
  const end = buffer.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(buffer.latin1Slice(0, end)) ?? []
  const whole = end + 4 + Number(length)
  return buffer.length < whole ? undefined : whole
}

const atOnce = (socket, answer) => socket.write(answer)

/**
 * @param {(buffer: Buffer, length: number, arrived: number) => void} heard the first `length` bytes are a request
 * @param {{ now?: () => number, write?: (socket: import('node:net').Socket, answer: Buffer) => void }} how `now`: read
 *   when the first byte of a request is there; `write`: sends the answer
 */
export function bareServer(heard, { now = () => 0, write = atOnce } = {}) {
  return createServer({ noDelay: true }, (socket) => {
    let unread = EMPTY
    let arrived = 0
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      if (unread.length === 0) arrived = now()
      let buffer = unread.length === 0 ? chunk : Buffer.concat([unread, chunk])
      for (let length = lengthOf(buffer); length !== undefined; length = lengthOf(buffer)) {
        heard(buffer, length, arrived)
        buffer = buffer.subarray(length)
        write(socket, ANSWER)
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
