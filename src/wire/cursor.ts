/**
 * Cursors of lists as opaque text. A cursor names the last item of the previous page, not an offset, so that pages
 * neither skip nor repeat items while rows are inserted and deleted.
 */
import type { ReplayListQuery } from '../delivery/replay-store.js'
import type { ImpactPlace } from '../stats/endpoint-list.js'

const encode = (text: string) => Buffer.from(text, 'utf8').toString('base64url')

/** Decodes the canonical output of `encode` only; any other encoding of the same bytes was not issued by this API. */
function decode(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('utf8')
  return encode(text) === cursor ? text : undefined
}

const POSITION = /^p(0|[1-9][0-9]{0,15})$/

/** Encodes a position in recording order as a cursor. */
export const encodePosition = (position: number): string => encode(`p${position}`)

/** Returns the position, or `undefined` for text that `encodePosition` did not produce. */
export function decodePosition(cursor: string): number | undefined {
  const match = POSITION.exec(decode(cursor) ?? '')
  const position = match ? Number(match[1]) : Number.NaN
  return Number.isSafeInteger(position) ? position : undefined
}

/** The place of a replay in their list. */
export type ReplayPlace = NonNullable<ReplayListQuery['after']>

const REPLAY = /^r(0|[1-9][0-9]{0,15})-([0-9a-f]{32})$/

/** Encodes the place of a replay as a cursor. */
export const encodeReplayPlace = ({ createdMs, id }: ReplayPlace): string => encode(`r${createdMs}-${id}`)

/** Returns the place, or `undefined` for text that `encodeReplayPlace` did not produce. */
export function decodeReplayPlace(cursor: string): ReplayPlace | undefined {
  const match = REPLAY.exec(decode(cursor) ?? '')
  const createdMs = match ? Number(match[1]) : Number.NaN
  return Number.isSafeInteger(createdMs) ? { createdMs, id: match![2]! } : undefined
}

const IMPACT = /^i(0|[1-9][0-9]{0,15})-(0|[1-9][0-9]{0,15})-([\w-]{1,64})$/

/** Encodes the place of a webhook in the order by impact as a cursor. */
export const encodeImpactPlace = ({ atMs, impact, id }: ImpactPlace): string =>
  encode(`i${atMs}-${impact}-${id}`)

/** Returns the place, or `undefined` for text that `encodeImpactPlace` did not produce. */
export function decodeImpactPlace(cursor: string): ImpactPlace | undefined {
  const [, atMs, impact, id] = IMPACT.exec(decode(cursor) ?? '') ?? []
  return id === undefined ? undefined : { atMs: Number(atMs), impact: Number(impact), id }
}

/** Sort key of a list: by name, then by id. */
export type SortKey = readonly [name: string, id: string]

/** Encodes a sort key as a cursor. */
export const encodeSortKey = ([name, id]: SortKey): string => encode(`k${JSON.stringify([name, id])}`)

/** Returns the sort key, or `undefined` for text that `encodeSortKey` did not produce. */
export function decodeSortKey(cursor: string): SortKey | undefined {
  const text = decode(cursor)
  if (text === undefined || !text.startsWith('k[')) return undefined
  let value: unknown
  try {
    value = JSON.parse(text.slice(1))
  } catch {
    return undefined
  }
  if (!Array.isArray(value) || value.length !== 2) return undefined
  const [name, id] = value as unknown[]
  if (typeof name !== 'string' || typeof id !== 'string') return undefined
  return encodeSortKey([name, id]) === cursor ? [name, id] : undefined
}

/** Compares sort keys by UTF-16 code units, independently of a database's collation. */
export function compareSortKeys(a: SortKey, b: SortKey): number {
  if (a[0] !== b[0]) return a[0] < b[0] ? -1 : 1
  if (a[1] === b[1]) return 0
  return a[1] < b[1] ? -1 : 1
}
