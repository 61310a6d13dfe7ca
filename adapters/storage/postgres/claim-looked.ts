import type { ClaimRequest } from 'hookswitch/store'
import { type Head, takenOf } from './claim-share.js'
import { int2Array, int4Array, textArray, tidArray } from './rows-arrays.js'
import type { LookRow } from './sql/claim.js'

/** What is asked of each endpoint, by id, in the order of naming. */
export type Named = ReadonlyMap<string, { readonly room: number; readonly retriesFirst: boolean }>

/** An endpoint that was looked at. */
export interface Looked {
  /** Of its shard. */
  readonly term: number
  readonly row: LookRow & { readonly webhookId: string }
  /** The earliest of each kind. */
  readonly heads: Head[]
  taken: readonly Head[]
}

/** An endpoint that is named twice has the room of both. */
export function merged(endpoints: ClaimRequest['endpoints']): Named {
  const named = new Map<string, { room: number; readonly retriesFirst: boolean }>()
  for (const { webhookId, room, retriesFirst = false } of endpoints) {
    const known = named.get(webhookId)
    if (known) known.room += room
    else named.set(webhookId, { room, retriesFirst })
  }
  return named
}

/** By id, in the order of naming. */
export function looks(rows: readonly LookRow[]): ReadonlyMap<string, Looked> {
  const terms = new Map<number, number>()
  for (const row of rows) if (row.place === 0) terms.set(row.shard, row.term)
  const places: (Looked | undefined)[] = []
  for (const row of rows) {
    if (isEndpoint(row)) places[row.place] = { row, term: terms.get(row.shard)!, heads: [], taken: [] }
  }
  for (const row of rows) if (!isEndpoint(row)) places[row.place]?.heads.push(row)
  const looked = new Map<string, Looked>()
  for (const one of places) if (one) looked.set(one.row.webhookId, one)
  return looked
}

function isEndpoint(row: LookRow): row is Looked['row'] {
  return row.webhookId !== null
}

/** Decides what is taken of each, at most the limit of all. How many. */
export function share(
  looked: ReadonlyMap<string, Looked>,
  named: Named,
  { limit, now }: ClaimRequest,
): number {
  let count = 0
  for (const [webhookId, one] of looked) {
    const { deleted, pausedMs, probed } = one.row
    const { room, retriesFirst } = named.get(webhookId)!
    if (deleted || pausedMs > now) continue
    const left = Math.min(room, limit - count)
    one.taken = takenOf({ heads: one.heads, room: left, retriesFirst, probed }, now)
    count += one.taken.length
  }
  return count
}

/** Values of the statement `take`. */
export function takeValues(
  looked: Iterable<Looked>,
  token: number,
  owner: string,
  now: number,
): readonly unknown[] {
  const heads: Head[] = []
  const terms: number[] = []
  const shards = new Map<number, number>()
  const keys: number[] = []
  const epochs: number[] = []
  for (const { row, term, taken } of looked) {
    if (taken.length === 0) continue
    shards.set(row.shard, term)
    keys.push(row.key)
    epochs.push(row.epoch)
    for (const head of taken) {
      heads.push(head)
      terms.push(term)
    }
  }
  return [
    tidArray(heads.map(({ ctid }) => ctid)),
    textArray(heads.map(({ id }) => id)),
    int4Array(terms),
    token,
    int2Array([...shards.keys()]),
    owner,
    int4Array([...shards.values()]),
    now,
    int4Array(keys),
    int4Array(epochs),
  ]
}
