/** Groups the scanned rows by endpoint, selects the heads to claim within the limits, and builds the values. Pure. */
import type { ClaimRequest } from 'hookswitch/store'
import { int2Array, int4Array, textArray, tidArray } from './binary-arrays.js'
import { type Head, selectHeads } from './claim-split.js'
import type { ScanRow } from './sql/claim.js'

/** By webhook id, in the order of the request. */
export type RequestedEndpoints = ReadonlyMap<
  string,
  { readonly slots: number; readonly retriesFirst: boolean }
>

/** A requested endpoint in a shard of this node. */
export interface ScannedEndpoint {
  /** Term of its shard. */
  readonly term: number
  readonly row: ScanRow & { readonly webhookId: string }
  /** The earliest first attempts and the earliest retries. */
  readonly heads: Head[]
  /** The heads to claim. */
  selected: readonly Head[]
}

/** Adds up the slots of an endpoint that is requested twice. */
export function mergeRequests(endpoints: ClaimRequest['endpoints']): RequestedEndpoints {
  const requested = new Map<string, { slots: number; readonly retriesFirst: boolean }>()
  for (const { webhookId, slots, retriesFirst = false } of endpoints) {
    const before = requested.get(webhookId)
    if (before) before.slots += slots
    else requested.set(webhookId, { slots, retriesFirst })
  }
  return requested
}

/** By webhook id, in the order of the request. */
export function scannedEndpoints(rows: readonly ScanRow[]): ReadonlyMap<string, ScannedEndpoint> {
  const terms = new Map<number, number>()
  for (const row of rows) if (row.place === 0) terms.set(row.shard, row.term)
  const byPlace: (ScannedEndpoint | undefined)[] = []
  for (const row of rows) {
    if (isEndpoint(row)) byPlace[row.place] = { row, term: terms.get(row.shard)!, heads: [], selected: [] }
  }
  for (const row of rows) if (!isEndpoint(row)) byPlace[row.place]?.heads.push(row)
  const scanned = new Map<string, ScannedEndpoint>()
  for (const endpoint of byPlace) if (endpoint) scanned.set(endpoint.row.webhookId, endpoint)
  return scanned
}

function isEndpoint(row: ScanRow): row is ScannedEndpoint['row'] {
  return row.webhookId !== null
}

/** Selects the heads to claim of each endpoint, at most `limit` in all. Returns their number. */
export function selectClaims(
  scanned: ReadonlyMap<string, ScannedEndpoint>,
  requested: RequestedEndpoints,
  { limit, now }: ClaimRequest,
): number {
  let count = 0
  for (const [webhookId, endpoint] of scanned) {
    const { deleted, pausedMs, probed } = endpoint.row
    const { slots, retriesFirst } = requested.get(webhookId)!
    if (deleted || pausedMs > now) continue
    const left = Math.min(slots, limit - count)
    endpoint.selected = selectHeads(
      { heads: endpoint.heads, slots: left, retriesFirst, isProbed: probed },
      now,
    )
    count += endpoint.selected.length
  }
  return count
}

/** Values of the statement `claim`. */
export function claimValues(
  scanned: Iterable<ScannedEndpoint>,
  token: number,
  owner: string,
  now: number,
): readonly unknown[] {
  const heads: Head[] = []
  const terms: number[] = []
  const shards = new Map<number, number>()
  const keys: number[] = []
  const epochs: number[] = []
  for (const { row, term, selected } of scanned) {
    if (selected.length === 0) continue
    shards.set(row.shard, term)
    keys.push(row.key)
    epochs.push(row.epoch)
    for (const head of selected) {
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
