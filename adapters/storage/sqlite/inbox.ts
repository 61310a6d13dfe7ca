/** The inbox of events that the host staged in its own transactions: read by the relay, consumed by `accept`. */
import { HookswitchError, type InboxEntry } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import type { SqliteHandle } from './driver.js'
import { prepareChange, prepareQuery } from './query.js'

interface InboxRow {
  readonly eventId: string
  readonly accountId: string
  readonly callId: string | null
  readonly event: string
  readonly traceparent: string | null
}

/** Staged entries, oldest first. The owner of the file owns all of them. */
export function createStagedQuery({
  db,
  state,
}: EngineContext): (owner: string, limit: number) => readonly InboxEntry[] {
  const read = prepareQuery<InboxRow>(
    db,
    `select event_id as "eventId", account_id as "accountId", call_id as "callId", event, traceparent
    from hookswitch_inbox order by id limit ? + 0`,
  )
  return (owner, limit) => (state.owner === owner ? read.all(limit).map(entryOf) : [])
}

function entryOf({ eventId: id, accountId, callId, event, traceparent }: InboxRow): InboxEntry {
  const entry: { -readonly [Name in keyof InboxEntry]: InboxEntry[Name] } = { id, accountId, event }
  if (callId !== null) entry.callId = callId
  if (traceparent !== null) entry.traceparent = traceparent
  return entry
}

/** Removes the entries that an acceptance relays. */
export function createInboxConsumer(db: SqliteHandle) {
  const find = prepareQuery<object>(db, 'select 1 from hookswitch_inbox where event_id = ?')
  const remove = prepareChange(db, 'delete from hookswitch_inbox where event_id = ?')
  return {
    /** @throws HookswitchError `Conflict` (field `inboxIds`) when an entry no longer exists */
    assertPresent(ids: readonly string[]): void {
      for (const id of ids) {
        if (find.get(id)) continue
        const sentence = `this inbox entry was relayed or erased before: ${id}`
        throw new HookswitchError('Conflict', sentence, { field: 'inboxIds' })
      }
    },
    remove(ids: readonly string[]): void {
      for (const id of ids) remove(id)
    },
  }
}
