/**
 * The bytes of an AMI connection → its messages. A message is lines ended by CRLF and an empty one; the first line of
 * a connection is a banner. A bare LF does not end a line: values hold some (`Message: Park successful\n`).
 */

/** A line above this size ends the connection, and so does a message above the other. */
const MAX_LINE_BYTES = 65_536
const MAX_MESSAGE_BYTES = 262_144
/** What every version says first. */
const BANNER = 'Asterisk Call Manager/'

const END = Buffer.from('\r\n\r\n')
const LINE_END = Buffer.from('\r\n')

/** Takes bytes as they come. */
export interface AmiFrames {
  /** @throws with the reason when the other side does not speak AMI, or without measure */
  receive(chunk: Buffer): void
}

/**
 * @param onBanner told when the other side has shown itself to be an Asterisk
 * @param onMessage takes the bytes of a message, from its first line on, with the CRLF of its last
 */
export function amiFrames(onBanner: () => void, onMessage: (message: Buffer) => void): AmiFrames {
  let pending: Buffer = Buffer.alloc(0)
  /** No message ends before here. */
  let searched = 0
  let hasBanner = false

  const takeBanner = (bytes: Buffer): number => {
    const length = Math.min(bytes.length, BANNER.length)
    if (bytes.toString('latin1', 0, length) !== BANNER.slice(0, length)) {
      throw new Error('it does not speak AMI: its first line is no banner of the Asterisk Call Manager')
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
      let start = hasBanner ? 0 : takeBanner(bytes)
      let from = hasBanner ? Math.max(start, searched) : bytes.length
      for (let end = bytes.indexOf(END, from); end >= 0; end = bytes.indexOf(END, start)) {
        if (end - start > MAX_LINE_BYTES) checkLines(bytes.subarray(start, end))
        if (end > start) onMessage(bytes.subarray(start, end + 2))
        start = end + 4
        from = start
      }
      pending = bytes.subarray(start)
      if (pending.length > MAX_LINE_BYTES) checkLines(pending)
      searched = Math.max(0, pending.length - END.length + 1)
    },
  }
}

/** @throws for a message, whole or not yet, that is too long or has a line that is */
function checkLines(bytes: Buffer): void {
  if (bytes.length > MAX_MESSAGE_BYTES) throw tooLong('message', MAX_MESSAGE_BYTES)
  for (let start = 0; start <= bytes.length; ) {
    const at = bytes.indexOf(LINE_END, start)
    const end = at < 0 ? bytes.length : at
    if (end - start > MAX_LINE_BYTES) throw tooLong('line', MAX_LINE_BYTES)
    start = end + 2
  }
}

function tooLong(what: string, most: number): Error {
  return new Error(`a ${what} above ${most / 1024} KiB`)
}
