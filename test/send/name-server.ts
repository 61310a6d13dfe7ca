/** A scripted name server on loopback, over UDP and TCP. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { onCleanup } from './harness.js'

const A = 1
const NS = 2
const AAAA = 28

export interface NameServer {
  /** For `DnsResolverOptions.servers`. */
  readonly address: string
  /** Received queries, such as "A name". */
  readonly queries: string[]
}

/** `undefined`: no response. A number: an error code (RFC 1035, 4.1.1). A list: addresses, as bytes. */
export type Reply = number | undefined | readonly (readonly number[])[]

/** `answersRoot`: whether queries for the root are answered. `corrupt` modifies complete responses. */
export async function startNameServer(
  reply: (type: 'A' | 'AAAA', name: string) => Reply,
  answersRoot = true,
  corrupt: (response: Buffer, name: string) => Buffer = (response) => response,
): Promise<NameServer> {
  const queries: string[] = []

  function respond(query: Buffer, maxLength: number): Buffer | undefined {
    const labels: string[] = []
    let offset = 12
    for (let length = query[offset]!; length > 0; length = query[offset]!) {
      labels.push(query.toString('latin1', offset + 1, offset + 1 + length))
      offset += 1 + length
    }
    const type = query.readUInt16BE(offset + 1)
    const name = labels.join('.').toLowerCase()
    queries.push(`${{ [A]: 'A', [AAAA]: 'AAAA', [NS]: 'NS' }[type] ?? type} ${name}`)
    const found = type === NS ? (answersRoot ? 3 : undefined) : reply(type === A ? 'A' : 'AAAA', name)
    if (found === undefined) return undefined
    const records = typeof found === 'number' ? [] : found
    const head = Buffer.from(query.subarray(0, offset + 5))
    head.writeUInt16BE(0x8180 | (typeof found === 'number' ? found : 0), 2)
    head.writeUInt16BE(records.length, 6)
    head.writeUInt32BE(0, 8)
    const body = records.map((bytes) =>
      Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
    )
    const response = corrupt(Buffer.concat([head, ...body]), name)
    if (response.length <= maxLength) return response
    head.writeUInt16BE(0x8380, 2)
    head.writeUInt16BE(0, 6)
    return head
  }

  const tcp = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      const response = respond(chunk.subarray(2), 65_535)
      if (response)
        socket.write(Buffer.concat([Buffer.from([response.length >> 8, response.length & 255]), response]))
    })
  })
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const { port } = tcp.address() as AddressInfo
  const udp = createSocket('udp4')
  udp.on('message', (query, peer) => {
    const response = respond(query, 512)
    if (response) udp.send(response, peer.port, peer.address)
  })
  udp.bind(port, '127.0.0.1')
  await once(udp, 'listening')
  onCleanup(() => {
    udp.close()
    tcp.close()
  })
  return { address: `127.0.0.1:${port}`, queries }
}
