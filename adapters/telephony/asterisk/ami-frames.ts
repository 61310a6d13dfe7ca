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
/** The ends of a message: the empty line may end with LF alone. */
const ENDS = [Buffer.from('\r\n\r\n'), Buffer.from('\r\n\n')] as const
/** The ends of a message whose lines end with LF alone. */
const LF_ENDS = [Buffer.from('\n\n'), Buffer.from('\n\r\n')] as const
const LONGEST_END = 4
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
  /** Whether the lines of the current message end with LF alone; `undefined` while its first line is incomplete. */
  let hasLfLines: boolean | undefined

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
  const keep = (rest: Buffer): void => {
    const overlap = LONGEST_END - 1
    let kept = rest.length
    if (skippedBytes > 0 || rest.length > MAX_MESSAGE_BYTES) {
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
      const crlfEnd = createEndSearch(bytes, ENDS, 2)
      const lfEnd = createEndSearch(bytes, LF_ENDS, 1)
      while (hasBanner) {
        if (hasLfLines === undefined && skippedBytes === 0) start = afterEmptyLines(bytes, start)
        from = Math.max(start, from)
        hasLfLines ??= hasLfLineEnd(bytes, from)
        const end = hasLfLines ? lfEnd(from) : crlfEnd(from)
        if (end < 0) break
        const message = bytes.subarray(start, end)
        emit(hasLfLines ? withCrlf(message) : message)
        hasLfLines = undefined
        start = end
        from = end
      }
      keep(bytes.subarray(start))
    },
  }
}

function afterEmptyLines(bytes: Buffer, start: number): number {
  let at = start
  while (bytes[at] === CR || bytes[at] === LF) at += 1
  return at
}

/** Whether the first line ends with LF alone; `undefined`: not before the end of the bytes. */
function hasLfLineEnd(bytes: Buffer, from: number): boolean | undefined {
  const at = bytes.indexOf(LF, from)
  return at < 0 ? undefined : at > 0 && bytes[at - 1] !== CR
}

/**
 * Returns a function that finds the end of a message at or behind an offset that never decreases: the offset behind its last
 * line, -1 where it has none. Each of the two ends is searched once, also where it is rare.
 */
function createEndSearch(
  bytes: Buffer,
  ends: readonly Buffer[],
  lineEndLength: number,
): (from: number) => number {
  const found = ends.map(() => -1)
  return (from) => {
    let first = Number.POSITIVE_INFINITY
    ends.forEach((end, index) => {
      if ((found[index] as number) < from) {
        const at = bytes.indexOf(end, from)
        found[index] = at < 0 ? Number.POSITIVE_INFINITY : at
      }
      first = Math.min(first, found[index] as number)
    })
    return first === Number.POSITIVE_INFINITY ? -1 : first + lineEndLength
  }
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
