/** Short forms of delivery ids. */

const HEX_ID = /^[0-9a-f]{32}$/
/** A delivery's id begins with as many digits of its event's id. */
const SHARED_DIGITS = 24
const WHOLE = '/'

/** The last 8 digits of an id that begins like its event's; `/` and the whole id of any other. */
export function shortDeliveryId(id: string, eventId: string): string {
  const isShort =
    id.length === 32 &&
    id.startsWith(eventId.slice(0, SHARED_DIGITS)) &&
    HEX_ID.test(id) &&
    HEX_ID.test(eventId)
  return isShort ? id.slice(SHARED_DIGITS) : WHOLE + id
}

export function wholeDeliveryId(short: string, eventId: string): string {
  return short.startsWith(WHOLE) ? short.slice(1) : eventId.slice(0, SHARED_DIGITS) + short
}

/** Whether a stored id was not shortened: its delivery is found through `hookswitch_delivery_id`. */
export function isWhole(short: string): boolean {
  return short.startsWith(WHOLE)
}
