/** A name server on loopback: names of living zones have the address 127.0.0.1, all others never get an answer. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { handleRequests } from '../processes.js'

const A = 1
const AAAA = 28
const NOT_FOUND = 3
/** A record of the name in the question: type A, class IN, 60 s, four bytes. */
const ADDRESS = Buffer.from([0xc0, 12, 0, A, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1])

/** The response to a query; `undefined`: none. */
function responseTo(query, living) {
  let end = 12
  const labels = []
  for (let length = query[end]; length > 0; length = query[end]) {
    labels.push(query.latin1Slice(end + 1, end + 1 + length))
    end += 1 + length
  }
  const type = query.readUInt16BE(end + 1)
  const isAddress = type === A || type === AAAA
  if (isAddress && !labels.join('.').endsWith(living)) return undefined
  const head = Buffer.from(query.subarray(0, end + 5))
  head.writeUInt16BE(0x8180 | (isAddress ? 0 : NOT_FOUND), 2)
  head.writeUInt16BE(type === A ? 1 : 0, 6)
  head.writeUInt32BE(0, 8)
  return type === A ? Buffer.concat([head, ADDRESS]) : head
}

handleRequests({
  /** @param {{ living: string }} input the suffix of the names that have an address */
  async listen({ living }) {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 })
    socket.on('message', (query, { port, address }) => {
      const response = responseTo(query, living)
      if (response) socket.send(response, port, address)
    })
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    return { server: `127.0.0.1:${socket.address().port}` }
  },
})
