/**
 * All use of the host's database handle: where its file is, and the inbox rows written in the host's transactions.
 * Everything else goes through our own connection to the same file.
 */
import type { InboxEntry } from 'hookswitch/store'
import { driverNameOf, type SqliteHandle, type SqliteStatement } from './driver.js'
import { invalidOptionError, toStoreError, unavailableError } from './errors.js'
import type { OpenRequest } from './open.js'
import { BUSY_TIMEOUT_MS, setBusyTimeout } from './pragmas.js'

/**
 * Locates the host's database for our connection.
 *
 * From now on two connections write to the file. Without a busy timeout (SQLite's default) a statement of the host would
 * fail whenever we are writing, so a handle that has none gets one.
 *
 * @throws HookswitchError `InvalidOption` for a database without a file, and for a closed one
 */
export function locateHostDatabase(database: SqliteHandle): OpenRequest {
  const path = fileOf(database)
  if (!path) {
    const sentence = 'must be a file: a database in memory or a temporary one cannot be shared'
    throw invalidOptionError('database', sentence)
  }
  const { timeout } = database.prepare('PRAGMA busy_timeout').get() as { timeout: number }
  if (timeout === 0) setBusyTimeout(database, BUSY_TIMEOUT_MS)
  return { path, field: 'database', driver: driverNameOf(database)! }
}

function fileOf(database: SqliteHandle): string | null | undefined {
  try {
    // The first row is `main`.
    const [main] = database.prepare('PRAGMA database_list').all() as { readonly file: string | null }[]
    return main?.file
  } catch (thrown) {
    throw invalidOptionError('database', 'must be open', thrown)
  }
}

const INSERT =
  'INSERT INTO hookswitch_inbox (event_id, account_id, call_id, event, traceparent) VALUES (?, ?, ?, ?, ?)'
const EXISTS = 'SELECT 1 FROM hookswitch_inbox WHERE id = ?'

/** Longest interval between two checks for the end of the host's transaction. */
const MAX_INTERVAL_MS = 250

/** Writes inbox rows through the host's handle, in the host's transactions. */
interface HostInbox {
  /** Writes synchronously. Throws `InvalidOption` (field `tx`), `StoreUnavailable`. */
  put(tx: unknown, entries: readonly InboxEntry[]): void
  /** Stops all notifications. */
  stop(): void
}

/**
 * SQLite does not report commits of another connection, so `put` starts polling until the host's transaction ends.
 *
 * @param notify called when an entry may have been committed
 */
export function createHostInbox(database: SqliteHandle, notify: () => void): HostInbox {
  let insert: SqliteStatement | undefined
  let timer: NodeJS.Timeout | undefined
  let lastRowId = 0
  let intervalMs = 0

  /** Returns false when the handle is closed, or was reopened since the statement was prepared. */
  function tryInsert(entry: InboxEntry): boolean {
    const { id, accountId, callId, event, traceparent } = entry
    try {
      insert ??= database.prepare(INSERT)
      const row = insert.run(id, accountId, callId ?? null, event, traceparent ?? null)
      lastRowId = Number(row.lastInsertRowid)
      return true
    } catch (thrown) {
      insert = undefined
      if ((thrown as { code?: unknown }).code === 'ERR_INVALID_STATE') return false
      throw toStoreError(thrown, "the host's database")
    }
  }

  /** Without a transaction the entry would be committed by itself. Older drivers do not report it. */
  function isInTransaction(): boolean {
    try {
      if (database.isTransaction !== false) return true
      database.prepare('SELECT 1')
      return false
    } catch {
      // The handle is closed, which the insert reports.
      return true
    }
  }

  /** Whether the host's transaction has ended or, where the handle does not report that, whether the row is gone. */
  function hasEnded(): boolean {
    try {
      return database.isTransaction === undefined
        ? database.prepare(EXISTS).get(lastRowId) === undefined
        : !database.isTransaction
    } catch {
      // The handle was closed.
      return true
    }
  }

  function poll(): void {
    timer = undefined
    const ended = hasEnded()
    // Also notifies for a host that always has a transaction open, and for a handle that does not report transactions.
    if (ended || intervalMs >= MAX_INTERVAL_MS || database.isTransaction === undefined) notify()
    if (ended) return
    intervalMs = Math.min(MAX_INTERVAL_MS, intervalMs * 2 + 1)
    schedulePoll()
  }

  function schedulePoll(): void {
    timer = setTimeout(poll, intervalMs).unref()
  }

  return {
    put(tx, entries) {
      if (tx !== database)
        throw invalidOptionError('tx', 'must be the database that was passed to sqliteStore')
      if (!isInTransaction()) throw invalidOptionError('tx', 'has no open transaction: execute BEGIN first')
      // An imminent poll is not postponed: under a steady flow of entries it would never run.
      if (!timer || intervalMs > 0) {
        clearTimeout(timer)
        intervalMs = 0
        schedulePoll()
      }
      // Twice: the host may have closed its handle and reopened it.
      for (const entry of entries)
        if (!tryInsert(entry) && !tryInsert(entry)) throw unavailableError("the host's database is closed")
    },
    stop() {
      clearTimeout(timer)
      timer = insert = undefined
    },
  }
}
