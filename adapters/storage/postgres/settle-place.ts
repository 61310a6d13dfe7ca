import { isTerminal } from 'hookswitch/store'
import type { Ended, LockedLanes, lanes } from './lanes.js'
import type { Flights } from './lanes-flights.js'
import type { Transaction } from './session.js'
import type { OwnedEntry } from './settle-entry.js'

/** An entry whose delivery is known by its place. */
export interface PlacedEntry extends OwnedEntry {
  readonly lane: string
  /** Whether it is the first of its lane. */
  readonly head: boolean
  /** Where its row is. */
  ctid: string
}

type LaneDoors = ReturnType<typeof lanes>

/** Finds the deliveries of these entries, from memory where they were claimed here; those that are gone are left out. */
export async function placed(
  tx: Transaction,
  { locate }: Pick<LaneDoors, 'locate'>,
  flights: Pick<Flights, 'of'>,
  entries: readonly OwnedEntry[],
): Promise<readonly PlacedEntry[]> {
  const flying = new Map(entries.map((entry) => [entry, flightOf(entry, flights)]))
  const unknown = entries.filter((entry) => !flying.get(entry))
  const found = await locate(
    tx,
    unknown.map(({ settlement }) => settlement.deliveryId),
  )
  return entries.flatMap((entry) => {
    const flight = flying.get(entry)
    const place = flight ?? found.get(entry.settlement.deliveryId)
    if (!place) return []
    const head = flight !== undefined || found.get(entry.settlement.deliveryId)!.head
    return [placedAt(entry, place, head)]
  })
}

function placedAt(
  { of, settlement, now, key }: OwnedEntry,
  { lane, ctid }: { readonly lane: string; readonly ctid: string },
  head: boolean,
): PlacedEntry {
  return { of, settlement, now, key, lane, head, ctid }
}

function flightOf({ settlement: { deliveryId, expect } }: OwnedEntry, flights: Pick<Flights, 'of'>) {
  return expect.state === 'in_flight' ? flights.of(deliveryId, expect.fence) : undefined
}

/**
 * Locks the lanes that something leaves. Whether one that waits is the head is certain only then: what was ahead of it
 * may have been erased a moment ago.
 */
export async function laneLocked(
  tx: Transaction,
  { lock, locate }: Pick<LaneDoors, 'lock' | 'locate'>,
  entries: readonly PlacedEntry[],
): Promise<{ readonly locked: LockedLanes; readonly entries: readonly PlacedEntry[] }> {
  const leaving = entries.filter(({ settlement }) => isTerminal(settlement.next.state))
  const locked = await lock(tx, leaving)
  const waiting = leaving.filter(({ settlement }) => settlement.expect.state === 'waiting')
  if (waiting.length === 0) return { locked, entries }
  const ids = waiting.map(({ settlement }) => settlement.deliveryId)
  const again = await locate(tx, ids)
  return {
    locked,
    entries: entries.map((entry) => {
      const place = again.get(entry.settlement.deliveryId)
      return place ? placedAt(entry, place, place.head) : entry
    }),
  }
}

export function endedOf({ settlement, now, key, lane, head }: PlacedEntry): Ended[] {
  return isTerminal(settlement.next.state) ? [{ key, lane, head, now }] : []
}
