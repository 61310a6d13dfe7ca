/**
 * The framing of FreeSWITCH's event socket: a block of header lines, an empty line, then as many bytes of body as
 * `Content-Length` says. Reads end anywhere; what is not whole waits, and what waits is bounded.
 */

/** Most bytes of one header line. */
export const MAX_LINE_BYTES = 65_536
/** Most bytes of a header block. */
export const MAX_HEAD_BYTES = 262_144
/** Most bytes of a body. */
export const MAX_BODY_BYTES = 1_048_576
/** Most bytes of the answer to a question of ours: the list of all channels has about 1 KiB for each. */
export const MAX_ANSWER_BYTES = 67_108_864

/**
 * Takes one message.
 *
 * @param type its `Content-Type`
 * @param head its header lines, latin1
 * @param body valid only during the call
 */
export type TakeFrame = (type: string, head: string, body: Buffer) => void

/** Puts reads together. */
export interface FrameReader {
  /** @throws what ends the connection, in a few words: no event socket, or too long */
  push(chunk: Buffer): void
}

const NEWLINE = 10
const RETURN = 13
const SPACE = 32
const COLON = 58
const NOTHING_HELD = Buffer.alloc(0)
/** A buffer that grew larger than this is not kept for the next message. */
const KEPT_BYTES = 262_144

/** The value of a header line; `undefined`: there is none of this name. */
export function headerOf(head: string, name: string): string | undefined {
  const key = `${name}: `
  const line = head.startsWith(key) ? 0 : head.indexOf(`\n${key}`) + 1
  if (line === 0 && !head.startsWith(key)) return undefined
  const end = head.indexOf('\n', line)
  return head.slice(line + key.length, end < 0 ? undefined : end)
}

export function frameReader(take: TakeFrame): FrameReader {
  let held = NOTHING_HELD
  let length = 0
  /** The message being read: its header block, once that is whole, and where its body begins and ends. */
  let head = ''
  let type = ''
  let bodyAt = 0
  let endAt = 0
  /** Where its next line begins. */
  let lineAt = 0

  const hold = (chunk: Buffer, at: number, end: number) => {
    const needed = length + end - at
    if (needed > held.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, endAt, 2 * held.length))
      held.copy(larger, 0, 0, length)
      held = larger
    }
    chunk.copy(held, length, at, end)
    length = needed
  }

  /** Reads header lines from `at`, the begin of the message; whether the block is whole. */
  const readHead = (buffer: Buffer, at: number, end: number): boolean => {
    for (;;) {
      const line = at + lineAt
      const newline = buffer.indexOf(NEWLINE, line)
      if (newline < 0 || newline >= end) {
        if (end - line > MAX_LINE_BYTES) throw new Error('a header line above 64 KiB')
        if (end - at > MAX_HEAD_BYTES) throw new Error('a header block above 256 KiB')
        return false
      }
      if (newline === line) {
        head = buffer.toString('latin1', at, line)
        type = headerOf(head, 'Content-Type') ?? ''
        bodyAt = newline + 1 - at
        endAt = bodyAt + bodyLength(head, type)
        return true
      }
      if (newline - line > MAX_LINE_BYTES) throw new Error('a header line above 64 KiB')
      if (buffer[newline - 1] === RETURN || (lineAt === 0 && !isHeader(buffer, line, newline)))
        throw new Error('it does not speak the event socket protocol')
      lineAt = newline + 1 - at
    }
  }

  /** Where the next message begins; -1: this one is not whole. */
  const readFrame = (buffer: Buffer, begin: number, end: number): number => {
    let at = begin
    // Some answers end with one newline too many.
    if (lineAt === 0) while (at < end && buffer[at] === NEWLINE) at += 1
    if (at !== begin) return at
    if (endAt === 0 && !readHead(buffer, at, end)) return -1
    if (at + endAt > end) return -1
    const body = buffer.subarray(at + bodyAt, at + endAt)
    const next = at + endAt
    lineAt = 0
    endAt = 0
    take(type, head, body)
    return next
  }

  return {
    push(chunk) {
      const isHeld = length > 0
      if (isHeld) hold(chunk, 0, chunk.length)
      const buffer = isHeld ? held : chunk
      const end = isHeld ? length : chunk.length
      let at = 0
      while (at < end) {
        const next = readFrame(buffer, at, end)
        if (next < 0) break
        at = next
      }
      if (!isHeld) {
        if (at < end) hold(chunk, at, end)
        return
      }
      held.copyWithin(0, at, end)
      length = end - at
      if (length === 0 && held.length > KEPT_BYTES) held = NOTHING_HELD
    },
  }
}

/** Whether the first line of a block looks like `Name: value`. */
function isHeader(buffer: Buffer, line: number, end: number): boolean {
  const colon = buffer.indexOf(COLON, line)
  return colon > line && colon < end && buffer[colon + 1] === SPACE && isLetter(buffer[line] ?? 0)
}

function isLetter(byte: number): boolean {
  return (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122)
}

function bodyLength(head: string, type: string): number {
  const given = headerOf(head, 'Content-Length')
  if (given === undefined) return 0
  const bytes = /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN
  if (Number.isNaN(bytes)) throw new Error('a Content-Length that is no number')
  const most = type === 'api/response' ? MAX_ANSWER_BYTES : MAX_BODY_BYTES
  if (bytes > most) throw new Error(`a body above ${most / 1_048_576} MiB`)
  return bytes
}
