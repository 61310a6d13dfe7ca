/** Parses a recorded AMI connection. */
import { decodeRecording, requireEvents } from './recording.js'
import type { TimedEvent } from './timeline.js'

/** An event as it was received. Strings have one character per byte. */
export interface AmiEvent extends TimedEvent {
  /** `Newchannel`. */
  readonly name: string
  /** Its privilege classes, which an event mask selects: `call`, `all`. */
  readonly classes: readonly string[]
  /** The complete event, with the empty line that ends it. */
  readonly text: string
  /** Its lines, `Key: value`, in order; a key may occur several times. */
  readonly lines: readonly (readonly [key: string, value: string])[]
}

/** A recorded connection to Asterisk's manager interface. */
interface AmiRecording {
  /** The first line, without its line end. */
  readonly banner: string
  readonly events: readonly AmiEvent[]
}

/** Events that reply to one client's action: the fake generates them itself. */
const REPLY_EVENTS: ReadonlySet<string> = new Set([
  'FullyBooted',
  'CoreShowChannel',
  'CoreShowChannelsComplete',
])

/**
 * Parses the bytes that an AMI client received. Replies to its actions and an incomplete last event are left out.
 *
 * @throws `InvalidOption` if there are no events
 */
export function parseAmiRecording(recording: Uint8Array): AmiRecording {
  const text = decodeRecording(recording)
  const firstLine = /^[^\r\n]*\r\n/.exec(text)?.[0] ?? ''
  const events: AmiEvent[] = []
  let atMs = 0
  // Values may contain a bare LF: only CRLF ends a line.
  for (const block of text.slice(firstLine.length).split('\r\n\r\n').slice(0, -1)) {
    const lines = block.split('\r\n').map(parseLine)
    const [first] = lines
    if (first?.[0] !== 'Event' || REPLY_EVENTS.has(first[1])) continue
    atMs = Number(fieldOf(lines, 'Timestamp') ?? atMs / 1000) * 1000
    const classes = (fieldOf(lines, 'Privilege') ?? '').split(',')
    events.push({ atMs, name: first[1], classes, text: `${block}\r\n\r\n`, lines })
  }
  return {
    banner: firstLine.trimEnd(),
    events: requireEvents(events, "events of Asterisk's manager interface"),
  }
}

/** The value of the first line with this key. */
export function fieldOf(lines: AmiEvent['lines'], key: string): string | undefined {
  return lines.find(([name]) => name === key)?.[1]
}

function parseLine(line: string): readonly [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()]
}
