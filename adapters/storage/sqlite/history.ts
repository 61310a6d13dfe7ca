/** How much the history takes, and the removal of its oldest deliveries. */
import type { EngineContext } from './context.js'
import { createDeletion, type DeliveryRef } from './deletion.js'
import { prepareQuery } from './query.js'
import { DELIVERED } from './state-codes.js'

/** Rows that a call reads, besides as many as it deletes. */
const MAX_PASSED = 2_000
/** Rows read at a time. */
const SLICE = 500

interface HistoryRow extends DeliveryRef {
  readonly key: number
  readonly event: number | null
  /** Null: its delivery goes on after it. */
  readonly state: number | null
}

export const HISTORY_SQL = `select key, webhook, position, event, state from hookswitch_attempt
  where key > ? order by key limit ? + 0`

/** In the order in which they ended. Which goes first: what was delivered and is no replay. */
const KINDS: readonly ((row: HistoryRow) => boolean)[] = [
  ({ state, event }) => state === DELIVERED && event === null,
  ({ state }) => state !== null,
]

export function createHistory(context: EngineContext) {
  const { db } = context
  const { deleteDelivery } = createDeletion(context)
  const rowsAfter = prepareQuery<HistoryRow>(db, HISTORY_SQL)
  const size = prepareQuery<{ readonly bytes: number }>(
    db,
    `select (page_count - freelist_count) * page_size as bytes
    from pragma_page_count, pragma_freelist_count, pragma_page_size`,
  )
  /** For each kind: no row up to this key is of it. Ends have higher keys than all rows before them. */
  const passed = KINDS.map(() => 0)
  context.onRollback(() => passed.fill(0))

  return {
    historyBytes: (): number => size.get()!.bytes,
    /** Returns `limit`, too, if it has to look further. */
    pruneOldest(limit: number): number {
      let removed = 0
      let left = limit + MAX_PASSED
      for (const [kind, isOfKind] of KINDS.entries()) {
        for (;;) {
          const most = Math.min(SLICE, left)
          const rows = rowsAfter.all(passed[kind]!, most)
          for (const row of rows) {
            if (removed === limit) return limit
            if (isOfKind(row)) {
              deleteDelivery(row)
              removed += 1
            }
            passed[kind] = row.key
          }
          left -= rows.length
          if (rows.length < most) break
          if (left === 0) return limit
        }
      }
      return removed
    },
  }
}
