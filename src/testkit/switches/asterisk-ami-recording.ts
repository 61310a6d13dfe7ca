import { bytesOf, someEvents } from './recording.js'
import type { Moment } from './timeline.js'

/** An event as it was received. Texts hold one character a byte. */
export interface AmiEvent extends Moment {
  /** `Newchannel`. */
  readonly name: string
  /** The classes that a mask can name: `call`, `all`. */
  readonly classes: readonly string[]
  /** All of it, with its empty line. */
  readonly text: string
  /** Its lines, `Key: value`, in order; a key may come again. */
  readonly lines: readonly (readonly [key: string, value: string])[]
}

/** What a client of Asterisk's manager interface received. */
export interface AmiRecording {
  /** The first line, without its end. */
  readonly banner: string
  readonly events: readonly AmiEvent[]
}

/** What answers a client, and comes to it alone: told anew to whoever asks. */
const ANSWERS: ReadonlySet<string> = new Set(['FullyBooted', 'CoreShowChannel', 'CoreShowChannelsComplete'])

/**
 * Reads what a client of AMI received. Answers to its actions are left out, and so is an end in the middle of an event.
 *
 * @throws `InvalidOption` when there are no events
 */
export function readAmi(given: Uint8Array): AmiRecording {
  const text = bytesOf(given)
  const firstLine = /^[^\r\n]*\r\n/.exec(text)?.[0] ?? ''
  const events: AmiEvent[] = []
  let atMs = 0
  // A bare LF may stand in a value: only CRLF ends a line.
  for (const block of text.slice(firstLine.length).split('\r\n\r\n').slice(0, -1)) {
    const lines = block.split('\r\n').map(keyAndValue)
    const [first] = lines
    if (first?.[0] !== 'Event' || ANSWERS.has(first[1])) continue
    atMs = Number(fieldOf(lines, 'Timestamp') ?? atMs / 1000) * 1000
    const classes = (fieldOf(lines, 'Privilege') ?? '').split(',')
    events.push({ atMs, name: first[1], classes, text: `${block}\r\n\r\n`, lines })
  }
  return { banner: firstLine.trimEnd(), events: someEvents(events, "events of Asterisk's manager interface") }
}

/** The value of a line; of several the first. */
export function fieldOf(lines: AmiEvent['lines'], key: string): string | undefined {
  return lines.find(([name]) => name === key)?.[1]
}

function keyAndValue(line: string): readonly [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()]
}
