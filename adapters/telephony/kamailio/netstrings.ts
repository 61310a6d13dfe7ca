/** Splits a byte stream into netstrings, the framing of Kamailio's `evapi`: `5:hello,`. */
import { MAX_LINE_LENGTH } from './line.js'

const COLON = 0x3a
const COMMA = 0x2c
const ZERO = 0x30
/** Maximum number of digits of a length. */
const MAX_DIGITS = String(MAX_LINE_LENGTH).length

/**
 * Accepts chunks that may end anywhere; calls `onText` with each complete text.
 *
 * @throws `receive` throws with a short reason if the stream is not made of netstrings, or one is too long
 */
export function createNetstringReader(onText: (text: string) => void): { receive(chunk: Buffer): void } {
  let rest: Buffer = Buffer.alloc(0)
  return {
    receive(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let at = 0
      for (;;) {
        const frame = findFrame(bytes, at)
        if (!frame) break
        onText(bytes.toString('utf8', frame.begin, frame.end))
        at = frame.end + 1
      }
      rest = at === bytes.length ? Buffer.alloc(0) : bytes.subarray(at)
    },
  }
}

/** Offsets of the text of the netstring at `at`; `undefined`: it is incomplete. */
function findFrame(bytes: Buffer, at: number): { readonly begin: number; readonly end: number } | undefined {
  let length = 0
  for (let index = at; index < bytes.length; index += 1) {
    const digit = bytes[index]! - ZERO
    if (digit >= 0 && digit <= 9 && index - at < MAX_DIGITS) {
      length = length * 10 + digit
      continue
    }
    if (bytes[index] !== COLON || index === at) {
      const isTooLong = digit >= 0 && digit <= 9
      throw new Error(
        isTooLong ? TOO_LONG : 'the stream is not made of netstrings (evapi: netstring_format must be 1)',
      )
    }
    if (length > MAX_LINE_LENGTH) throw new Error(TOO_LONG)
    const begin = index + 1
    const end = begin + length
    if (end >= bytes.length) return undefined
    if (bytes[end] !== COMMA) throw new Error('a netstring does not end with a comma')
    return { begin, end }
  }
  return undefined
}

const TOO_LONG = `a line is longer than ${MAX_LINE_LENGTH} bytes`
