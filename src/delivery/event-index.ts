import type { NewEvent } from './delivery-store.js'

/**
 * Index of an event in an acceptance, -1: it is not in it. Deliveries follow the order of their events, so the search
 * begins at `hint`, the event of the previous delivery.
 */
export function eventIndexOf(events: readonly NewEvent[], eventId: string, hint: number): number {
  if (events[hint]?.id === eventId) return hint
  if (events[hint + 1]?.id === eventId) return hint + 1
  // Events without deliveries are left out: the next one is not far behind.
  for (let index = hint + 2; index < events.length; index += 1)
    if (events[index]!.id === eventId) return index
  for (let index = 0; index < hint; index += 1) if (events[index]?.id === eventId) return index
  return -1
}
