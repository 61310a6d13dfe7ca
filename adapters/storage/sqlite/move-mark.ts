import type { Move } from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import { invalidOption } from './errors.js'
import type { Place } from './place.js'
import { change, query } from './query.js'

/** What a file says of its move elsewhere. */
export interface MoveMark extends Move {
  /** False: begun, and nobody knows here whether it was carried out. */
  readonly isDone: boolean
}

/** Its row of `hookswitch_meta`. */
const NAME = 'move'

/** @param db with our tables */
export function moveMarkOf(db: SqliteHandle): MoveMark | undefined {
  const row = query<{ readonly value: string }>(db, 'select value from hookswitch_meta where name = ?').get(
    NAME,
  )
  return row && (JSON.parse(row.value) as MoveMark)
}

/** @param mark `undefined`: the file is in use as before */
export function markMove(db: SqliteHandle, mark: MoveMark | undefined): void {
  const put = change(db, 'insert or replace into hookswitch_meta (name, value) values (?, ?)')
  if (mark) put(NAME, JSON.stringify(mark))
  else change(db, 'delete from hookswitch_meta where name = ?')(NAME)
}

/**
 * Refuses a file whose contents are elsewhere, or may be: what is pending there would be sent from here too.
 *
 * @throws HookswitchError `InvalidOption`, saying where, and how to go on with the file all the same
 */
export function refuseMoved(db: SqliteHandle, place: Place): void {
  const mark = moveMarkOf(db)
  if (mark) throw wasMoved(mark, place)
}

export function wasMoved({ to, isDone }: MoveMark, { path, field }: Place) {
  const undo = `'hookswitch migrate --from ${path} --undo'`
  return isDone
    ? invalidOption(
        field,
        `was moved to ${to}: use that, or bring the file back into use with ${undo}, never both`,
      )
    : invalidOption(
        field,
        `is being moved to ${to}, and may be there: run 'hookswitch migrate' again as before, or give it up with ${undo}`,
      )
}
