import { gunzipSync } from 'node:zlib'
import { type Check, invalid } from '../../option-checks.js'

/** Bytes that a switch sent once, as they came; gzipped or not. */
export const recording: Check = (field, value) => {
  if (!(value instanceof Uint8Array) || value.length === 0) {
    throw invalid(field, 'must be the bytes of a recording')
  }
}

/**
 * The recording as a text of one character a byte (latin1): a switch passes on bytes that are not UTF-8, and so must
 * who plays it.
 *
 * @throws `InvalidOption` when it is said to be gzipped and is not
 */
export function bytesOf(given: Uint8Array): string {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b
  try {
    return (isZipped ? gunzipSync(bytes) : bytes).toString('latin1')
  } catch {
    throw invalid('recording', 'begins like gzip, and cannot be unzipped')
  }
}

/** @throws `InvalidOption` when there is not one event in it */
export function someEvents<Event>(events: readonly Event[], what: string): readonly Event[] {
  if (events.length === 0) throw invalid('recording', `holds no ${what}`)
  return events
}
