import { HookswitchError } from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import { query } from './query.js'

/**
 * Moves the log into the file and cuts it: `secure_delete` has overwritten there what was erased, and the log held older
 * pages. In no transaction.
 *
 * @throws HookswitchError `StoreUnavailable` while another connection reads
 */
export function scrubber(db: SqliteHandle): () => void {
  // Prepared when it is needed: the pragma runs where it is prepared, in some versions.
  return () => {
    const row = query<{ readonly busy: number }>(db, 'pragma wal_checkpoint(truncate)').get()
    if (row?.busy === 0) return
    const sentence = 'another connection reads the database: what was erased is still in its log, try again'
    throw new HookswitchError('StoreUnavailable', sentence, { retryAfterSeconds: 1 })
  }
}
