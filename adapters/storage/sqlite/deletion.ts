/** Deletes deliveries and attempt records, with the rows that depend on them. */
import type { EngineContext } from './context.js'
import type { CachedEndpoint } from './endpoints.js'
import { invalidateDue } from './lanes.js'
import { prepareChange, prepareQuery } from './query.js'
import type { LocatedDelivery } from './rows.js'

export interface Deletion {
  /**
   * Deletes a delivery with its attempt records, and its event if this was the event's last delivery. If it was pending,
   * the next delivery of its lane becomes the head; a worker that has it in flight is fenced.
   *
   * @returns the deleted delivery; `undefined` if there is none
   */
  deleteDelivery(position: number, now: number): LocatedDelivery | undefined
  /** Deletes one attempt record. Returns false if there is none. */
  deleteAttempt(position: number): boolean
}

interface AttemptLinks {
  readonly webhook: number
  readonly before: number | null
}

export function createDeletion(context: EngineContext): Deletion {
  const { db, state, endpoints, rows, lanes, eventBodies, attemptCounts, inFlight } = context
  const readLinks = prepareQuery<AttemptLinks>(
    db,
    'select webhook, before from hookswitch_attempt where position = ?',
  )
  const removeAttempt = prepareChange(db, 'delete from hookswitch_attempt where position = ?')
  const removeDelivery = prepareChange(db, 'delete from hookswitch_delivery where position = ?')
  const anyOfEvent = prepareQuery<object>(db, 'select 1 from hookswitch_delivery where event = ? limit 1')

  function unlinkAttempt(position: number): AttemptLinks | undefined {
    const found = readLinks.get(position)
    if (!found) return undefined
    removeAttempt(position)
    attemptCounts.removed(found.webhook, 1)
    return found
  }

  function leaveQueue(row: LocatedDelivery, endpoint: CachedEndpoint, now: number): void {
    const { id, epoch, attempts } = row.delivery
    inFlight.delete(id)
    state.pending -= 1
    if (!row.isHead) return
    if (row.delivery.state === 'waiting') invalidateDue(endpoint, epoch, attempts)
    lanes.promote(row, endpoint, now)
  }

  return {
    deleteAttempt: (position) => unlinkAttempt(position) !== undefined,
    deleteDelivery(position, now) {
      const row = rows.byPosition(position)
      if (!row) return undefined
      for (let record = row.lastAttempt; record !== null; ) record = unlinkAttempt(record)?.before ?? null
      removeDelivery(position)
      if (row.delivery.endedMs === undefined) leaveQueue(row, endpoints.byKey(row.webhook)!, now)
      if (!anyOfEvent.get(row.event)) eventBodies.remove(row.event)
      return row
    },
  }
}
