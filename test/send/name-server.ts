/** A name server of our own on loopback, UDP and TCP: answers by the first label of the name that is asked for. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { later } from './hostile.js'

const A = 1
const NS = 2
const AAAA = 28

export interface NameServer {
  /** For `ResolverOptions.servers`. */
  readonly address: string
  /** Questions seen, as "A name". */
  readonly asked: string[]
}

/** `undefined`: no answer at all. A number: an error code (RFC 1035, 4.1.1). A list: addresses, as bytes. */
type Reply = number | undefined | readonly (readonly number[])[]

/** `roots` says whether a question about the root is answered; `spoil` changes whole answers on their way. */
export async function nameServer(
  reply: (type: 'A' | 'AAAA', name: string) => Reply,
  roots = true,
  spoil: (whole: Buffer, name: string) => Buffer = (whole) => whole,
): Promise<NameServer> {
  const asked: string[] = []

  function answer(query: Buffer, room: number): Buffer | undefined {
    const labels: string[] = []
    let at = 12
    for (let length = query[at]!; length > 0; length = query[at]!) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const type = query.readUInt16BE(at + 1)
    const name = labels.join('.').toLowerCase()
    asked.push(`${{ [A]: 'A', [AAAA]: 'AAAA', [NS]: 'NS' }[type] ?? type} ${name}`)
    const found = type === NS ? (roots ? 3 : undefined) : reply(type === A ? 'A' : 'AAAA', name)
    if (found === undefined) return undefined
    const records = typeof found === 'number' ? [] : found
    const head = Buffer.from(query.subarray(0, at + 5))
    head.writeUInt16BE(0x8180 | (typeof found === 'number' ? found : 0), 2)
    head.writeUInt16BE(records.length, 6)
    head.writeUInt32BE(0, 8)
    const body = records.map((bytes) =>
      Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
    )
    const whole = spoil(Buffer.concat([head, ...body]), name)
    if (whole.length <= room) return whole
    head.writeUInt16BE(0x8380, 2)
    head.writeUInt16BE(0, 6)
    return head
  }

  const tcp = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      const whole = answer(chunk.subarray(2), 65_535)
      if (whole) socket.write(Buffer.concat([Buffer.from([whole.length >> 8, whole.length & 255]), whole]))
    })
  })
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const { port } = tcp.address() as AddressInfo
  const udp = createSocket('udp4')
  udp.on('message', (query, peer) => {
    const whole = answer(query, 512)
    if (whole) udp.send(whole, peer.port, peer.address)
  })
  udp.bind(port, '127.0.0.1')
  await once(udp, 'listening')
  later(() => {
    udp.close()
    tcp.close()
  })
  return { address: `127.0.0.1:${port}`, asked }
}
