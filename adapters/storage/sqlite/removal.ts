import type { Endpoint } from './endpoints.js'
import { noteGone } from './lanes.js'
import { change, query } from './query.js'
import type { Row } from './rows.js'
import type { Tools } from './tools.js'

/** Taking things out for good, with all that hangs on them. */
export interface Removal {
  /**
   * Removes a delivery with its attempts, and its event with the last delivery of it. Where it was pending, its lane
   * goes on, and who has it in flight is fenced.
   *
   * @returns it, as it was
   */
  delivery(position: number, now: number): Row | undefined
  /** Removes one record. False: it is gone. */
  attempt(position: number): boolean
}

interface Record {
  readonly webhook: number
  readonly before: number | null
}

export function removal(tools: Tools): Removal {
  const { db, memory, endpoints, rows, lanes, bodies, kept, inFlight } = tools
  const record = query<Record>(db, 'select webhook, before from hookswitch_attempt where position = ?')
  const removeAttempt = change(db, 'delete from hookswitch_attempt where position = ?')
  const remove = change(db, 'delete from hookswitch_delivery where position = ?')
  const anyOf = query<object>(db, 'select 1 from hookswitch_delivery where event = ? limit 1')

  function attempt(position: number): Record | undefined {
    const found = record.get(position)
    if (!found) return undefined
    removeAttempt(position)
    kept.removed(found.webhook, 1)
    return found
  }

  function leaveQueue(row: Row, endpoint: Endpoint, now: number): void {
    const { id, state, epoch, attempts } = row.delivery
    inFlight.delete(id)
    memory.pending -= 1
    if (!row.isHead) return
    if (state === 'waiting') noteGone(endpoint, epoch, attempts)
    lanes.promote(row, endpoint, now)
  }

  return {
    attempt: (position) => attempt(position) !== undefined,
    delivery(position, now) {
      const row = rows.at(position)
      if (!row) return undefined
      for (let at = row.lastAttempt; at !== null; ) at = attempt(at)?.before ?? null
      remove(position)
      if (row.delivery.endedMs === undefined) leaveQueue(row, endpoints.byKey(row.webhook)!, now)
      if (!anyOf.get(row.event)) bodies.remove(row.event)
      return row
    },
  }
}
