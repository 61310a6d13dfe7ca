import { bytesOf, someEvents } from './recording.js'
import type { Moment } from './timeline.js'

/** A line as it was sent, without its end; one character a byte. */
export interface KamailioEvent extends Moment {
  readonly text: string
}

/**
 * Reads what a proxy sent, one JSON object a line. What is no object is played all the same: a proxy may send it.
 *
 * @throws `InvalidOption` when no line has a `time` in seconds
 */
export function readKamailio(given: Uint8Array): readonly KamailioEvent[] {
  let atMs: number | undefined
  const events: KamailioEvent[] = []
  for (const line of bytesOf(given).split('\n')) {
    const text = line.trim()
    if (text === '') continue
    atMs = timeOf(text) ?? atMs
    events.push({ atMs: atMs ?? 0, text })
  }
  return someEvents(atMs === undefined ? [] : events, 'lines of a Kamailio proxy, JSON objects with a time')
}

function timeOf(text: string): number | undefined {
  const [, seconds] = /"time":"(\d+\.\d+)"/.exec(text) ?? []
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
