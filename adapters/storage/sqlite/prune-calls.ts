import { type Calls, USES } from './calls.js'
import type { SqliteHandle } from './driver.js'
import { change, query } from './query.js'

/** Numbers and legs of a call are kept for so long after its last event. */
const CALL_KEPT_MS = 86_400_000
/** Calls that are looked at in one go. */
const SLICE = 2_000

interface SliceRow {
  /** The last that was looked at; null: there was none. */
  readonly last: number | null
}

/**
 * Forgets calls that had no event for a day and of which nothing is kept. Most are still needed, and there may be
 * millions: each call looks at a slice, and the next one goes on behind it.
 */
export function callPruner(db: SqliteHandle, calls: Calls): (limit: number, now: number) => number {
  const slice = query<SliceRow>(
    db,
    'select max(key) as last from (select key from hookswitch_call where key > ? order by key limit ? + 0)',
  )
  const remove = change(
    db,
    `delete from hookswitch_call where key in (
      select key from hookswitch_call c
      where key > ? and key <= ? and last_ms <= ? and not (${USES})
      order by key limit ? + 0
    )`,
  )
  let lookedUpTo = 0

  return (limit, now) => {
    let removed = 0
    // Twice: what stands before the end of the table, and its beginning.
    for (let round = 0; round < 2 && removed < limit; round += 1) {
      const { last } = slice.get(lookedUpTo, SLICE)!
      if (last === null) {
        lookedUpTo = 0
        continue
      }
      const count = remove(lookedUpTo, last, now - CALL_KEPT_MS, limit - removed)
      removed += count
      if (count > 0) calls.forget()
      // A slice in which there may be more is looked at again.
      if (removed < limit) lookedUpTo = last
    }
    return removed
  }
}
