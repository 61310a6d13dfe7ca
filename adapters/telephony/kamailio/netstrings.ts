/** Netstrings out of a stream of bytes, as Kamailio's `evapi` frames what it sends: `5:hello,`. */
import { LONGEST_LINE } from './line.js'

const COLON = 0x3a
const COMMA = 0x2c
const ZERO = 0x30
/** Most digits of a length. */
const MOST_DIGITS = String(LONGEST_LINE).length

/**
 * Takes bytes in any pieces; gives each whole text to `take`.
 *
 * @throws what `receive` throws says in a few words why these are no netstrings, or that one is too long
 */
export function netstrings(take: (text: string) => void): { receive(chunk: Buffer): void } {
  let rest: Buffer = Buffer.alloc(0)
  return {
    receive(chunk) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      let at = 0
      for (;;) {
        const frame = nextFrame(bytes, at)
        if (!frame) break
        take(bytes.toString('utf8', frame.begin, frame.end))
        at = frame.end + 1
      }
      rest = at === bytes.length ? Buffer.alloc(0) : bytes.subarray(at)
    },
  }
}

/** Where the text of the netstring at `at` begins and ends; undefined: it is not whole yet. */
function nextFrame(bytes: Buffer, at: number): { readonly begin: number; readonly end: number } | undefined {
  let length = 0
  for (let place = at; place < bytes.length; place += 1) {
    const digit = bytes[place]! - ZERO
    if (digit >= 0 && digit <= 9 && place - at < MOST_DIGITS) {
      length = length * 10 + digit
      continue
    }
    if (bytes[place] !== COLON || place === at) {
      const isTooLong = digit >= 0 && digit <= 9
      throw new Error(
        isTooLong ? tooLong : 'what comes are no netstrings (evapi: netstring_format must be 1)',
      )
    }
    if (length > LONGEST_LINE) throw new Error(tooLong)
    const begin = place + 1
    const end = begin + length
    if (end >= bytes.length) return undefined
    if (bytes[end] !== COMMA) throw new Error('a netstring does not end with a comma')
    return { begin, end }
  }
  return undefined
}

const tooLong = `a line is longer than ${LONGEST_LINE} bytes`
