/** Reads one page of a list from the store, in batches. */
import { invalidInput } from '../errors.js'
import { decodePosition, encodePosition } from '../wire/cursor.js'
import { invalidStartKey, type ListRequest } from '../wire/list.js'
import type { JsonObject } from '../wire/webhook-json.js'

/** Rows per store query when a filter may drop any of them. */
const BATCH_SIZE = 500

/** Maximum number of items in a response with `paginate=false`; `next_start_key` leads to the rest. */
const MAX_UNPAGED = 10_000

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

/** The rows of one page; `nextStartKey` is present only if at least one more row follows. */
export interface RowPage<Row> {
  readonly rows: readonly Row[]
  readonly nextStartKey?: string
}

/**
 * Reads batches until one page is full; filters apply here, to the JSON of each row. Reads one row beyond the page, so
 * that `nextStartKey` never leads to an empty page.
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
  for (;;) {
    const limit = filter ? BATCH_SIZE : Math.min(size + 1 - rows.length, BATCH_SIZE)
    const batch = await read({ ...range, ...(cursor === undefined ? {} : { cursor }), limit })
    for (const row of batch) {
      if (filter && !filter(toJson(row))) continue
      if (rows.length === size) return { rows, nextStartKey: encodePosition(rows.at(-1)!.position) }
      rows.push(row)
    }
    if (batch.length < limit) return { rows }
    cursor = batch.at(-1)!.position
  }
}
