/**
 * Ids of deliveries: 32 hex digits that begin with the first 24 of their event's id. Stores find the event of a delivery,
 * and the deliveries of an event, by this prefix.
 */

/** Digits that a delivery's id shares with its event's. @internal */
export const PREFIX_DIGITS = 24
const DIGITS = 32

/** The last digits of the first deliveries of an event: `padStart` allocates 500 bytes. */
const SUFFIXES = Array.from({ length: 256 }, (_, index) => suffixOf(index))

function suffixOf(index: number): string {
  return index.toString(16).padStart(DIGITS - PREFIX_DIGITS, '0')
}

/** @param index of the delivery among those that the event was accepted with, from 0 */
export function firstDeliveryId(eventId: string, index: number): string {
  return eventId.slice(0, PREFIX_DIGITS) + (SUFFIXES[index] ?? suffixOf(index))
}

/** @param random 32 random hex digits */
export function replayId(eventId: string, random: string): string {
  // First deliveries have a small number in place of these digits.
  return `${eventId.slice(0, PREFIX_DIGITS)}f${random.slice(PREFIX_DIGITS + 1)}`
}
