import type { CallEvent } from '../call-legs.js'

/** Seconds from the year 0 to 1970: KAZOO writes Gregorian seconds. */
const GREGORIAN_SECONDS = 62_167_219_200

/** Names that are not just spelled in another way. */
const RENAMED: Readonly<Record<string, string>> = { hook: 'hook_event', direction: 'call_direction' }

const spelled = new Map<string, string>()

/** The name on the wire: each is spelled once. */
function nameOf(name: string): string {
  const known = spelled.get(name)
  if (known !== undefined) return known
  const made = RENAMED[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  spelled.set(name, made)
  return made
}

/** What a receiver must get of an event, in the oracle's own words. */
export function expectedPayload(
  { timestampMs, ...event }: CallEvent,
  eventId: string,
  sequence: number,
): Readonly<Record<string, unknown>> {
  const payload: Record<string, unknown> = {
    sequence,
    timestamp: Math.floor(timestampMs / 1000) + GREGORIAN_SECONDS,
  }
  for (const [name, value] of Object.entries(event)) payload[nameOf(name)] = value
  payload[nameOf('eventId')] = eventId
  return payload
}
