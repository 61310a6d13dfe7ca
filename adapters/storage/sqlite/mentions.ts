/** Finds the calls of an account whose events mention a text. */
import { isMentioned, type Mentions } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { createDeletion } from './deletion.js'

interface EventRow {
  readonly position: number
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
export function createMentionSearch(context: EngineContext) {
  const { prepareQuery, accounts, endpoints, eventBodies } = context
  const { deliveriesOf } = createDeletion(context)
  const events =
    prepareQuery<EventRow>(`select position, account, variants, call_id as "callId" from hookswitch_event
    where position > ? order by position limit ? + 0`)
  const firstBody = prepareQuery<{ readonly body: string }>(
    'select body from hookswitch_event where position = ?',
  )
  const stagedEntries = prepareQuery<{
    readonly id: number
    readonly event: string
    readonly callId: string | null
  }>(`select id, event, call_id as "callId" from hookswitch_inbox where account_id = ? and id > ?
    order by id limit ? + 0`)

  const isDeliveredTo = (event: number, account: number) =>
    deliveriesOf(event).some(({ webhook }) => endpoints.byKey(webhook)!.account === account)

  function isInBody({ position, variants }: EventRow, text: string): boolean {
    if (isMentioned(firstBody.get(position)!.body, text)) return true
    for (let variant = 1; variant < variants; variant += 1) {
      if (isMentioned(eventBodies.variantBody(position, variant), text)) return true
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
      if (event.account !== account && !isDeliveredTo(event.position, account!)) continue
      if (event.callId !== null && isInBody(event, text)) callIds.add(event.callId)
      searched += 1
      if (searched === limit) return { callIds: [...callIds], cursor: event.position }
    }
    if (found.length === maxRead) return { callIds: [...callIds], cursor: found[found.length - 1]!.position }
    const inbox = searchInbox(accountId, text, 0, limit)
    for (const callId of inbox.callIds) callIds.add(callId)
    return { callIds: [...callIds], cursor: inbox.cursor }
  }
}
