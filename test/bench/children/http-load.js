/** A minimal HTTP load generator: keep-alive connections that each send the next request on every response. */
import { connect } from 'node:net'
import { handleRequests, measureTime } from '../processes.js'

const closed = (socket) => new Promise((resolve) => socket.once('close', resolve))

/** Length in bytes of a response, once its head is complete. All responses have the same length. */
function responseLength(buffer) {
  const end = buffer.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(buffer.latin1Slice(0, end))
  return end + 4 + Number(length)
}

async function runConnection(port, nextRequest, next, fail) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let length
  let read = 0
  socket.on('error', fail)
  socket.on('data', (chunk) => {
    if (read === 0 && chunk.latin1Slice(0, 12) !== 'HTTP/1.1 200') {
      fail(new Error(`not a 200 response: ${chunk.latin1Slice(0, 80)}`))
    }
    length ??= responseLength(chunk)
    read += chunk.length
    if (length === undefined || read < length) return
    if (read > length) fail(new Error('responses of different lengths'))
    read = 0
    if (next()) socket.write(nextRequest())
    else socket.end()
  })
  if (next()) socket.write(nextRequest())
  else socket.end()
  await closed(socket)
}

handleRequests({
  /** `paths`: requested in turn; or `path` alone. */
  run: ({ port, path, paths = [path], token, connections, count }) =>
    measureTime(
      () =>
        new Promise((resolve, reject) => {
          const requests = paths.map((path) => {
            const head = [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Accept: application/json']
            return Buffer.from(`${[...head, `X-Auth-Token: ${token}`].join('\r\n')}\r\n\r\n`)
          })
          let sent = 0
          const nextRequest = () => requests[sent++ % requests.length]
          let left = count
          const next = () => left-- > 0
          const running = Array.from({ length: connections }, () =>
            runConnection(port, nextRequest, next, reject),
          )
          Promise.all(running).then(resolve)
        }),
    ),
})
