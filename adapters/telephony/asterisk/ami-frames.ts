/**
 * Splits the bytes of an AMI connection into messages. A message is a sequence of lines, followed by an empty line; the
 * first line of a connection is a banner. Any number of empty lines may follow.
 *
 * Lines end with CRLF, and then a bare LF does not end a line: values may contain it (`Message: Park successful\n`). In a
 * message whose first line ends with LF alone, as a program between the switch and this one may send it, every line does.
 * A message whose end is missing ends before the next line that begins a message. Bytes that belong to no message are
 * skipped, as is a message that is too long, because a variable is.
 */

import { createPendingBytes } from '../source/pending-bytes.js'

/** A longer banner ends the connection. */
const MAX_BANNER_BYTES = 65_536
/** A longer message is skipped. */
const MAX_MESSAGE_BYTES = 8_388_608
/** A longer message ends the connection: it may never end. */
const MAX_SKIPPED_BYTES = 67_108_864
/** The start of the banner in every version. */
const BANNER = 'Asterisk Call Manager/'

const [CR, LF] = [13, 10]
const MESSAGE_END = Buffer.from('\r\n\r\n')
/** The line end before an empty line of LF alone. */
const MIXED_END = Buffer.from('\r\n\n')
/** The ends of a message whose lines end with LF alone. */
const LF_ENDS = [Buffer.from('\n\n'), Buffer.from('\n\r\n')] as const
/** The first keys of a message. */
const FIRST_KEYS = [Buffer.from('Event: '), Buffer.from('Response: ')] as const
const NEXT_KEYS = FIRST_KEYS.map((key) => Buffer.concat([Buffer.from('\r\n'), key]))

/** The frame reader of one connection. */
interface AmiFrameReader {
  /** @throws an error with the reason if the peer does not speak AMI, or a message does not end */
  receive(chunk: Buffer): void
}

/**
 * Creates a frame reader.
 *
 * @param onBanner called once the peer has identified itself as Asterisk
 * @param onMessage called with the bytes of a message, from its first line to the CRLF of its last
 * @param onSkipped called with the reason when bytes are skipped, and with their number
 */
export function createAmiFrameReader(
  onBanner: () => void,
  onMessage: (message: Buffer) => void,
  onSkipped: (reason: string, bytes: number) => void,
): AmiFrameReader {
  const pending = createPendingBytes()
  /** No line or message ends before this offset of the pending bytes. */
  let searched = 0
  let hasBanner = false
  /** Bytes of the current message that were skipped. */
  let skippedBytes = 0
  /** Whether the lines of the message that is skipped end with LF alone. */
  let skipsLfLines = false

  /** Returns the offset behind the banner; 0 while it is incomplete. */
  const readBanner = (bytes: Buffer): number => {
    const length = Math.min(bytes.length, BANNER.length)
    if (bytes.toString('latin1', 0, length) !== BANNER.slice(0, length)) {
      throw new Error('it does not speak AMI: its first line is not the banner of the Asterisk Call Manager')
    }
    const end = bytes.indexOf(LF, searched)
    if ((end < 0 ? bytes.length : end) > MAX_BANNER_BYTES)
      throw new Error(`a line above ${MAX_BANNER_BYTES / 1024} KiB`)
    if (end < 0) return 0
    hasBanner = true
    onBanner()
    return end + 1
  }

  /** Emits the messages between two empty lines: there are several where an end is missing. */
  const emit = (bytes: Buffer): void => {
    if (skippedBytes > 0 || bytes.length > MAX_MESSAGE_BYTES) {
      const length = skippedBytes + bytes.length
      skippedBytes = 0
      onSkipped(`a message above ${MAX_MESSAGE_BYTES / 1_048_576} MiB`, length)
      return
    }
    let start = 0
    for (const next of beginsIn(bytes)) {
      emitMessage(bytes.subarray(start, next))
      start = next
    }
    emitMessage(start === 0 ? bytes : bytes.subarray(start))
  }

  const emitMessage = (message: Buffer): void => {
    if (FIRST_KEYS.some((key) => beginsWith(message, key))) onMessage(message)
    else onSkipped('bytes that belong to no message', message.length)
  }

  /** Keeps the incomplete end of the received bytes: of a message that is skipped only what its end may begin with. */
  const keep = (rest: Buffer, hasLfLines: boolean): void => {
    const overlap = MESSAGE_END.length - 1
    let kept = rest.length
    if (skippedBytes > 0 || rest.length > MAX_MESSAGE_BYTES) {
      skipsLfLines = hasLfLines
      kept = Math.min(rest.length, overlap)
      skippedBytes += rest.length - kept
      if (skippedBytes > MAX_SKIPPED_BYTES)
        throw new Error(`a message above ${MAX_SKIPPED_BYTES / 1_048_576} MiB`)
    }
    pending.keepLast(kept)
    searched = Math.max(0, kept - overlap)
  }

  return {
    receive(chunk) {
      const bytes = pending.append(chunk)
      let start = hasBanner ? 0 : readBanner(bytes)
      let from = searched
      let hasLfLines = false
      while (hasBanner) {
        if (skippedBytes === 0) start = afterEmptyLines(bytes, start)
        hasLfLines = skippedBytes > 0 ? skipsLfLines : hasLfLineEnd(bytes, start)
        const end = hasLfLines ? lfEnd(bytes, Math.max(start, from)) : crlfEnd(bytes, Math.max(start, from))
        if (end < 0) break
        const message = bytes.subarray(start, end)
        emit(hasLfLines ? withCrlf(message) : message)
        start = end
        from = end
      }
      keep(bytes.subarray(start), hasLfLines)
    },
  }
}

function afterEmptyLines(bytes: Buffer, start: number): number {
  let at = start
  while (bytes[at] === CR || bytes[at] === LF) at += 1
  return at
}

function hasLfLineEnd(bytes: Buffer, start: number): boolean {
  const at = bytes.indexOf(LF, start)
  return at > start && bytes[at - 1] !== CR
}

/** Returns the offset behind the last line of a message; -1 while it is incomplete. */
function crlfEnd(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(MESSAGE_END, from)
  const mixed = bytes.subarray(from, end < 0 ? bytes.length : end).indexOf(MIXED_END)
  if (mixed >= 0) return from + mixed + 2
  return end < 0 ? -1 : end + 2
}

/** Like `crlfEnd`, for lines that end with LF alone. */
function lfEnd(bytes: Buffer, from: number): number {
  const [lf, crlf] = LF_ENDS
  const end = bytes.indexOf(lf, from)
  const mixed = bytes.subarray(from, end < 0 ? bytes.length : end + 1).indexOf(crlf)
  if (mixed >= 0) return from + mixed + 1
  return end < 0 ? -1 : end + 1
}

function withCrlf(message: Buffer): Buffer {
  return Buffer.from(message.toString('latin1').replace(/\r?\n/g, '\r\n'), 'latin1')
}

/**
 * Returns the offsets of the lines that begin another message. `Response`, a field of `OriginateResponse`, looks like one:
 * the rest of that event, which nothing uses, becomes a response to no action.
 */
function beginsIn(bytes: Buffer): readonly number[] {
  const begins: number[] = []
  for (const key of NEXT_KEYS) {
    for (let at = bytes.indexOf(key); at >= 0; at = bytes.indexOf(key, at + 2)) begins.push(at + 2)
  }
  return begins.length > 1 ? begins.sort((a, b) => a - b) : begins
}

function beginsWith(bytes: Buffer, key: Buffer): boolean {
  return bytes.length >= key.length && bytes.compare(key, 0, key.length, 0, key.length) === 0
}
