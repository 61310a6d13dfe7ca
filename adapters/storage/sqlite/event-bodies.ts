/** Accepted events and their bodies: the first body is in the event's row, each further one in a separate row. */
import { type BodyKey, fillIn, type NewEvent } from 'hookswitch/store'
import { idHashKey } from './hash-key.js'
import type { Statements } from './query.js'

/** The columns of an event that an acceptance needs. */
export interface StoredEvent {
  readonly position: number
  readonly account: number
  readonly callId: string | null
  readonly sequence: number
  /** Number of bodies; 0: no delivery refers to it. */
  readonly variants: number
}

export interface EventBodies {
  find(eventId: string): StoredEvent | undefined
  /** @param call key of its call. @param isSent false: no delivery refers to it, and its bodies are not stored */
  insert(event: NewEvent, account: number, call: number | null, sequence: number, isSent: boolean): void
  /** Reads the body of a delivery; `undefined`: it is not stored. */
  read(key: BodyKey): string | undefined
  /** Reads a body other than the first. */
  variantBody(event: number, variant: number): string
  remove(event: number): void
}

export function createEventBodies({ prepareQuery, prepareChange }: Statements): EventBodies {
  const find = prepareQuery<StoredEvent>(
    `select position, account, call_id as "callId", sequence, variants from hookswitch_event where id_key = ? and id = ?`,
  )
  const insert = prepareChange(`insert into hookswitch_event
      (position, id_key, id, account, call, call_id, sequence, hook, timestamp_ms, variants, traceparent, body)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const insertOther = prepareChange('insert into hookswitch_body (event, variant, body) values (?, ?, ?)')
  const first = prepareQuery<{ readonly body: string }>(
    'select body from hookswitch_event where position = ? and variants > 0',
  )
  const other = prepareQuery<{ readonly body: string }>(
    'select body from hookswitch_body where event = ? and variant = ?',
  )
  const remove = prepareChange('delete from hookswitch_event where position = ?')
  const removeOthers = prepareChange('delete from hookswitch_body where event = ?')

  const findEvent = (eventId: string) => find.get(idHashKey(eventId), eventId)
  return {
    find: findEvent,
    read({ eventId, variant }) {
      const event = findEvent(eventId)
      if (!event) return undefined
      const row = variant === 0 ? first.get(event.position) : other.get(event.position, variant)
      return row?.body
    },
    insert(event, account, call, sequence, isSent) {
      const { id, position = 0, callId = null, hook, timestampMs, traceparent = null } = event
      const bodies = isSent ? event.bodies : []
      const body = bodies[0] ? fillIn(bodies[0], sequence) : ''
      const [count, key] = [bodies.length, idHashKey(id)]
      insert(position, key, id, account, call, callId, sequence, hook, timestampMs, count, traceparent, body)
      for (let variant = 1; variant < count; variant += 1) {
        insertOther(position, variant, fillIn(bodies[variant]!, sequence))
      }
    },
    variantBody: (event, variant) => other.get(event, variant)!.body,
    remove(event) {
      remove(event)
      removeOthers(event)
    },
  }
}
