/**
 * The server side of RFC 6455, as far as a fake needs it: sends unfragmented text frames, answers control frames. Frames of
 * a client are only validated.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** RFC 6455, 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
/** A larger frame of a client ends the connection, bytes: ARI clients send no data. */
const MAX_FRAME_BYTES = 65_536

export const TEXT = 1
const CLOSE = 8
const PING = 9
const PONG = 10

/** The response that upgrades to WebSocket; `undefined`: the request is not a valid upgrade. */
export function upgradeResponse({ headers, method }: IncomingMessage): string | undefined {
  const key = headers['sec-websocket-key']
  const isUpgrade = method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
  if (!isUpgrade || key === undefined || headers['sec-websocket-version'] !== '13') return undefined
  const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64')
  const protocol = headers['sec-websocket-protocol']?.split(',')[0]?.trim()
  const protocolHeader = protocol ? `Sec-WebSocket-Protocol: ${protocol}\r\n` : ''
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${protocolHeader}\r\n`
}

/** One final, unmasked frame. */
export function encodeFrame(opcode: number, payload: Buffer): Buffer {
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

/** Output of a frame reader. */
interface FrameReaderDeps {
  readonly send: (bytes: Buffer) => void
  /** Ends the connection after the bytes sent so far. */
  readonly end: () => void
}

/** Reads a client's frames, in chunks that may end anywhere: answers pings and closes, ends after a protocol error. */
export function createFrameReader({ send, end }: FrameReaderDeps): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0)
  let isClosed = false
  const close = (code: number) => {
    isClosed = true
    const reason = Buffer.alloc(2)
    reason.writeUInt16BE(code)
    send(encodeFrame(CLOSE, reason))
    end()
  }
  return (chunk) => {
    pending = Buffer.concat([pending, chunk])
    while (!isClosed && pending.length >= 2) {
      const opcode = pending[0]! & 0x0f
      const shortLength = pending[1]! & 0x7f
      // Clients must mask their frames (5.1), and control frames have at most 125 bytes (5.5).
      if ((pending[1]! & 0x80) === 0 || (opcode >= CLOSE && shortLength > 125)) return close(1002)
      const headLength = 2 + (shortLength === 126 ? 2 : shortLength === 127 ? 8 : 0)
      if (pending.length < headLength + 4) return
      const length =
        shortLength === 126
          ? pending.readUInt16BE(2)
          : shortLength === 127
            ? Number(pending.readBigUInt64BE(2))
            : shortLength
      if (length > MAX_FRAME_BYTES) return close(1009)
      const total = headLength + 4 + length
      if (pending.length < total) return
      const mask = pending.subarray(headLength, headLength + 4)
      const payload = Buffer.from(pending.subarray(headLength + 4, total))
      for (let at = 0; at < payload.length; at += 1) payload[at] = payload[at]! ^ mask[at % 4]!
      pending = pending.subarray(total)
      if (opcode === PING) send(encodeFrame(PONG, payload))
      else if (opcode === CLOSE) return close(payload.length >= 2 ? payload.readUInt16BE(0) : 1000)
    }
  }
}
