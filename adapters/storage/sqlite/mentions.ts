/** Finds the calls of an account whose events mention a text. */
import { isMentioned, type Mentions } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { prepareQuery } from './query.js'

interface EventRow {
  readonly key: number
  readonly account: number
  readonly variants: number
  readonly callId: string | null
}

/** Events read per call, for each event of the account that may be searched. */
const READ_FACTOR = 10

/**
 * Searches bodies for a text (such as a phone number to be erased), in the events in order of acceptance and then in the
 * inbox, whose cursors are negative. Events have no index by account: the search is rare, and the index would be written
 * with every event.
 */
export function createMentionSearch({ db, accounts, eventBodies }: EngineContext) {
  const events = prepareQuery<EventRow>(
    db,
    'select key, account, variants, call_id as "callId" from hookswitch_event where key > ? order by key limit ? + 0',
  )
  const isDeliveredTo = prepareQuery<object>(
    db,
    `select 1 from hookswitch_delivery d join hookswitch_webhook w on w.key = d.webhook
    where d.event = ? and w.account = ? limit 1`,
  )
  const firstBody = prepareQuery<{ readonly body: string }>(
    db,
    'select body from hookswitch_event where key = ?',
  )
  const stagedEntries = prepareQuery<{
    readonly id: number
    readonly event: string
    readonly callId: string | null
  }>(
    db,
    `select id, event, call_id as "callId" from hookswitch_inbox where account_id = ? and id > ?
    order by id limit ? + 0`,
  )

  function isInBody({ key, variants }: EventRow, text: string): boolean {
    if (isMentioned(firstBody.get(key)!.body, text)) return true
    for (let variant = 1; variant < variants; variant += 1) {
      if (isMentioned(eventBodies.variantBody(key, variant), text)) return true
    }
    return false
  }

  function searchInbox(accountId: string, text: string, after: number, limit: number): Mentions {
    const callIds = new Set<string>()
    const found = stagedEntries.all(accountId, after, limit)
    for (const { event, callId } of found) {
      if (callId !== null && isMentioned(event, text)) callIds.add(callId)
    }
    const last = found[found.length - 1]
    return { callIds: [...callIds], cursor: last && found.length === limit ? -last.id : undefined }
  }

  return (accountId: string, text: string, cursor: number | undefined, limit: number): Mentions => {
    if (cursor !== undefined && cursor < 0) return searchInbox(accountId, text, -cursor, limit)
    const account = accounts.find(accountId)
    const callIds = new Set<string>()
    const maxRead = limit * READ_FACTOR
    const found = account === undefined ? [] : events.all(cursor ?? 0, maxRead)
    let searched = 0
    for (const event of found) {
      const isOfAccount = event.account === account || isDeliveredTo.get(event.key, account!) !== undefined
      if (!isOfAccount) continue
      if (event.callId !== null && isInBody(event, text)) callIds.add(event.callId)
      searched += 1
      if (searched === limit) return { callIds: [...callIds], cursor: event.key }
    }
    if (found.length === maxRead) return { callIds: [...callIds], cursor: found[found.length - 1]!.key }
    const inbox = searchInbox(accountId, text, 0, limit)
    for (const callId of inbox.callIds) callIds.add(callId)
    return { callIds: [...callIds], cursor: inbox.cursor }
  }
}
