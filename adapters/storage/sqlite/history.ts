/** How much the history takes, and the removal of its oldest deliveries. */
import type { EngineContext } from './context.js'
import { createDeletion, type DeliveryRef } from './deletion.js'
import { MAX_DELETED } from './prune.js'
import { DELIVERED } from './state-codes.js'

/** Rows read at a time. */
const SLICE = 250
/** Rows that a call reads. */
const MAX_READ = 2_000

interface HistoryRow extends DeliveryRef {
  readonly key: number
  readonly event: number | null
  /** Null: its delivery goes on after it. */
  readonly state: number | null
}

/** Which ends go first: of what was delivered and is no replay. */
const KINDS: readonly ((row: HistoryRow) => boolean)[] = [
  ({ state, event }) => state === DELIVERED && event === null,
  ({ state }) => state !== null,
]

export function createHistory(context: EngineContext) {
  const { prepareQuery } = context
  const { deleteDelivery } = createDeletion(context)
  const rowsAfter = prepareQuery<HistoryRow>(
    'select key, webhook, position, event, state from hookswitch_attempt where key > ? order by key limit ? + 0',
  )
  const size = prepareQuery<{
    readonly bytes: number
  }>(`select (page_count - freelist_count) * page_size as bytes
    from pragma_page_count, pragma_freelist_count, pragma_page_size`)
  /** For each kind: no end up to this key is of it. Keys grow in the order of ends. */
  const passed = KINDS.map(() => 0)
  context.onRollback(() => passed.fill(0))

  return {
    historyBytes: (): number => size.get()!.bytes,
    /** Where it has found none yet and has to look further, it returns 1. */
    pruneOldest(limit: number): number {
      const most = Math.min(limit, MAX_DELETED)
      let removed = 0
      let left = MAX_READ
      for (const [kind, isOfKind] of KINDS.entries()) {
        for (let isEnd = false; !isEnd; ) {
          if (left <= 0) return Math.max(1, removed)
          const rows = rowsAfter.all(passed[kind]!, SLICE)
          for (const row of rows) {
            if (removed === most) return removed
            if (isOfKind(row)) {
              deleteDelivery(row)
              removed += 1
            }
            passed[kind] = row.key
          }
          left -= SLICE
          isEnd = rows.length < SLICE
        }
      }
      return removed
    },
  }
}
