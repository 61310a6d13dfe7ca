/**
 * Makes erased rows unrecoverable from the files.
 *
 * `secure_delete` overwrites a deleted row in place, and pages that become free. It misses copies of rows that were once
 * moved to a neighbouring page (a b-tree splits and joins pages without clearing the rest of the old one). Only a rewritten
 * file is free of them, so the file is vacuumed once after erasures: about a second for 100 MB, during which calls wait.
 * A host's file is left to the host: a vacuum would renumber rows of tables without an integer key, and needs as much disk
 * space again.
 */
import { HookswitchError } from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import { APPLICATION_ID } from './migrations.js'
import { statementsOf } from './query.js'

interface SecureVacuum {
  /** Records, in the current transaction, that rows were erased. */
  noteErased(): void
  /**
   * Must be called outside any transaction.
   *
   * @throws HookswitchError `StoreUnavailable` while another connection reads; the driver's error for a full disk
   */
  scrub(): void
}

export function createSecureVacuum(db: SqliteHandle): SecureVacuum {
  const { prepareQuery, prepareChange } = statementsOf(db)
  const setErased = prepareChange("update hookswitch_meta set value = ? where name = 'erased'")
  const getErased = prepareQuery<{ readonly value: number }>(
    "select value from hookswitch_meta where name = 'erased'",
  )
  // Pragmas are prepared when they are needed: some versions of SQLite execute them while preparing.
  const isOurFile = () => {
    const row = prepareQuery<{ readonly application_id: number }>('pragma application_id').get()
    return row?.application_id === APPLICATION_ID
  }

  function vacuum(): void {
    // The copy is as large as the file: on the disk, not in memory.
    db.exec('pragma temp_store = file')
    try {
      db.exec('vacuum')
    } finally {
      db.exec('pragma temp_store = memory')
    }
    setErased(0)
  }

  return {
    noteErased: () => void setErased(1),
    scrub() {
      if (getErased.get()?.value === 1 && isOurFile()) vacuum()
      const row = prepareQuery<{ readonly busy: number }>('pragma wal_checkpoint(truncate)').get()
      if (row?.busy === 0) return
      const sentence =
        'another connection reads the database: erased data is still in the write-ahead log, try again'
      throw new HookswitchError('StoreUnavailable', sentence, { retryAfterSeconds: 1 })
    },
  }
}
