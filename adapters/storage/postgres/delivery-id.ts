/** The stored form of a delivery's id, as part of its event's id where it is derived from that. Pure. */

/** Digits that the id of a delivery has in common with that of its event. */
const SHARED = 24
const DERIVED = /^[0-9a-f]{32}$/

/** Prefix of an id that is stored whole. Expressions of partial indexes contain it. */
const WHOLE = '!'

/** The last 8 digits of an id that begins like its event's id; otherwise the whole id after `!`. */
export function storedDeliveryId(id: string, eventId: string): string {
  const isDerived = eventId.length === 32 && id.startsWith(eventId.slice(0, SHARED)) && DERIVED.test(id)
  return isDerived && DERIVED.test(eventId) ? id.slice(SHARED) : WHOLE + id
}

export const isStoredWhole = (stored: string) => stored.startsWith(WHOLE)

export function deliveryIdOf(stored: string, eventId: string): string {
  return isStoredWhole(stored) ? stored.slice(1) : eventId.slice(0, SHARED) + stored
}

/** What finds a delivery by its id alone: the range of its event's id, and its two stored forms. */
interface DeliveryIdLookup {
  readonly fromEventId: string
  readonly toEventId: string
  readonly derived: string
  readonly whole: string
}

export function lookupOf(id: string): DeliveryIdLookup {
  const prefix = id.slice(0, SHARED)
  // An empty range for an id that is never derived.
  const toEventId = DERIVED.test(id) ? `${prefix}g` : prefix
  return { fromEventId: prefix, toEventId, derived: id.slice(SHARED), whole: WHOLE + id }
}
