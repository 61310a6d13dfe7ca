import { invalidInput } from '../errors.js'
import { positionCursor, readPosition } from '../wire/cursor.js'
import { type ListRequest, startKeyFailure } from '../wire/list.js'
import type { Doc } from '../wire/webhook-doc.js'

/** Rows asked of the store at once, where a filter may drop any of them. */
const BATCH = 500

/** Most items of one answer with `paginate=false`; the rest is named by its `next_start_key`. */
const MAX_UNPAGED = 10_000

interface Positioned {
  readonly position: number
}

/** What a batch is asked with, beside what the list is of. */
export interface BatchQuery {
  readonly cursor?: number
  readonly limit: number
  readonly fromMs?: number
  readonly toMs?: number
  readonly ascending?: boolean
}

/** The rows that a page shows; `nextStartKey` only where there is at least one more. */
export interface FilledPage<Row> {
  readonly rows: readonly Row[]
  readonly nextStartKey?: string
}

/**
 * Fills one page through batches from the store, since filters are judged here, on documents. Looks for one row
 * more than it shows, so that a next page is named only where there is something on it.
 *
 * @param read one batch, in the order of the list
 * @throws `InvalidInput` for a `start_key` that is not ours
 */
export async function fillPage<Row extends Positioned>(
  request: ListRequest,
  read: (query: BatchQuery) => Promise<readonly Row[]>,
  docOf: (row: Row) => Doc,
): Promise<FilledPage<Row>> {
  const { startKey, filter, fromMs, toMs, ascending } = request
  const size = request.pageSize ?? MAX_UNPAGED
  const range = {
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(toMs === undefined ? {} : { toMs }),
    ...(ascending === undefined ? {} : { ascending }),
  }
  let cursor = startKey === undefined ? undefined : readPosition(startKey)
  if (startKey !== undefined && cursor === undefined) throw invalidInput([startKeyFailure(startKey)])

  const rows: Row[] = []
  for (;;) {
    const limit = filter ? BATCH : Math.min(size + 1 - rows.length, BATCH)
    const batch = await read({ ...range, ...(cursor === undefined ? {} : { cursor }), limit })
    for (const row of batch) {
      if (filter && !filter(docOf(row))) continue
      if (rows.length === size) return { rows, nextStartKey: positionCursor(rows.at(-1)!.position) }
      rows.push(row)
    }
    if (batch.length < limit) return { rows }
    cursor = batch.at(-1)!.position
  }
}
