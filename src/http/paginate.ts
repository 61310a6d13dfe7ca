/** Reads one page of a list from the store, in batches. */
import type { PageQuery } from '../accounts/account-store.js'
import { invalidInput } from '../errors.js'
import { decodePosition, decodeSortKey, encodePosition, encodeSortKey, type SortKey } from '../wire/cursor.js'
import { invalidStartKey, type ListRequest } from '../wire/list.js'
import type { JsonObject } from '../wire/webhook-json.js'

/** Rows per store query when a filter may drop any of them. */
const BATCH_SIZE = 500

/** The same for a list sorted by a key: each query may cost a walk over the subtree of an account. */
const SORTED_BATCH_SIZE = 2_000

/** Maximum number of items in a response with `paginate=false`; `next_start_key` leads to the rest. */
const MAX_UNPAGED = 10_000

/** Rows that one request examines: a filter that matches rarely must not read a whole store. */
const MAX_EXAMINED = 20_000

interface Positioned {
  readonly position: number
}

/** Paging and range of one store query. */
export interface BatchQuery {
  readonly cursor?: number
  readonly limit: number
  readonly fromMs?: number
  readonly toMs?: number
  readonly ascending?: boolean
}

/** The rows of one page. `nextStartKey` is present only if at least one more row follows, or may follow. */
export interface RowPage<Row> {
  readonly rows: readonly Row[]
  readonly nextStartKey?: string
}

/**
 * Reads batches until one page is full or 20,000 rows are examined; filters apply here, to the JSON of each row. Reads one
 * row beyond a full page, so that its `nextStartKey` leads to no empty page unless a filter leaves nothing.
 *
 * @param read reads one batch, in list order
 * @param toJson the JSON that filters apply to
 * @throws `InvalidInput` for a `start_key` that this API did not issue
 */
export async function paginate<Row extends Positioned>(
  request: ListRequest,
  read: (query: BatchQuery) => Promise<readonly Row[]>,
  toJson: (row: Row) => JsonObject,
): Promise<RowPage<Row>> {
  const { startKey, filter, fromMs, toMs, ascending } = request
  const size = request.pageSize ?? MAX_UNPAGED
  const range = {
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(toMs === undefined ? {} : { toMs }),
    ...(ascending === undefined ? {} : { ascending }),
  }
  let cursor = startKey === undefined ? undefined : decodePosition(startKey)
  if (startKey !== undefined && cursor === undefined) throw invalidInput([invalidStartKey(startKey)])

  const rows: Row[] = []
  for (let examined = 0; ; ) {
    const limit = filter ? BATCH_SIZE : Math.min(size + 1 - rows.length, BATCH_SIZE)
    const batch = await read({ ...range, ...(cursor === undefined ? {} : { cursor }), limit })
    for (const row of batch) {
      if (filter && !filter(toJson(row))) continue
      if (rows.length === size) return { rows, nextStartKey: encodePosition(rows.at(-1)!.position) }
      rows.push(row)
    }
    if (batch.length < limit) return { rows }
    cursor = batch.at(-1)!.position
    examined += batch.length
    if (examined >= MAX_EXAMINED) return { rows, nextStartKey: encodePosition(cursor) }
  }
}

/** A list that the store sorts by a key. */
export interface SortedList<Row> {
  /** Reads one batch, in the requested order. */
  read(page: PageQuery): Promise<readonly Row[]>
  readonly keyOf: (row: Row) => SortKey
  /** Unix ms. */
  readonly createdMs: (row: Row) => number | undefined
  /** The JSON that filters apply to. */
  readonly toJson: (row: Row) => JsonObject
}

/**
 * As `paginate`, for lists that are sorted by a key and not by position; ascending by default.
 *
 * @throws `InvalidInput` for a `start_key` that this API did not issue
 */
export async function paginateByKey<Row>(request: ListRequest, list: SortedList<Row>): Promise<RowPage<Row>> {
  const { startKey, filter, fromMs, toMs, ascending = true } = request
  const size = request.pageSize ?? MAX_UNPAGED
  let after = startKey === undefined ? undefined : decodeSortKey(startKey)
  if (startKey !== undefined && after === undefined) throw invalidInput([invalidStartKey(startKey)])
  const isInRange = (row: Row) => {
    const createdMs = list.createdMs(row)
    if (createdMs === undefined) return true
    return (fromMs === undefined || createdMs >= fromMs) && (toMs === undefined || createdMs <= toMs)
  }
  const isSelective = filter !== undefined || fromMs !== undefined || toMs !== undefined

  const rows: Row[] = []
  for (let examined = 0; ; ) {
    const limit = isSelective ? SORTED_BATCH_SIZE : Math.min(size + 1 - rows.length, SORTED_BATCH_SIZE)
    const batch = await list.read({ ascending, limit, ...(after && { after }) })
    for (const row of batch) {
      if (!isInRange(row) || (filter && !filter(list.toJson(row)))) continue
      if (rows.length === size) return { rows, nextStartKey: encodeSortKey(list.keyOf(rows.at(-1)!)) }
      rows.push(row)
    }
    if (batch.length < limit) return { rows }
    after = list.keyOf(batch.at(-1)!)
    examined += batch.length
    if (examined >= MAX_EXAMINED) return { rows, nextStartKey: encodeSortKey(after) }
  }
}

/** A search whose pages may be short although more follow. `Place` is where to continue. */
export interface Search<Row, Place> {
  /** Reads one page: at most `limit` rows, except that those of one place stay together. */
  read(limit: number, after: Place | undefined): Promise<FoundRows<Row, Place>>
  readonly placeOf: (row: Row) => Place
  /** The JSON that filters apply to. */
  readonly toJson: (row: Row) => JsonObject
  /** Rows per query with a filter. */
  readonly batchSize: number
  /** Rows that one request examines with a filter. Default 20,000. */
  readonly maxExamined?: number
}

/** Rows of a search. `next` is absent if there are no more. */
export interface FoundRows<Row, Place> {
  readonly rows: readonly Row[]
  readonly next?: Place | undefined
}

/**
 * Reads one page of a search. With a filter, reads batches until the page is full or enough rows are examined.
 *
 * @param size maximum number of rows, except that those of one place stay together
 * @param start continue behind this place
 */
export async function paginateSearch<Row, Place>(
  { filter }: ListRequest,
  size: number,
  start: Place | undefined,
  search: Search<Row, Place>,
): Promise<FoundRows<Row, Place>> {
  if (!filter) return search.read(size, start)
  const { batchSize, maxExamined = MAX_EXAMINED } = search
  const rows: Row[] = []
  let after = start
  // A query that finds nothing has examined as many rows as one that finds some.
  for (let examined = 0; examined < maxExamined; examined += batchSize) {
    const batch = await search.read(batchSize, after)
    for (const row of batch.rows) {
      const place = search.placeOf(row)
      if (rows.length >= size && place !== after) return { rows, next: after }
      after = place
      if (filter(search.toJson(row))) rows.push(row)
    }
    after = batch.next
    if (after === undefined || rows.length >= size) break
  }
  return { rows, next: after }
}
