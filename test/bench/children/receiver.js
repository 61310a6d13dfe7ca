/** A receiver that costs next to nothing: whole requests in, the same small 200 out. */
import { createServer } from 'node:net'
import { answerParent } from '../processes.js'

const ANSWER = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\nkeep-alive: timeout=30\r\n\r\nok',
)
const EMPTY = Buffer.alloc(0)

let sample = ''
let received = 0

/** Bytes of the first whole request in the buffer; `undefined`: more must come. */
function lengthOf(buffer) {
  const end = buffer.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(buffer.latin1Slice(0, end)) ?? []
  const whole = end + 4 + Number(length)
  return buffer.length < whole ? undefined : whole
}

const server = createServer({ noDelay: true }, (socket) => {
  let unread = EMPTY
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    let buffer = unread.length === 0 ? chunk : Buffer.concat([unread, chunk])
    for (let length = lengthOf(buffer); length !== undefined; length = lengthOf(buffer)) {
      received += 1
      if (sample === '') sample = buffer.toString('latin1', 0, length)
      buffer = buffer.subarray(length)
      socket.write(ANSWER)
    }
    unread = buffer
  })
})

answerParent({
  listen: () =>
    new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({ port: server.address().port }))),
  /** The first request, as it came. */
  sample: () => sample,
  received: () => received,
})
