/** Accepted events and their bodies: the first body is in the event's row, each further one in a separate row. */
import { fillIn, type NewEvent } from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import { idHashKey } from './hash-key.js'
import { prepareChange, prepareQuery } from './query.js'

/** The columns of an event that a delivery of it needs. */
export interface StoredEvent {
  readonly key: number
  readonly account: number
  /** Number of bodies. */
  readonly variants: number
}

export interface EventBodies {
  /**
   * Finds an event by its id, through the delivery that is replayed. Events have no index by id, because only replays
   * need it: if that delivery is gone or not named, all events are scanned.
   */
  find(eventId: string, replayOf: string | undefined): StoredEvent | undefined
  insert(key: number, event: NewEvent, account: number, call: number | null, sequence: number): void
  /** Reads a body other than the first. */
  variantBody(event: number, variant: number): string
  remove(key: number): void
}

export function createEventBodies(db: SqliteHandle): EventBodies {
  const ofDelivery = prepareQuery<StoredEvent>(
    db,
    `select e.key, e.account, e.variants from hookswitch_delivery d join hookswitch_event e on e.key = d.event
    where d.id_key = ? and d.id = ? and e.id = ?`,
  )
  const find = prepareQuery<StoredEvent>(
    db,
    'select key, account, variants from hookswitch_event where id = ? order by key desc limit 1',
  )
  const insert = prepareChange(
    db,
    `insert into hookswitch_event
      (key, id, account, call, call_id, hook, timestamp_ms, variants, traceparent, body)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertOther = prepareChange(db, 'insert into hookswitch_body (event, variant, body) values (?, ?, ?)')
  const other = prepareQuery<{ readonly body: string }>(
    db,
    'select body from hookswitch_body where event = ? and variant = ?',
  )
  const remove = prepareChange(db, 'delete from hookswitch_event where key = ?')
  const removeOthers = prepareChange(db, 'delete from hookswitch_body where event = ?')

  return {
    find(eventId, replayOf) {
      const found =
        replayOf === undefined ? undefined : ofDelivery.get(idHashKey(replayOf), replayOf, eventId)
      return found ?? find.get(eventId)
    },
    insert(key, event, account, call, sequence) {
      const { id, callId = null, hook, timestampMs, bodies, traceparent = null } = event
      const body = bodies[0] ? fillIn(bodies[0], sequence) : ''
      insert(key, id, account, call, callId, hook, timestampMs, bodies.length, traceparent, body)
      for (let variant = 1; variant < bodies.length; variant += 1) {
        insertOther(key, variant, fillIn(bodies[variant]!, sequence))
      }
    },
    variantBody: (event, variant) => other.get(event, variant)!.body,
    remove(key) {
      remove(key)
      removeOthers(key)
    },
  }
}
