/** Validates and decodes a recording: the bytes that a switch once sent. */
import { gunzipSync } from 'node:zlib'
import { invalidOption, type Validator } from '../../options/validators.js'

/** The option `recording`: bytes, gzipped or not. */
export const checkRecording: Validator = (field, value) => {
  if (!(value instanceof Uint8Array) || value.length === 0) {
    throw invalidOption(field, 'must be the bytes of a recording')
  }
}

/**
 * The recording as text with one character per byte (latin1): switches pass on bytes that are not UTF-8, and a replay must
 * preserve them.
 *
 * @throws `InvalidOption` if it has the header of a gzip file and cannot be unzipped
 */
export function decodeRecording(recording: Uint8Array): string {
  const bytes = Buffer.from(recording.buffer, recording.byteOffset, recording.byteLength)
  const isZipped = bytes[0] === 0x1f && bytes[1] === 0x8b
  try {
    return (isZipped ? gunzipSync(bytes) : bytes).toString('latin1')
  } catch {
    throw invalidOption('recording', 'begins like gzip, and cannot be unzipped')
  }
}

/**
 * @param expected what the recording should contain, for the message
 * @throws `InvalidOption` if there are no events
 */
export function requireEvents<Event>(events: readonly Event[], expected: string): readonly Event[] {
  if (events.length === 0) throw invalidOption('recording', `holds no ${expected}`)
  return events
}
