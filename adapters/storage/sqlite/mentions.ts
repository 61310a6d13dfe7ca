import { isMentioned, type Mentions } from 'hookswitch/store'
import { query } from './query.js'
import type { Tools } from './tools.js'

interface EventRow {
  readonly key: number
  readonly account: number
  readonly variants: number
  readonly callId: string | null
}

/** Events of others that are passed over in one call, for each that may be looked at. */
const PASSED = 10

/**
 * Looks through the events in the order in which they came; then through the inbox, whose cursor is below zero. No index
 * leads to the events of an account alone: the search is rare, and the index would be written with every event.
 */
export function mentionFinder({ db, accounts, bodies }: Tools) {
  const events = query<EventRow>(
    db,
    'select key, account, variants, call_id as "callId" from hookswitch_event where key > ? order by key limit ? + 0',
  )
  const goesTo = query<object>(
    db,
    `select 1 from hookswitch_delivery d join hookswitch_webhook w on w.key = d.webhook
    where d.event = ? and w.account = ? limit 1`,
  )
  const first = query<{ readonly body: string }>(db, 'select body from hookswitch_event where key = ?')
  const staged = query<{ readonly id: number; readonly event: string; readonly callId: string | null }>(
    db,
    `select id, event, call_id as "callId" from hookswitch_inbox where account_id = ? and id > ?
    order by id limit ? + 0`,
  )

  function isInBody({ key, variants }: EventRow, text: string): boolean {
    if (isMentioned(first.get(key)!.body, text)) return true
    for (let variant = 1; variant < variants; variant += 1) {
      if (isMentioned(bodies.other(key, variant), text)) return true
    }
    return false
  }

  function inInbox(accountId: string, text: string, after: number, limit: number): Mentions {
    const callIds = new Set<string>()
    const found = staged.all(accountId, after, limit)
    for (const { event, callId } of found) {
      if (callId !== null && isMentioned(event, text)) callIds.add(callId)
    }
    const last = found[found.length - 1]
    return { callIds: [...callIds], cursor: last && found.length === limit ? -last.id : undefined }
  }

  return (accountId: string, text: string, cursor: number | undefined, limit: number): Mentions => {
    if (cursor !== undefined && cursor < 0) return inInbox(accountId, text, -cursor, limit)
    const account = accounts.find(accountId)
    const callIds = new Set<string>()
    const passed = limit * PASSED
    const found = account === undefined ? [] : events.all(cursor ?? 0, passed)
    let looked = 0
    for (const event of found) {
      const isOurs = event.account === account || goesTo.get(event.key, account!) !== undefined
      if (!isOurs) continue
      if (event.callId !== null && isInBody(event, text)) callIds.add(event.callId)
      looked += 1
      if (looked === limit) return { callIds: [...callIds], cursor: event.key }
    }
    if (found.length === passed) return { callIds: [...callIds], cursor: found[found.length - 1]!.key }
    const rest = inInbox(accountId, text, 0, limit)
    for (const callId of rest.callIds) callIds.add(callId)
    return { callIds: [...callIds], cursor: rest.cursor }
  }
}
