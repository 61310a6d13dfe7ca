/** The server's side of RFC 6455, as much of it as a fake needs: whole text frames out, control frames both ways. */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** RFC 6455, 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** A frame of a client above this size ends the connection: an ARI client has nothing to say. */
const LONGEST = 65_536

export const TEXT = 1
const CLOSE = 8
const PING = 9
const PONG = 10

/** What opens a WebSocket; undefined: the request does not ask for one. */
export function handshake({ headers, method }: IncomingMessage): string | undefined {
  const key = headers['sec-websocket-key']
  const isAsked = method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
  if (!isAsked || key === undefined || headers['sec-websocket-version'] !== '13') return undefined
  const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64')
  const protocol = headers['sec-websocket-protocol']?.split(',')[0]?.trim()
  const chosen = protocol ? `Sec-WebSocket-Protocol: ${protocol}\r\n` : ''
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${chosen}\r\n`
}

/** One frame, not masked, as servers send them. */
export function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head[0] = 0x80 | opcode
  if (length < 126) head[1] = length
  else if (length < 65_536) {
    head[1] = 126
    head.writeUInt16BE(length, 2)
  } else {
    head[1] = 127
    head.writeBigUInt64BE(BigInt(length), 2)
  }
  return Buffer.concat([head, payload])
}

/** Says bytes, and ends the connection after some. */
export interface FrameDoors {
  readonly say: (bytes: Buffer) => void
  readonly end: () => void
}

/** Takes what a client sends, in any pieces: answers pings, answers a close and ends, ends after nonsense. */
export function frameReader({ say, end }: FrameDoors): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0)
  let isOver = false
  const close = (code: number) => {
    isOver = true
    const reason = Buffer.alloc(2)
    reason.writeUInt16BE(code)
    say(frame(CLOSE, reason))
    end()
  }
  return (chunk) => {
    pending = Buffer.concat([pending, chunk])
    while (!isOver && pending.length >= 2) {
      const opcode = pending[0]! & 0x0f
      const short = pending[1]! & 0x7f
      // A client that does not mask breaks the protocol (5.1); so does a control frame of more than 125 bytes (5.5).
      if ((pending[1]! & 0x80) === 0 || (opcode >= CLOSE && short > 125)) return close(1002)
      const headLength = 2 + (short === 126 ? 2 : short === 127 ? 8 : 0)
      if (pending.length < headLength + 4) return
      const length =
        short === 126 ? pending.readUInt16BE(2) : short === 127 ? Number(pending.readBigUInt64BE(2)) : short
      if (length > LONGEST) return close(1009)
      const total = headLength + 4 + length
      if (pending.length < total) return
      const mask = pending.subarray(headLength, headLength + 4)
      const payload = Buffer.from(pending.subarray(headLength + 4, total))
      for (let at = 0; at < payload.length; at += 1) payload[at] = payload[at]! ^ mask[at % 4]!
      pending = pending.subarray(total)
      if (opcode === PING) say(frame(PONG, payload))
      else if (opcode === CLOSE) return close(payload.length >= 2 ? payload.readUInt16BE(0) : 1000)
    }
  }
}
