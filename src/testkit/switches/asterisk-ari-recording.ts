/** Parses recorded ARI events. */
import { decodeRecording, requireEvents } from './recording.js'
import type { TimedEvent } from './timeline.js'

/** An event as it was received. Strings have one character per byte. */
export interface AriEvent extends TimedEvent {
  /** `ChannelCreated`. */
  readonly type: string
  /** The complete text frame. */
  readonly text: string
  readonly channel: AriObject | undefined
  readonly bridge: AriObject | undefined
}

/** A channel or bridge, as in an event. */
export interface AriObject {
  readonly id: string
  /** Of a channel: `Up`. */
  readonly state?: string
  readonly creationtime?: string
  /** Of a bridge: the ids of its channels. */
  readonly channels?: readonly string[]
}

/**
 * Parses the text frames that an ARI client received, one per line. An incomplete last line is left out.
 *
 * @throws `InvalidOption` if there are no events
 */
export function parseAriRecording(recording: Uint8Array): readonly AriEvent[] {
  const lines = decodeRecording(recording).split('\n')
  return requireEvents(lines.flatMap(parseEvent), 'events of ARI, one per line')
}

function parseEvent(text: string): AriEvent[] {
  try {
    const { type, timestamp, channel, bridge } = JSON.parse(text) as Record<string, unknown>
    const atMs = Date.parse(String(timestamp))
    if (typeof type !== 'string' || Number.isNaN(atMs)) return []
    return [{ atMs, type, text, channel: objectWithId(channel), bridge: objectWithId(bridge) }]
  } catch {
    return []
  }
}

function objectWithId(value: unknown): AriObject | undefined {
  const hasId = typeof value === 'object' && value !== null && typeof (value as AriObject).id === 'string'
  return hasId ? (value as AriObject) : undefined
}
