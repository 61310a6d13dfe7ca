import { fillIn, type NewEvent } from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import { change, query } from './query.js'
import { idKey } from './text-key.js'

/** An accepted event, as what refers to it needs it. */
export interface StoredEvent {
  readonly key: number
  readonly account: number
  /** How many bodies it has. */
  readonly variants: number
}

/** Events and their bodies: the first in the event's row, the others each in a row of its own. */
export interface Bodies {
  /**
   * By its id: through the delivery that is repeated. No index leads to an event by its id, since only this asks for it:
   * where that delivery is gone, or not named, all events are looked through.
   */
  find(eventId: string, replayOf: string | undefined): StoredEvent | undefined
  insert(key: number, event: NewEvent, account: number, call: number | null, sequence: number): void
  /** A body that is not the first. */
  other(event: number, variant: number): string
  remove(key: number): void
}

export function bodies(db: SqliteHandle): Bodies {
  const ofDelivery = query<StoredEvent>(
    db,
    `select e.key, e.account, e.variants from hookswitch_delivery d join hookswitch_event e on e.key = d.event
    where d.id_key = ? and d.id = ? and e.id = ?`,
  )
  const find = query<StoredEvent>(
    db,
    'select key, account, variants from hookswitch_event where id = ? order by key desc limit 1',
  )
  const insert = change(
    db,
    `insert into hookswitch_event
      (key, id, account, call, call_id, hook, timestamp_ms, variants, traceparent, body)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertOther = change(db, 'insert into hookswitch_body (event, variant, body) values (?, ?, ?)')
  const other = query<{ readonly body: string }>(
    db,
    'select body from hookswitch_body where event = ? and variant = ?',
  )
  const remove = change(db, 'delete from hookswitch_event where key = ?')
  const removeOthers = change(db, 'delete from hookswitch_body where event = ?')

  return {
    find(eventId, replayOf) {
      const found = replayOf === undefined ? undefined : ofDelivery.get(idKey(replayOf), replayOf, eventId)
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
    other: (event, variant) => other.get(event, variant)!.body,
    remove(key) {
      remove(key)
      removeOthers(key)
    },
  }
}
