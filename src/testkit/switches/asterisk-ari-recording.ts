import { bytesOf, someEvents } from './recording.js'
import type { Moment } from './timeline.js'

/** An event as it was received. Texts hold one character a byte. */
export interface AriEvent extends Moment {
  /** `ChannelCreated`. */
  readonly type: string
  readonly text: string
  readonly channel: AriThing | undefined
  readonly bridge: AriThing | undefined
}

/** A channel or a bridge as an event shows it. */
export interface AriThing {
  readonly id: string
}

/**
 * Reads the text frames that a client of ARI received, one a line; what is left of a last line that was cut is left out.
 *
 * @throws `InvalidOption` when there are no events
 */
export function readAri(given: Uint8Array): readonly AriEvent[] {
  const lines = bytesOf(given).split('\n')
  return someEvents(lines.flatMap(eventOf), 'events of ARI, one a line')
}

function eventOf(text: string): AriEvent[] {
  try {
    const { type, timestamp, channel, bridge } = JSON.parse(text) as Record<string, unknown>
    const atMs = Date.parse(String(timestamp))
    if (typeof type !== 'string' || Number.isNaN(atMs)) return []
    return [{ atMs, type, text, channel: thingOf(channel), bridge: thingOf(bridge) }]
  } catch {
    return []
  }
}

function thingOf(value: unknown): AriThing | undefined {
  const isThing = typeof value === 'object' && value !== null && typeof (value as AriThing).id === 'string'
  return isThing ? (value as AriThing) : undefined
}
