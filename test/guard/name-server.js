// @ts-check
/** A hostile name server on UDP and TCP: changing answers and malformed records. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

const A = 1
const CNAME = 5
const AAAA = 28

/**
 * @typedef {object} Answer the answer to one lookup of a name
 * @property {readonly string[]} four
 * @property {readonly string[]} six
 * @property {Trick} [trick]
 *
 * @typedef {'alias' | 'alias of localhost' | 'loop' | 'other owner' | 'other type' | 'short' | 'long' | 'no name'
 *   | 'failure' | 'silence' | 'corrupted' | 'additional'} Trick
 */

/** @param {string} name */
const encoded = (name) =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ])

/** @param {string} text */
function bytesOf(text) {
  if (!text.includes(':')) return Buffer.from(text.split('.').map(Number))
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text)
  const plain = dotted
    ? `${dotted[1]}${(Number(dotted[2]) * 256 + Number(dotted[3])).toString(16)}:${(Number(dotted[4]) * 256 + Number(dotted[5])).toString(16)}`
    : text
  const [head = '', tail = ''] = plain.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const all = [...left, ...new Array(8 - left.length - right.length).fill('0'), ...right]
  return Buffer.from(
    all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]),
  )
}

/** @param {Buffer} owner @param {number} type @param {Buffer} data */
function record(owner, type, data) {
  const head = Buffer.alloc(10)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(1, 2)
  head.writeUInt16BE(data.length, 8)
  return Buffer.concat([owner, head, data])
}

const QUESTION = Buffer.from([0xc0, 12])

/** @param {Answer} answer @param {number} type @param {string} name */
function records({ four, six, trick }, type, name) {
  const list = type === A ? four : type === AAAA ? six : []
  const other = `x-${name}`
  const owner =
    trick === 'alias' ? encoded(other) : trick === 'other owner' ? encoded('elsewhere.test') : QUESTION
  const kind = trick === 'other type' ? A + AAAA - type : type
  const own = list.map((text) => {
    const bytes = bytesOf(text)
    return record(
      owner,
      kind,
      trick === 'short' ? bytes.subarray(1) : trick === 'long' ? Buffer.concat([bytes, bytes]) : bytes,
    )
  })
  if (trick === 'alias') return [record(QUESTION, CNAME, encoded(other)), ...own]
  if (trick === 'alias of localhost') return [record(QUESTION, CNAME, encoded('localhost')), ...own]
  if (trick === 'loop') return [record(QUESTION, CNAME, QUESTION), ...own]
  return own
}

/** @param {Buffer} query @param {number} end @param {Answer} answer @param {number} type @param {string} name */
function reply(query, end, answer, type, name) {
  if (answer.trick === 'silence') return undefined
  const failed = answer.trick === 'no name' ? 3 : answer.trick === 'failure' ? 2 : 0
  const list = failed === 0 ? records(answer, type, name) : []
  const extra = answer.trick === 'additional' ? [record(QUESTION, A, bytesOf('127.0.0.1'))] : []
  const head = Buffer.from(query.subarray(0, end))
  head.writeUInt16BE(0x8180 | failed, 2)
  head.writeUInt16BE(list.length, 6)
  head.writeUInt16BE(0, 8)
  head.writeUInt16BE(extra.length, 10)
  const whole = Buffer.concat([head, ...list, ...extra])
  if (answer.trick === 'corrupted' && whole.length > end + 2)
    whole[end + (whole.length % (whole.length - end))] = 0xff
  return whole
}

/** @param {(type: 'A' | 'AAAA', name: string) => Answer} answerTo in lower case */
export async function openNameServer(answerTo) {
  let tcpConnections = 0

  /** @param {Buffer} query @param {number} maxBytes */
  function answer(query, maxBytes) {
    let offset = 12
    const labels = []
    for (let length = query[offset] ?? 0; length > 0; length = query[offset] ?? 0) {
      labels.push(query.toString('latin1', offset + 1, offset + 1 + length))
      offset += 1 + length
    }
    const type = query.readUInt16BE(offset + 1)
    const name = labels.join('.').toLowerCase()
    const given = type === A || type === AAAA ? answerTo(type === A ? 'A' : 'AAAA', name) : NO_ADDRESSES
    const whole = reply(query, offset + 5, given, type, name)
    if (!whole || whole.length <= maxBytes) return whole
    const cut = Buffer.from(whole.subarray(0, offset + 5))
    cut.writeUInt16BE(0x8380, 2)
    cut.fill(0, 6, 12)
    return cut
  }

  const tcp = createServer((socket) => {
    tcpConnections += 1
    socket.on('error', () => {})
    let left = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      left = Buffer.concat([left, chunk])
      while (left.length >= 2 && left.length >= 2 + left.readUInt16BE(0)) {
        const size = left.readUInt16BE(0)
        const whole = answer(left.subarray(2, 2 + size), 65_535)
        left = left.subarray(2 + size)
        if (whole) socket.write(Buffer.concat([Buffer.from([whole.length >> 8, whole.length & 255]), whole]))
      }
    })
  })
  tcp.listen(53, '::')
  const udp = createSocket({ type: 'udp4', recvBufferSize: 1 << 20 })
  udp.on('message', (query, peer) => {
    const whole = answer(query, 512)
    if (whole) udp.send(whole, peer.port, peer.address)
  })
  udp.bind(53, '127.0.0.1')
  await Promise.all([once(tcp, 'listening'), once(udp, 'listening')])
  return {
    tcpConnections: () => tcpConnections,
    close() {
      udp.close()
      tcp.close()
    },
  }
}

/** @type {Answer} */
const NO_ADDRESSES = { four: [], six: [] }
