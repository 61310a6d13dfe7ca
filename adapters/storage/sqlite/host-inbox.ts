import type { InboxEntry } from 'hookswitch/store'
import type { SqliteHandle, SqliteStatement } from './driver.js'
import { invalidOption, storeError, unavailable } from './errors.js'

const INSERT =
  'INSERT INTO hookswitch_inbox (event_id, account_id, call_id, event, traceparent) VALUES (?, ?, ?, ?, ?)'
const IS_THERE = 'SELECT 1 FROM hookswitch_inbox WHERE id = ?'

/** Longest pause between two looks at a transaction of the host that goes on and on. */
const SLOWEST_MS = 250

/** What the host writes with its own handle, in its own transactions. */
export interface HostInbox {
  /** Throws `InvalidOption` (field `tx`), `StoreUnavailable`. Written when it returns. */
  put(tx: unknown, entry: InboxEntry): void
  /** No wake-up comes any more. */
  stop(): void
}

/** @param wake called when what was put may have been committed: nobody is told of a commit by SQLite */
export function hostInbox(database: SqliteHandle, wake: () => void): HostInbox {
  let insert: SqliteStatement | undefined
  let timer: NodeJS.Timeout | undefined
  let lastRow = 0
  let pauseMs = 0

  /** False: the handle is closed, or the statement is of a handle that was. */
  function wrote(entry: InboxEntry): boolean {
    const { id, accountId, callId, event, traceparent } = entry
    try {
      insert ??= database.prepare(INSERT)
      const row = insert.run(id, accountId, callId ?? null, event, traceparent ?? null)
      lastRow = Number(row.lastInsertRowid)
      return true
    } catch (thrown) {
      insert = undefined
      if ((thrown as { code?: unknown }).code === 'ERR_INVALID_STATE') return false
      throw storeError(thrown, "the host's database")
    }
  }

  /** Whether the host's transaction is over; where its handle does not say so, whether the row is. */
  function isOver(): boolean {
    try {
      return database.isTransaction === undefined
        ? database.prepare(IS_THERE).get(lastRow) === undefined
        : !database.isTransaction
    } catch {
      // It was closed.
      return true
    }
  }

  function look(): void {
    timer = undefined
    const over = isOver()
    // A host that is always in one transaction or the next, and a handle that does not tell: somebody has to look.
    if (over || pauseMs >= SLOWEST_MS || database.isTransaction === undefined) wake()
    if (over) return
    pauseMs = Math.min(SLOWEST_MS, pauseMs * 2 + 1)
    lookSoon()
  }

  function lookSoon(): void {
    timer = setTimeout(look, pauseMs).unref()
  }

  return {
    put(tx, entry) {
      if (tx !== database) throw invalidOption('tx', 'must be the database that was given to sqliteStore')
      // Twice: the host may have closed its handle and opened it again.
      if (!wrote(entry) && !wrote(entry)) throw unavailable("the host's database is closed")
      // One that is about to look is not put off: where entries never end, it would never look.
      if (timer && pauseMs === 0) return
      clearTimeout(timer)
      pauseMs = 0
      lookSoon()
    },
    stop() {
      clearTimeout(timer)
      timer = insert = undefined
    },
  }
}
