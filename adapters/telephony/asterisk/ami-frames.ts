/**
 * Splits the bytes of an AMI connection into messages. A message is a sequence of lines that end with CRLF, followed by
 * an empty line; the first line of a connection is a banner. A bare LF does not end a line: values may contain it
 * (`Message: Park successful\n`). A message that is too long, because a variable is, is skipped.
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

const MESSAGE_END = Buffer.from('\r\n\r\n')
const LINE_END = Buffer.from('\r\n')

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
 * @param onSkipped called with the reason when a message is skipped
 */
export function createAmiFrameReader(
  onBanner: () => void,
  onMessage: (message: Buffer) => void,
  onSkipped: (reason: string) => void,
): AmiFrameReader {
  const pending = createPendingBytes()
  /** No line or message ends before this offset of the pending bytes. */
  let searched = 0
  let hasBanner = false
  /** Bytes of the current message that were skipped. */
  let skippedBytes = 0

  /** Returns the offset behind the banner; 0 while it is incomplete. */
  const readBanner = (bytes: Buffer): number => {
    const length = Math.min(bytes.length, BANNER.length)
    if (bytes.toString('latin1', 0, length) !== BANNER.slice(0, length)) {
      throw new Error('it does not speak AMI: its first line is not the banner of the Asterisk Call Manager')
    }
    const end = bytes.indexOf(LINE_END, searched)
    if ((end < 0 ? bytes.length : end) > MAX_BANNER_BYTES)
      throw new Error(`a line above ${MAX_BANNER_BYTES / 1024} KiB`)
    if (end < 0) return 0
    hasBanner = true
    onBanner()
    return end + 2
  }

  const emit = (message: Buffer): void => {
    if (skippedBytes > 0 || message.length > MAX_MESSAGE_BYTES) {
      skippedBytes = 0
      onSkipped(`a message above ${MAX_MESSAGE_BYTES / 1_048_576} MiB is skipped`)
    } else if (message.length > LINE_END.length) onMessage(message)
  }

  /** Keeps the incomplete end of the received bytes: of a message that is skipped only what its end may begin with. */
  const keep = (rest: Buffer): void => {
    const overlap = MESSAGE_END.length - 1
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
      let from = hasBanner ? Math.max(start, searched) : bytes.length
      for (let end = bytes.indexOf(MESSAGE_END, from); end >= 0; end = bytes.indexOf(MESSAGE_END, start)) {
        emit(bytes.subarray(start, end + 2))
        start = end + 4
        from = start
      }
      keep(bytes.subarray(start))
    },
  }
}
