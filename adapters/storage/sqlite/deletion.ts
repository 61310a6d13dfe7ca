/** Deletes deliveries and attempt records, with the rows that depend on them. */
import { COUNTED_ATTEMPTS } from './attempt-counts.js'
import type { EngineContext } from './context.js'
import { isWhole, wholeDeliveryId } from './delivery-ids.js'
import { idHashKey } from './hash-key.js'

/** Identifies a delivery. */
export interface DeliveryRef {
  readonly webhook: number
  readonly position: number
}

interface Deletion {
  /** Deletes a delivery with its attempt records, and its event if this was the event's last delivery. */
  deleteDelivery(delivery: DeliveryRef): DeletedDelivery
  /** Deletes one attempt record, and the end of its delivery if that is in it. Returns false if there is none. */
  deleteAttempt(key: number): boolean
  /** Every delivery of an event, waiting or not. */
  deliveriesOf(event: number): readonly DeliveryRef[]
}

interface DeletedDelivery {
  readonly wasWaiting: boolean
  /** Rows of its attempts and its end. */
  readonly attempts: number
}

interface DeletedRow extends DeliveryRef {
  readonly event: number | null
  readonly id: string
}

interface DeletedAttempt extends DeletedRow {
  /** Whether its delivery ended with it. */
  readonly isEnd: number
  /** See `COUNTED_ATTEMPTS`. */
  readonly counted: number | null
}

export function createDeletion({
  prepareQuery,
  prepareChange,
  eventBodies,
  attemptCounts,
}: EngineContext): Deletion {
  const returning = 'returning webhook, position, event, id'
  const returningAttempt = `${returning}, state is not null as "isEnd", ${COUNTED_ATTEMPTS} as counted`
  const removeWaiting = prepareQuery<DeletedRow>(
    `delete from hookswitch_waiting where position = ? and webhook = ? ${returning}`,
  )
  const removeAttempts = prepareQuery<DeletedAttempt>(
    `delete from hookswitch_attempt where position = ? and webhook = ? ${returningAttempt}`,
  )
  const removeAttempt = prepareQuery<DeletedAttempt>(
    `delete from hookswitch_attempt where key = ? ${returningAttempt}`,
  )
  const ofEvent = (table: string) =>
    `select webhook, position from hookswitch_${table} where position = ?
    union select webhook, position from hookswitch_${table} where event = ?`
  const deliveriesOf = prepareQuery<DeliveryRef>(`${ofEvent('waiting')} union ${ofEvent('attempt')}`)
  const isReferenced = prepareQuery<object>(`select 1 from hookswitch_waiting where position = ? union all
    select 1 from hookswitch_attempt where position = ? union all
    select 1 from hookswitch_waiting where event = ? union all
    select 1 from hookswitch_attempt where event = ? limit 1`)
  const eventId = prepareQuery<{ readonly id: string }>('select id from hookswitch_event where position = ?')
  const removeId = prepareChange(
    'delete from hookswitch_delivery_id where id_key = ? and webhook = ? and position = ?',
  )

  function removeIdOf({ id, webhook, position, event }: DeletedRow): void {
    if (!isWhole(id)) return
    const whole = wholeDeliveryId(id, eventId.get(event ?? position)?.id ?? '')
    removeId(idHashKey(whole), webhook, position)
  }

  function uncount({ webhook, position, counted }: DeletedAttempt): void {
    if (counted !== null) attemptCounts.removed(webhook, position, counted)
  }

  function removeUnreferenced(event: number): void {
    if (!isReferenced.get(event, event, event, event)) eventBodies.remove(event)
  }

  return {
    deliveriesOf: (event) => deliveriesOf.all(event, event, event, event),
    deleteAttempt(key) {
      const row = removeAttempt.get(key)
      if (!row) return false
      uncount(row)
      if (row.isEnd) removeIdOf(row)
      removeUnreferenced(row.event ?? row.position)
      return true
    },
    deleteDelivery({ webhook, position }) {
      const waiting = removeWaiting.get(position, webhook)
      const attempts = removeAttempts.all(position, webhook)
      attempts.forEach(uncount)
      const row = waiting ?? attempts[0]
      if (row) {
        removeIdOf(row)
        removeUnreferenced(row.event ?? position)
      }
      return { wasWaiting: waiting !== undefined, attempts: attempts.length }
    },
  }
}
