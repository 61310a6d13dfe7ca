import type { NewEvent } from './delivery-store.js'

/**
 * Index of an event in an acceptance, -1: it is not in it. Deliveries follow the order of their events, so that the event of
 * the previous delivery, passed as `near`, or the next one is nearly always the one.
 */
export function eventIndexOf(events: readonly NewEvent[], eventId: string, near: number): number {
  if (events[near]?.id === eventId) return near
  if (events[near + 1]?.id === eventId) return near + 1
  // Events without deliveries are left out: the next one is not far behind.
  for (let index = near + 2; index < events.length; index += 1)
    if (events[index]!.id === eventId) return index
  for (let index = 0; index < near; index += 1) if (events[index]?.id === eventId) return index
  return -1
}
