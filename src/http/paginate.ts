/** Reads a list in batches, bounded by rows, by bytes of JSON and by rows examined. */
import type { PageQuery } from '../accounts/account-store.js'
import type { ListPart } from '../delivery/list-part.js'
import { invalidInput } from '../errors.js'
import { decodePosition, decodeSortKey, encodePosition, encodeSortKey, type SortKey } from '../wire/cursor.js'
import { invalidStartKey, type ListRequest, MAX_PAGE_BYTES, MAX_UNPAGED } from '../wire/list.js'
import type { JsonObject } from '../wire/webhook-json.js'

/** Rows that one request examines: a filter that matches rarely must not read a whole store. */
const MAX_EXAMINED = 20_000

/** Rows that are converted to JSON together. */
const ITEMS_AT_ONCE = 50

/** Rows of one query. `next` is where to continue; absent: there are no more. */
interface FoundRows<Row, Place> {
  readonly rows: readonly Row[]
  readonly next?: Place | undefined
  /** Rows that the query has examined. Default: as many as it may return. */
  readonly examined?: number
}

/** A list in the store. `Place` is a position or a key behind which a page begins; several rows may share one. */
export interface RowSource<Row, Place> {
  /** The place behind which the list begins; `undefined`: at its start. */
  readonly start: Place | undefined
  /**
   * Reads the next rows in list order: at most `limit`, except that those of one place stay together. They may be fewer
   * although more follow.
   */
  read(limit: number, after: Place | undefined): Promise<FoundRows<Row, Place>>
  readonly placeOf: (row: Row) => Place
  /** The `start_key` of a place. */
  readonly startKeyOf: (place: Place) => string
  /** Whether the row is in the requested range. Absent: all are. */
  readonly isInRange?: ((row: Row) => boolean) | undefined
  /** The JSON that filters apply to. */
  readonly toFilterJson: (row: Row) => JsonObject
  /** The items of these rows. */
  readonly toItems: (rows: readonly Row[]) => readonly JsonObject[] | Promise<readonly JsonObject[]>
  /** Maximum number of rows per query: all are in memory at once. */
  readonly batchSize: number
  /** Rows that one request examines where not every row is wanted. Default 20,000. */
  readonly maxExamined?: number
  /** Whether the store leaves out rows: a query may return none although more follow. Default false. */
  readonly isSparse?: boolean
}

/** Texts of items, in order, some at a time; returns the `start_key` of the next page if more follow, or may follow. */
export type ItemTexts = AsyncGenerator<readonly string[], string | undefined, void>

/**
 * Reads batches until the page is full, has 1 MiB of JSON, or enough rows are examined. A page has at least one item if
 * there is one. With a filter or a range it looks for one more item behind a full page, so that its `next_start_key` leads
 * to no empty page.
 *
 * @param toText the JSON text of an item
 */
export async function* readItems<Row, Place>(
  {
    pageSize = MAX_UNPAGED,
    filter,
  }: Pick<ListRequest, 'filter'> & { readonly pageSize?: number | undefined },
  source: RowSource<Row, Place>,
  toText: (item: JsonObject) => string,
  maxBytes: number,
): ItemTexts {
  const { read, placeOf, startKeyOf, isInRange, toFilterJson, toItems, batchSize } = source
  const { maxExamined = MAX_EXAMINED, isSparse = false } = source
  const isSelective = filter !== undefined || isInRange !== undefined
  let after = source.start
  let taken = 0
  let bytes = 0
  let lastPlace: Place | undefined
  for (let examined = 0; ; ) {
    if ((isSelective || isSparse) && examined > 0 && examined >= maxExamined) return startKeyOf(after!)
    const limit = isSelective ? batchSize : Math.min(pageSize - taken, batchSize)
    const batch = await read(limit, after)
    // A query that finds nothing has examined as many rows as one that finds some.
    examined += batch.examined ?? batchSize
    const wanted: Row[] = []
    let isFull = false
    let place = lastPlace
    for (const row of batch.rows) {
      if (isInRange?.(row) === false || (filter && !filter(toFilterJson(row)))) continue
      const rowPlace = placeOf(row)
      isFull = taken + wanted.length >= pageSize && rowPlace !== place
      if (isFull) break
      wanted.push(row)
      place = rowPlace
    }
    for (let first = 0; first < wanted.length; first += ITEMS_AT_ONCE) {
      const rows = wanted.slice(first, first + ITEMS_AT_ONCE)
      const texts: string[] = []
      for (const [index, item] of (await toItems(rows)).entries()) {
        const text = toText(item)
        const rowPlace = placeOf(rows[index]!)
        bytes += Buffer.byteLength(text) + 1
        if (bytes > maxBytes && taken > 0 && rowPlace !== lastPlace) {
          yield texts
          return startKeyOf(lastPlace!)
        }
        texts.push(text)
        taken += 1
        lastPlace = rowPlace
      }
      yield texts
    }
    if (isFull) return startKeyOf(lastPlace!)
    after = batch.next
    if (after === undefined) return undefined
    if (!isSelective && (taken >= pageSize || (batch.rows.length < limit && !isSparse)))
      return startKeyOf(after)
  }
}

/** Maximum size of the items of a response, in bytes of JSON: a list that is not paged is written in pieces. */
export const maxBytesOf = ({ pageSize }: ListRequest): number =>
  pageSize === undefined ? Number.POSITIVE_INFINITY : MAX_PAGE_BYTES

