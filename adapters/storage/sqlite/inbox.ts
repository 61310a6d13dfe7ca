import { HookswitchError, type InboxEntry } from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import { change, query } from './query.js'
import type { Tools } from './tools.js'

interface InboxRow {
  readonly eventId: string
  readonly accountId: string
  readonly callId: string | null
  readonly event: string
  readonly traceparent: string | null
}

/** Entries that wait, oldest first: whoever owns the file owns all of them. */
export function stagedReader({ db, memory }: Tools): (owner: string, limit: number) => readonly InboxEntry[] {
  const read = query<InboxRow>(
    db,
    `select event_id as "eventId", account_id as "accountId", call_id as "callId", event, traceparent
    from hookswitch_inbox order by id limit ? + 0`,
  )
  return (owner, limit) => (memory.owner === owner ? read.all(limit).map(entryOf) : [])
}

function entryOf({ eventId: id, accountId, callId, event, traceparent }: InboxRow): InboxEntry {
  const entry: { -readonly [Name in keyof InboxEntry]: InboxEntry[Name] } = { id, accountId, event }
  if (callId !== null) entry.callId = callId
  if (traceparent !== null) entry.traceparent = traceparent
  return entry
}

/** Entries that an acceptance takes out of the inbox. */
export function admissions(db: SqliteHandle) {
  const find = query<object>(db, 'select 1 from hookswitch_inbox where event_id = ?')
  const remove = change(db, 'delete from hookswitch_inbox where event_id = ?')
  return {
    /** @throws HookswitchError `Conflict` (field `admits`) when one is there no more */
    refuseGone(ids: readonly string[]): void {
      for (const id of ids) {
        if (find.get(id)) continue
        const sentence = `this was admitted, or erased, before: ${id}`
        throw new HookswitchError('Conflict', sentence, { field: 'admits' })
      }
    },
    remove(ids: readonly string[]): void {
      for (const id of ids) remove(id)
    },
  }
}
