import type { CallEvent } from '../call-legs.js'

/** Seconds from the year 0 to 1970: KAZOO writes Gregorian seconds. */
const GREGORIAN_SECONDS = 62_167_219_200

/** Names that are not just spelled in another way. */
const RENAMED: Readonly<Record<string, string>> = { hook: 'hook_event', direction: 'call_direction' }

/** What a receiver must get of an event, in the oracle's own words. */
export function expectedPayload(
  { timestampMs, ...event }: CallEvent,
  eventId: string,
  sequence: number,
): Readonly<Record<string, unknown>> {
  const all = { ...event, eventId }
  const payload: Record<string, unknown> = {
    sequence,
    timestamp: Math.floor(timestampMs / 1000) + GREGORIAN_SECONDS,
  }
  for (const [name, value] of Object.entries(all)) {
    payload[RENAMED[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value
  }
  return payload
}