/** Rows per query of a list whose rows have recorded bodies, of up to 16 KB and more: everybody waits while SQLite reads them. */
const LARGE_ROWS = 25

/** Such rows that one request with a filter examines: one takes 10 to 20 µs to read, so a request takes less than 50 ms. */
const MAX_LARGE_EXAMINED = 2_000

/** Parts of a list that one request examines. */
const MAX_PARTS = 4

/** Rows per query of a list whose rows are small. */
const SMALL_ROWS = 500

/** Rows per query of a list of documents; each query may cost a walk over the subtree of an account. */
const DOCUMENTS = 250

interface Positioned {
  readonly position: number
}

/** Paging and range of one store query. @internal */
export interface BatchQuery {
  readonly cursor?: number
  readonly end?: number
  readonly limit: number
  readonly fromMs?: number
  readonly toMs?: number
  readonly ascending?: boolean
}

/** A list in the order of recording, whose ranges the store applies. */
interface PositionedList<Row> extends Pick<RowSource<Row, number>, 'toFilterJson' | 'toItems'> {
  /** Reads at most `limit` rows, in list order. */
  read(query: BatchQuery): Promise<readonly Row[]>
  /** The next part of the list, if the store may leave out most rows. Absent: it returns rows of each. */
  readonly part?: (query: Omit<BatchQuery, 'limit' | 'end'>) => Promise<ListPart>
  /** Whether the rows have recorded bodies. */
  readonly hasBodies?: boolean
}

/** @throws `InvalidInput` for a `start_key` that this API did not issue */
export function positionedRows<Row extends Positioned>(
  request: ListRequest,
  { read, part, hasBodies = false, toFilterJson, toItems }: PositionedList<Row>,
): RowSource<Row, number> {
  const { startKey, fromMs, toMs, ascending } = request
  const range = {
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(toMs === undefined ? {} : { toMs }),
    ...(ascending === undefined ? {} : { ascending }),
  }
  const placeOf = ({ position }: Row) => position
  const maxExamined = hasBodies && request.filter ? MAX_LARGE_EXAMINED : MAX_EXAMINED
  async function readPart(limit: number, after: number | undefined): Promise<FoundRows<Row, number>> {
    const { cursor, end, hasMore } = await part!({ ...range, ...(after !== undefined && { cursor: after }) })
    const found = upTo(limit, await read({ ...range, cursor, end, limit: limit + 1 }), placeOf)
    if (found.next !== undefined || !hasMore) return found
    return { rows: found.rows, next: end, examined: maxExamined / MAX_PARTS }
  }
  return {
    start: decodeStart(startKey, decodePosition),
    read: part
      ? readPart
      : async (limit, cursor) =>
          upTo(
            limit,
            await read({ ...range, ...(cursor === undefined ? {} : { cursor }), limit: limit + 1 }),
            placeOf,
          ),
    isSparse: part !== undefined,
    maxExamined,
    placeOf,
    startKeyOf: encodePosition,
    toFilterJson,
    toItems,
    batchSize: hasBodies ? LARGE_ROWS : SMALL_ROWS,
  }
}

/** A list that the store sorts by a key, ascending by default. */
interface SortedList<Row> extends Pick<RowSource<Row, SortKey>, 'toFilterJson' | 'toItems'> {
  /** Reads at most `limit` rows, in the requested order. */
  read(page: PageQuery): Promise<readonly Row[]>
  readonly keyOf: (row: Row) => SortKey
  /** Unix ms. */
  readonly createdMs: (row: Row) => number | undefined
}

/** @throws `InvalidInput` for a `start_key` that this API did not issue */
export function sortedRows<Row>(request: ListRequest, list: SortedList<Row>): RowSource<Row, SortKey> {
  const { startKey, fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = request
  const { ascending = true } = request
  const { keyOf, createdMs, toFilterJson, toItems } = list
  const isInRange = (row: Row) => {
    const ms = createdMs(row)
    return ms === undefined || (ms >= fromMs && ms <= toMs)
  }
  const hasRange = request.fromMs !== undefined || request.toMs !== undefined
  return {
    start: decodeStart(startKey, decodeSortKey),
    read: async (limit, after) =>
      upTo(limit, await list.read({ ascending, limit: limit + 1, ...(after && { after }) }), keyOf),
    placeOf: keyOf,
    startKeyOf: encodeSortKey,
    isInRange: hasRange ? isInRange : undefined,
    toFilterJson,
    toItems,
    batchSize: DOCUMENTS,
  }
}

/** The rows without the one beyond the limit, which says that more follow. */
export function upTo<Row, Place>(
  limit: number,
  rows: readonly Row[],
  placeOf: (row: Row) => Place,
): FoundRows<Row, Place> {
  return rows.length > limit ? { rows: rows.slice(0, limit), next: placeOf(rows[limit - 1]!) } : { rows }
}

/** Decodes a `start_key`. Throws `InvalidInput` for one that this API did not issue. */
export function decodeStart<Place>(
  startKey: string | undefined,
  decode: (startKey: string) => Place | undefined,
): Place | undefined {
  const place = startKey === undefined ? undefined : decode(startKey)
  if (startKey !== undefined && place === undefined) throw invalidInput([invalidStartKey(startKey)])
  return place
}
