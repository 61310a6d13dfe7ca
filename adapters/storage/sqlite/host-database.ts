import { driverOf, type SqliteHandle } from './driver.js'
import { invalidOption } from './errors.js'
import type { Opening } from './open.js'
import { WAIT_MS, waitFor } from './pragmas.js'

/**
 * Where the host's database is, for a connection of ours.
 *
 * Two connections write to it from now on, and without a busy timeout, SQLite's default, a statement of the host would
 * fail whenever it comes while we write: a handle that has none gets one.
 *
 * @throws HookswitchError `InvalidOption` for a database without a file, and for a closed one
 */
export function openingOf(database: SqliteHandle): Opening {
  const path = fileOf(database)
  if (!path) {
    const sentence = 'must be a file: what is in memory or temporary has nobody to share it with'
    throw invalidOption('database', sentence)
  }
  const { timeout } = database.prepare('PRAGMA busy_timeout').get() as { timeout: number }
  if (timeout === 0) waitFor(database, WAIT_MS)
  return { path, field: 'database', driver: driverOf(database)! }
}

function fileOf(database: SqliteHandle): string | null | undefined {
  try {
    // The first is `main`.
    const [main] = database.prepare('PRAGMA database_list').all() as { readonly file: string | null }[]
    return main?.file
  } catch (thrown) {
    throw invalidOption('database', 'must be open', thrown)
  }
}
