import { HookswitchError } from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import { APPLICATION_ID } from './migrations.js'
import { change, query } from './query.js'

/**
 * What lets no erased row be read in the files.
 *
 * `secure_delete` overwrites a row where it stands, and pages that become free. It misses copies of rows that once moved
 * to a neighbouring page (a b-tree splits or joins its pages without clearing what is left of the old one): only a file
 * that is written anew has none. So it is, once after erasures: about a second for 100 MB, during which calls wait. In
 * a file of the host's that is the host's to do: it would renumber rows of tables without an integer key, and needs as
 * much disk again.
 */
export interface Scrub {
  /** Rows were erased, in this transaction. */
  noteErased(): void
  /**
   * In no transaction.
   *
   * @throws HookswitchError `StoreUnavailable` while another connection reads; whatever the driver throws for a full disk
   */
  scrub(): void
}

export function scrubber(db: SqliteHandle): Scrub {
  const note = change(db, "update hookswitch_meta set value = ? where name = 'erased'")
  const noted = query<{ readonly value: number }>(
    db,
    "select value from hookswitch_meta where name = 'erased'",
  )
  // Pragmas are prepared when they are needed: in some versions they run where they are prepared.
  const isOurs = () => {
    const row = query<{ readonly application_id: number }>(db, 'pragma application_id').get()
    return row?.application_id === APPLICATION_ID
  }

  function writeAnew(): void {
    // Its copy is as large as the file: on the disk, not in memory.
    db.exec('pragma temp_store = file')
    try {
      db.exec('vacuum')
    } finally {
      db.exec('pragma temp_store = memory')
    }
    note(0)
  }

  return {
    noteErased: () => void note(1),
    scrub() {
      if (noted.get()?.value === 1 && isOurs()) writeAnew()
      const row = query<{ readonly busy: number }>(db, 'pragma wal_checkpoint(truncate)').get()
      if (row?.busy === 0) return
      const sentence = 'another connection reads the database: what was erased is still in its log, try again'
      throw new HookswitchError('StoreUnavailable', sentence, { retryAfterSeconds: 1 })
    },
  }
}
