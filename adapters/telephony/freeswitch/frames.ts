/**
 * Splits the byte stream of the event socket into messages. A message is a block of header lines, an empty line, and a
 * body of `Content-Length` bytes. Chunks may end anywhere: an incomplete message is buffered, within the limits below.
 */

/** Longest first header line, bytes: a peer of another protocol may send no line at all. */
export const MAX_FIRST_LINE_BYTES = 65_536
/** Largest header block, bytes: the reply to `connect` consists of all variables of a channel. */
export const MAX_HEADER_BLOCK_BYTES = 16_777_216
/** Largest body, bytes: an event has all variables of its channel, whose length FreeSWITCH does not limit. */
export const MAX_BODY_BYTES = 16_777_216
/** Largest reply to an `api` command, bytes: the list of all channels has about 1 KiB per channel. */
export const MAX_REPLY_BYTES = 67_108_864

/**
 * Receives one message.
 *
 * @param type its `Content-Type`
 * @param head its header lines, latin1
 * @param body valid only during the call
 */
export type OnFrame = (type: string, head: string, body: Buffer) => void

/** Assembles chunks into messages. */
export interface FrameReader {
  /** @throws when the connection must be closed: the peer speaks another protocol, or a limit is exceeded */
  push(chunk: Buffer): void
}

const NEWLINE = 10
const CARRIAGE_RETURN = 13
const SPACE = 32
const COLON = 58
const EMPTY = Buffer.alloc(0)
/** How much is copied at once of a message whose length is not known yet. */
const HEAD_STEP_BYTES = 256
/** A larger buffer is released after its message. */
const MAX_RETAINED_BYTES = 262_144

/** The value of a header line; `undefined`: there is no such line. */
export function findHeader(head: string, name: string): string | undefined {
  const key = `${name}: `
  const at = head.startsWith(key) ? 0 : head.indexOf(`\n${key}`) + 1
  if (at === 0 && !head.startsWith(key)) return undefined
  const end = head.indexOf('\n', at)
  return head.slice(at + key.length, end < 0 ? undefined : end)
}

export function createFrameReader(onFrame: OnFrame): FrameReader {
  /** The incomplete message: the first `length` bytes of `buffered`. */
  let buffered = EMPTY
  let length = 0
  /** Header block of the current message, once it is complete, and the offsets of its body. */
  let head = ''
  let type = ''
  let bodyAt = 0
  let endAt = 0
  /** Offset of the next header line in the current message. */
  let lineAt = 0
  /** No header line ends between `lineAt` and this offset of the current message. */
  let searched = 0

  const append = (chunk: Buffer, at: number, end: number) => {
    const needed = length + end - at
    if (needed > buffered.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, endAt, 2 * buffered.length))
      buffered.copy(larger, 0, 0, length)
      buffered = larger
    }
    chunk.copy(buffered, length, at, end)
    length = needed
  }

  /** Reads header lines of the message that begins at `at`; returns whether the header block is complete. */
  const readHead = (buffer: Buffer, at: number, end: number): boolean => {
    const received = end === buffer.length ? buffer : buffer.subarray(0, end)
    for (;;) {
      const line = at + lineAt
      const newline = received.indexOf(NEWLINE, Math.max(line, at + searched))
      if (newline < 0) {
        checkHead(at, line, end)
        searched = end - at
        return false
      }
      if (newline === line) {
        head = buffer.toString('latin1', at, line)
        type = findHeader(head, 'Content-Type') ?? ''
        bodyAt = newline + 1 - at
        endAt = bodyAt + bodyLength(head, type)
        return true
      }
      checkHead(at, line, newline)
      if (buffer[newline - 1] === CARRIAGE_RETURN || (lineAt === 0 && !isHeaderLine(buffer, line, newline)))
        throw new Error('the peer does not speak the event socket protocol')
      lineAt = newline + 1 - at
    }
  }

  /** Reads the message that begins at `begin`; returns where the next one begins, -1: incomplete. */
  const readFrame = (buffer: Buffer, begin: number, end: number): number => {
    let at = begin
    // Some replies end with one newline too many.
    if (lineAt === 0) while (at < end && buffer[at] === NEWLINE) at += 1
    if (at !== begin) return at
    if (endAt === 0 && !readHead(buffer, at, end)) return -1
    if (at + endAt > end) return -1
    const body = buffer.subarray(at + bodyAt, at + endAt)
    const next = at + endAt
    lineAt = 0
    searched = 0
    endAt = 0
    onFrame(type, head, body)
    return next
  }

  /** Reads the messages from `at` on; returns where the incomplete one begins. */
  const readFrames = (buffer: Buffer, at: number, end: number): number => {
    let begin = at
    while (begin < end) {
      const next = readFrame(buffer, begin, end)
      if (next < 0) break
      begin = next
    }
    return begin
  }

  return {
    push(chunk) {
      let at = 0
      // Only the rest of the incomplete message is copied; the messages behind it are read where they are.
      while (length > 0 && at < chunk.length) {
        const missing = endAt > 0 ? endAt - length : HEAD_STEP_BYTES
        const end = Math.min(chunk.length, at + missing)
        append(chunk, at, end)
        at = end
        const rest = readFrames(buffered, 0, length)
        if (rest === 0) continue
        buffered.copyWithin(0, rest, length)
        length -= rest
        if (length === 0 && buffered.length > MAX_RETAINED_BYTES) buffered = EMPTY
      }
      if (at === chunk.length) return
      const rest = readFrames(chunk, at, chunk.length)
      if (rest < chunk.length) append(chunk, rest, chunk.length)
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
