/** Asks a server over kept connections, each again as soon as it is answered, with as little work as can be. */
import { connect } from 'node:net'
import { answerParent, timed } from '../processes.js'

const ends = (socket) => new Promise((resolve) => socket.once('close', resolve))

/** Bytes of a whole answer, once it is there: the others are as long. */
function lengthOf(buffer) {
  const end = buffer.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(buffer.latin1Slice(0, end))
  return end + 4 + Number(length)
}

async function ask(port, request, next, fail) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let length
  let read = 0
  socket.on('error', fail)
  socket.on('data', (chunk) => {
    if (read === 0 && chunk.latin1Slice(0, 12) !== 'HTTP/1.1 200') {
      fail(new Error(`not an answer: ${chunk.latin1Slice(0, 80)}`))
    }
    length ??= lengthOf(chunk)
    read += chunk.length
    if (length === undefined || read < length) return
    if (read > length) fail(new Error('answers of different lengths'))
    read = 0
    if (next()) socket.write(request)
    else socket.end()
  })
  if (next()) socket.write(request)
  else socket.end()
  await ends(socket)
}

answerParent({
  run: ({ port, path, token, connections, count }) =>
    timed(
      () =>
        new Promise((resolve, reject) => {
          const head = [`GET ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Accept: application/json']
          const request = Buffer.from(`${[...head, `X-Auth-Token: ${token}`].join('\r\n')}\r\n\r\n`)
          let left = count
          const next = () => left-- > 0
          const asking = Array.from({ length: connections }, () => ask(port, request, next, reject))
          Promise.all(asking).then(resolve)
        }),
    ),
})
