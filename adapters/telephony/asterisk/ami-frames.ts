/**
 * Splits the bytes of an AMI connection into messages. A message is a sequence of lines that end with CRLF, followed by
 * an empty line; the first line of a connection is a banner. A bare LF does not end a line: values may contain it
 * (`Message: Park successful\n`).
 */

/** A longer line ends the connection. */
const MAX_LINE_BYTES = 65_536
/** A longer message ends the connection. */
const MAX_MESSAGE_BYTES = 262_144
/** The start of the banner in every version. */
const BANNER = 'Asterisk Call Manager/'

const MESSAGE_END = Buffer.from('\r\n\r\n')
const LINE_END = Buffer.from('\r\n')

/** The frame reader of one connection. */
export interface AmiFrameReader {
  /** @throws an error with the reason if the peer does not speak AMI, or a line or message is too long */
  receive(chunk: Buffer): void
}

/**
 * Creates a frame reader.
 *
 * @param onBanner called once the peer has identified itself as Asterisk
 * @param onMessage called with the bytes of a message, from its first line to the CRLF of its last
 */
export function createAmiFrameReader(
  onBanner: () => void,
  onMessage: (message: Buffer) => void,
): AmiFrameReader {
  let pending: Buffer = Buffer.alloc(0)
  /** No message ends before this offset of `pending`. */
  let searched = 0
  let hasBanner = false

  /** Returns the offset behind the banner; 0 while it is incomplete. */
  const readBanner = (bytes: Buffer): number => {
    const length = Math.min(bytes.length, BANNER.length)
    if (bytes.toString('latin1', 0, length) !== BANNER.slice(0, length)) {
      throw new Error('it does not speak AMI: its first line is not the banner of the Asterisk Call Manager')
    }
    const end = bytes.indexOf(LINE_END)
    if ((end < 0 ? bytes.length : end) > MAX_LINE_BYTES) throw tooLong('line', MAX_LINE_BYTES)
    if (end < 0) return 0
    hasBanner = true
    onBanner()
    return end + 2
  }

  return {
    receive(chunk) {
      const bytes = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      let start = hasBanner ? 0 : readBanner(bytes)
      let from = hasBanner ? Math.max(start, searched) : bytes.length
      for (let end = bytes.indexOf(MESSAGE_END, from); end >= 0; end = bytes.indexOf(MESSAGE_END, start)) {
        if (end - start > MAX_LINE_BYTES) checkLengths(bytes.subarray(start, end))
        if (end > start) onMessage(bytes.subarray(start, end + 2))
        start = end + 4
        from = start
      }
      pending = bytes.subarray(start)
      if (pending.length > MAX_LINE_BYTES) checkLengths(pending)
      searched = Math.max(0, pending.length - MESSAGE_END.length + 1)
    },
  }
}

/** @throws if a message, complete or not, is too long or has a line that is */
function checkLengths(bytes: Buffer): void {
  if (bytes.length > MAX_MESSAGE_BYTES) throw tooLong('message', MAX_MESSAGE_BYTES)
  for (let start = 0; start <= bytes.length; ) {
    const at = bytes.indexOf(LINE_END, start)
    const end = at < 0 ? bytes.length : at
    if (end - start > MAX_LINE_BYTES) throw tooLong('line', MAX_LINE_BYTES)
    start = end + 2
  }
}

function tooLong(unit: string, maxBytes: number): Error {
  return new Error(`a ${unit} above ${maxBytes / 1024} KiB`)
}
