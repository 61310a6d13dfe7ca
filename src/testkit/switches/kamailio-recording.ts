/** Parses a recorded stream of a Kamailio proxy. */
import { decodeRecording, requireEvents } from './recording.js'
import type { TimedEvent } from './timeline.js'

/** A line as it was sent, without its line end; one character per byte. */
export interface KamailioEvent extends TimedEvent {
  readonly text: string
}

/**
 * Parses the lines of a stream, one JSON object each. Invalid lines are replayed too: a real proxy may send them.
 *
 * @throws `InvalidOption` if no line has a `time` in seconds
 */
export function parseKamailioRecording(recording: Uint8Array): readonly KamailioEvent[] {
  let atMs: number | undefined
  const events: KamailioEvent[] = []
  for (const line of decodeRecording(recording).split('\n')) {
    const text = line.trim()
    if (text === '') continue
    atMs = timeOf(text) ?? atMs
    events.push({ atMs: atMs ?? 0, text })
  }
  return requireEvents(
    atMs === undefined ? [] : events,
    'lines of a Kamailio proxy, JSON objects with a time',
  )
}

function timeOf(text: string): number | undefined {
  const [, seconds] = /"time":"(\d+\.\d+)"/.exec(text) ?? []
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
