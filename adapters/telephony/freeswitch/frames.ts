/**
 * Splits the byte stream of the event socket into messages. A message is a block of header lines, an empty line, and a
 * body of `Content-Length` bytes. Chunks may end anywhere: an incomplete message is buffered, within the limits below.
 */
import { createPendingBytes } from '../source/pending-bytes.js'

/** Longest first header line, bytes: a peer of another protocol may send no line at all. */
const MAX_FIRST_LINE_BYTES = 65_536
/** Largest header block, bytes: the reply to `connect` consists of all variables of a channel. */
const MAX_HEADER_BLOCK_BYTES = 16_777_216
/** Largest body, bytes: an event has all variables of its channel, whose length FreeSWITCH does not limit. @internal */
export const MAX_BODY_BYTES = 16_777_216
/** Largest reply to an `api` command, bytes: the list of all channels has about 1 KiB per channel. @internal */
export const MAX_REPLY_BYTES = 67_108_864

/**
 * Receives one message.
 *
 * @param type its `Content-Type`
 * @param head its header lines, latin1
 * @param body valid only during the call
 */
type OnFrame = (type: string, head: string, body: Buffer) => void

/** Assembles chunks into messages. */
interface FrameReader {
  /** @throws when the connection must be closed: the peer speaks another protocol, or a limit is exceeded */
  push(chunk: Buffer): void
}

const NEWLINE = 10
const CARRIAGE_RETURN = 13
const SPACE = 32
const COLON = 58

/** The value of a header line; `undefined`: there is no such line. */
export function findHeader(head: string, name: string): string | undefined {
  const key = `${name}: `
  const at = head.startsWith(key) ? 0 : head.indexOf(`\n${key}`) + 1
  if (at === 0 && !head.startsWith(key)) return undefined
  const end = head.indexOf('\n', at)
  return head.slice(at + key.length, end < 0 ? undefined : end)
}

export function createFrameReader(onFrame: OnFrame): FrameReader {
  const pending = createPendingBytes()
  /** Header block of the current message, once it is complete, and the offsets of its body. */
  let head = ''
  let type = ''
  let bodyAt = 0
  let endAt = 0
  /** Offset of the next header line in the current message. */
  let lineAt = 0
  /** No header line ends between `lineAt` and this offset of the current message. */
  let searched = 0

  /** Reads header lines of the message that begins at `at`; returns whether the header block is complete. */
  const readHead = (bytes: Buffer, at: number): boolean => {
    for (;;) {
      const line = at + lineAt
      const newline = bytes.indexOf(NEWLINE, Math.max(line, at + searched))
      if (newline < 0) {
        checkHead(at, line, bytes.length)
        searched = bytes.length - at
        return false
      }
      if (newline === line) {
        head = bytes.toString('latin1', at, line)
        type = findHeader(head, 'Content-Type') ?? ''
        bodyAt = newline + 1 - at
        endAt = bodyAt + bodyLength(head, type)
        return true
      }
      checkHead(at, line, newline)
      if (bytes[newline - 1] === CARRIAGE_RETURN || (lineAt === 0 && !isHeaderLine(bytes, line, newline)))
        throw new Error('the peer does not speak the event socket protocol')
      lineAt = newline + 1 - at
    }
  }

  /** Reads the message that begins at `at`; returns where the next one begins, -1: incomplete. */
  const readFrame = (bytes: Buffer, at: number): number => {
    // Some replies end with one newline too many.
    if (lineAt === 0 && bytes[at] === NEWLINE) return at + 1
    if (at === bytes.length || (endAt === 0 && !readHead(bytes, at)) || at + endAt > bytes.length) return -1
    const body = bytes.subarray(at + bodyAt, at + endAt)
    const next = at + endAt
    lineAt = 0
    searched = 0
    endAt = 0
    onFrame(type, head, body)
    return next
  }

  return {
    push(chunk) {
      const bytes = pending.append(chunk)
      let at = 0
      for (let next = 0; next >= 0; next = readFrame(bytes, at)) at = next
      pending.keepLast(bytes.length - at)
    },
  }
}

/** @throws when the header block that begins at `at`, or its first line, is too long */
function checkHead(at: number, line: number, end: number): void {
  if (line === at && end - line > MAX_FIRST_LINE_BYTES) throw new Error('a first header line above 64 KiB')
  if (end - at > MAX_HEADER_BLOCK_BYTES) throw new Error('a header block above 16 MiB')
}

/** Whether the first line of a header block looks like `Name: value`. */
function isHeaderLine(buffer: Buffer, line: number, end: number): boolean {
  const colon = buffer.indexOf(COLON, line)
  return colon > line && colon < end && buffer[colon + 1] === SPACE && isLetter(buffer[line] ?? 0)
}

function isLetter(byte: number): boolean {
  return (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122)
}

function bodyLength(head: string, type: string): number {
  const value = findHeader(head, 'Content-Length')
  if (value === undefined) return 0
  const bytes = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN
  if (Number.isNaN(bytes)) throw new Error('Content-Length is not a number')
  const limit = type === 'api/response' ? MAX_REPLY_BYTES : MAX_BODY_BYTES
  if (bytes > limit) throw new Error(`a body above ${limit / 1_048_576} MiB`)
  return bytes
}
