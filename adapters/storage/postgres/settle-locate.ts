/** Finds the rows of the deliveries to settle, from memory where this node claimed them, and locks their lanes. */
import { isTerminal, type Settlement } from 'hookswitch/store'
import type { InFlightCache } from './in-flight-cache.js'
import type { createLanes, EndedDelivery, LockedLanes } from './lanes.js'
import type { Transaction } from './session.js'

/** One settlement of a group. */
export interface Entry {
  readonly settlement: Settlement
  /** Store time, ms. */
  readonly now: number
}

/** An entry whose node owns the shard. */
export interface OwnedEntry extends Entry {
  readonly entry: Entry
  /** Key of its webhook. */
  readonly key: number
}

/** An entry whose delivery was found. */
export interface LocatedEntry extends OwnedEntry {
  readonly lane: string
  /** Whether it is the head of its lane. */
  readonly head: boolean
  /** Location of its row. */
  ctid: string
}

type Lanes = ReturnType<typeof createLanes>

/** Leaves out the entries whose delivery no longer exists. */
export async function locateEntries(
  tx: Transaction,
  { locate }: Pick<Lanes, 'locate'>,
  inFlight: Pick<InFlightCache, 'get'>,
  entries: readonly OwnedEntry[],
): Promise<readonly LocatedEntry[]> {
  const cached = new Map(entries.map((entry) => [entry, cachedDeliveryOf(entry, inFlight)]))
  const unknown = entries.filter((entry) => !cached.get(entry))
  const found = await locate(
    tx,
    unknown.map(({ settlement }) => settlement.deliveryId),
  )
  return entries.flatMap((entry) => {
    const delivery = cached.get(entry)
    const location = delivery ?? found.get(entry.settlement.deliveryId)
    if (!location) return []
    const head = delivery !== undefined || found.get(entry.settlement.deliveryId)!.head
    return [locatedEntry(entry, location, head)]
  })
}

function locatedEntry(
  { entry, settlement, now, key }: OwnedEntry,
  { lane, ctid }: { readonly lane: string; readonly ctid: string },
  head: boolean,
): LocatedEntry {
  return { entry, settlement, now, key, lane, head, ctid }
}

function cachedDeliveryOf(
  { settlement: { deliveryId, expect } }: OwnedEntry,
  inFlight: Pick<InFlightCache, 'get'>,
) {
  return expect.state === 'in_flight' ? inFlight.get(deliveryId, expect.fence) : undefined
}

/**
 * Locks the lanes of the deliveries that end. Whether a waiting delivery is the head is certain only after that: the
 * one ahead of it may just have been erased.
 */
export async function lockLanes(
  tx: Transaction,
  { lock, locate }: Pick<Lanes, 'lock' | 'locate'>,
  entries: readonly LocatedEntry[],
): Promise<{ readonly locked: LockedLanes; readonly entries: readonly LocatedEntry[] }> {
  const ending = entries.filter(({ settlement }) => isTerminal(settlement.next.state))
  const locked = await lock(tx, ending)
  const waiting = ending.filter(({ settlement }) => settlement.expect.state === 'waiting')
  if (waiting.length === 0) return { locked, entries }
  const ids = waiting.map(({ settlement }) => settlement.deliveryId)
  const found = await locate(tx, ids)
  return {
    locked,
    entries: entries.map((entry) => {
      const location = found.get(entry.settlement.deliveryId)
      return location ? locatedEntry(entry, location, location.head) : entry
    }),
  }
}

export function endedDeliveryOf({ settlement, now, key, lane, head }: LocatedEntry): EndedDelivery[] {
  return isTerminal(settlement.next.state) ? [{ key, lane, head, now }] : []
}
