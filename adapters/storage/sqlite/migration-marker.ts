/** The marker of a file that was or is being migrated to another store: such a file no longer opens. */
import type { StoreExport } from 'hookswitch/store'
import type { DatabasePath } from './database-path.js'
import type { SqliteHandle } from './driver.js'
import { invalidOptionError } from './errors.js'

export interface MigrationMarker extends StoreExport {
  /** False: the migration was begun, and the target may or may not have committed it. */
  readonly isDone: boolean
}

/** The name of the marker's row in `hookswitch_meta`. */
const NAME = 'move'

/** @param db with our tables */
export function readMigrationMarker(db: SqliteHandle): MigrationMarker | undefined {
  const row = db.prepare('select value from hookswitch_meta where name = ?').get(NAME)
  return row === undefined
    ? undefined
    : (JSON.parse((row as { readonly value: string }).value) as MigrationMarker)
}

/** @param marker `undefined`: removes the marker */
export function writeMigrationMarker(db: SqliteHandle, marker: MigrationMarker | undefined): void {
  if (!marker) db.prepare('delete from hookswitch_meta where name = ?').run(NAME)
  else {
    const put = db.prepare('insert or replace into hookswitch_meta (name, value) values (?, ?)')
    put.run(NAME, JSON.stringify(marker))
  }
}

/**
 * Rejects a file whose contents are, or may be, in another store: pending deliveries would be sent by both.
 *
 * @throws HookswitchError `InvalidOption`, naming the target and how to use the file again
 */
export function assertNotMigrated(db: SqliteHandle, location: DatabasePath): void {
  const marker = readMigrationMarker(db)
  if (marker) throw migratedError(marker, location)
}

export function migratedError({ to, isDone }: MigrationMarker, { path, field }: DatabasePath) {
  const undo = `'hookswitch migrate --from ${path} --undo'`
  return isDone
    ? invalidOptionError(
        field,
        `was moved to ${to}: use that store, or make the file usable again with ${undo}, never both`,
      )
    : invalidOptionError(
        field,
        `is being moved to ${to}, and its contents may be there: repeat the same 'hookswitch migrate', or undo it with ${undo}`,
      )
}
