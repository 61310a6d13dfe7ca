/** The inbox of events that the host staged in its own transactions: read by the relay, removed by `accept.ts`. */
import type { InboxEntry } from 'hookswitch/store'
import type { EngineContext } from './context.js'

interface InboxRow {
  readonly eventId: string
  readonly accountId: string
  readonly callId: string | null
  readonly event: string
  readonly traceparent: string | null
}

/** Staged entries, oldest first. The owner of the file owns all of them. */
export function createStagedQuery({
  prepareQuery,
  state,
}: EngineContext): (owner: string, limit: number) => readonly InboxEntry[] {
  const read =
    prepareQuery<InboxRow>(`select event_id as "eventId", account_id as "accountId", call_id as "callId", event, traceparent
    from hookswitch_inbox order by id limit ? + 0`)
  return (owner, limit) => (state.owner === owner ? read.all(limit).map(entryOf) : [])
}

function entryOf({ eventId: id, accountId, callId, event, traceparent }: InboxRow): InboxEntry {
  const entry: { -readonly [Name in keyof InboxEntry]: InboxEntry[Name] } = { id, accountId, event }
  if (callId !== null) entry.callId = callId
  if (traceparent !== null) entry.traceparent = traceparent
  return entry
}
