/** Splits a byte stream into netstrings, the framing of Kamailio's `evapi`: `5:hello,`. */
import { createPendingBytes } from '../source/pending-bytes.js'
import { MAX_LINE_LENGTH } from './line.js'

const COLON = 0x3a
const COMMA = 0x2c
const ZERO = 0x30
/** Longer texts than `MAX_LINE_LENGTH` are skipped up to this size: more is no text of a routing script. */
const MAX_SKIPPED_BYTES = 16_777_216
/** Maximum number of digits of a length. */
const MAX_DIGITS = String(MAX_SKIPPED_BYTES).length

/**
 * Accepts chunks that may end anywhere; calls `onText` with each complete text, and `onSkipped` with the reason instead of
 * a text that is too long.
 *
 * @throws `receive` throws with a short reason if the stream is not made of netstrings
 */
export function createNetstringReader(
  onText: (text: string) => void,
  onSkipped: (reason: string) => void,
): { receive(chunk: Buffer): void } {
  const pending = createPendingBytes()
  let bytesToSkip = 0

  /** Reads one netstring, or a part of a skipped one; returns where the next begins, `undefined`: it is incomplete. */
  const readOne = (bytes: Buffer, at: number): number | undefined => {
    if (bytesToSkip > 0) {
      const skipped = Math.min(bytesToSkip, bytes.length - at)
      bytesToSkip -= skipped
      return skipped > 0 ? at + skipped : undefined
    }
    const frame = readLength(bytes, at)
    if (!frame) return undefined
    const { begin, length } = frame
    if (length > MAX_LINE_LENGTH) {
      onSkipped(`a line of ${length} bytes is longer than ${MAX_LINE_LENGTH}`)
      bytesToSkip = length + 1
      return begin
    }
    const end = begin + length
    if (end >= bytes.length) return undefined
    if (bytes[end] !== COMMA) throw new Error('a netstring does not end with a comma')
    onText(bytes.toString('utf8', begin, end))
    return end + 1
  }

  return {
    receive(chunk) {
      const bytes = pending.append(chunk)
      let at = 0
      for (let next = readOne(bytes, at); next !== undefined; next = readOne(bytes, at)) at = next
      pending.keepLast(bytes.length - at)
    },
  }
}

/** The length of the netstring at `at` and the offset of its text; `undefined`: its length is incomplete. */
function readLength(
  bytes: Buffer,
  at: number,
): { readonly begin: number; readonly length: number } | undefined {
  let length = 0
  for (let index = at; index < bytes.length; index += 1) {
    const digit = bytes[index]! - ZERO
    if (digit >= 0 && digit <= 9 && index - at < MAX_DIGITS) {
      length = length * 10 + digit
      continue
    }
    const isTooLong = (digit >= 0 && digit <= 9) || length > MAX_SKIPPED_BYTES
    if (isTooLong) throw new Error(`a line above ${MAX_SKIPPED_BYTES / 1_048_576} MiB`)
    if (bytes[index] === COLON && index > at) return { begin: index + 1, length }
    throw new Error('the stream is not made of netstrings (evapi: netstring_format must be 1)')
  }
  return undefined
}
