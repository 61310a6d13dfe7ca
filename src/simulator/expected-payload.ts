/** The payload that a receiver must get, written without the service's `payload`. */

import type { CallEvent } from '../testkit/generated-call.js'

/** Seconds from the year 0 to 1970: KAZOO writes Gregorian seconds. */
const GREGORIAN_SECONDS = 62_167_219_200

/** Wire names that are not just the snake_case spelling. */
const RENAMED: Readonly<Record<string, string>> = { hook: 'hook_event', direction: 'call_direction' }

const wireNames = new Map<string, string>()

/** The wire name of a field, cached. */
function wireName(name: string): string {
  const cached = wireNames.get(name)
  if (cached !== undefined) return cached
  const converted = RENAMED[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  wireNames.set(name, converted)
  return converted
}

export function expectedPayload(
  { timestampMs, ...event }: CallEvent,
  eventId: string,
  sequence: number,
): Readonly<Record<string, unknown>> {
  const payload: Record<string, unknown> = {
    sequence,
    timestamp: Math.floor(timestampMs / 1000) + GREGORIAN_SECONDS,
  }
  for (const [name, value] of Object.entries(event)) payload[wireName(name)] = value
  if (event.answeredBy) {
    const { callId, ...party } = event.answeredBy
    payload[wireName('answeredBy')] = { ...party, [wireName('callId')]: callId }
  }
  payload[wireName('eventId')] = eventId
  payload[wireName('happenedAt')] = new Date(timestampMs).toISOString()
  return payload
}
