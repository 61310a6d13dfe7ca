import type { Erasure } from 'hookswitch/store'
import type { Call } from './calls.js'
import { change, query } from './query.js'
import { removal } from './removal.js'
import type { Tools } from './tools.js'

interface PositionRow {
  readonly position: number
}

/** Calls that are looked at in one go. */
const SLICE = 50

/**
 * Call by call, each with all that hangs on it and then the call itself, so that the next batch begins with the next
 * call; then what belongs to no call.
 */
export function eraser(
  tools: Tools,
  noteErased: () => void,
): (what: Erasure, limit: number, now: number) => number {
  const { db, accounts, endpoints, calls, wake } = tools
  const { delivery: removeDelivery, attempt: removeAttempt } = removal(tools)
  const positions = (sql: string) => query<PositionRow>(db, sql)

  const ofEvents = positions(
    `select d.position from hookswitch_event e join hookswitch_delivery d on d.event = e.key
    where e.call = ? limit ? + 0`,
  )
  const ofCall = positions('select position from hookswitch_delivery where call = ? limit ? + 0')
  const ofNoCall = positions(
    `select d.position from hookswitch_event e join hookswitch_delivery d on d.event = e.key
    where e.account = ? and e.call is null limit ? + 0`,
  )
  const ofAccount = positions(
    `select d.position from hookswitch_webhook w join hookswitch_delivery d on d.webhook = w.key
    where w.account = ? limit ? + 0`,
  )
  const attemptsOfCall = positions('select position from hookswitch_attempt where call = ? limit ? + 0')
  const attemptsOfAccount = positions(
    `select a.position from hookswitch_webhook w join hookswitch_attempt a on a.webhook = w.key
    where w.account = ? limit ? + 0`,
  )
  // `delete … limit` is not built into every SQLite.
  const keysOf = (column: string) =>
    change(
      db,
      `delete from hookswitch_idempotency where (account, key) in (
        select account, key from hookswitch_idempotency where ${column} = ? limit ? + 0
      )`,
    )
  const [keysOfCall, keysOfAccount] = [keysOf('call'), keysOf('account')]
  const stagedOf = (where: string) =>
    change(
      db,
      `delete from hookswitch_inbox where id in (select id from hookswitch_inbox where ${where} limit ? + 0)`,
    )
  const [stagedOfCall, stagedOfAccount] = [
    stagedOf('account_id = ? and call_id = ?'),
    stagedOf('account_id = ?'),
  ]
  const deleted = query<{ readonly key: number }>(
    db,
    `select key from hookswitch_webhook where account = ? and deleted_ms is not null
      and not exists (select 1 from hookswitch_delivery where webhook = hookswitch_webhook.key) limit ? + 0`,
  )

  return (what, limit, now) => {
    const account = accounts.find(what.accountId)
    let left = limit
    let wasPending = false

    function some(step: (most: number) => number): void {
      if (left > 0) left -= step(left)
    }

    function deliveries(found: readonly PositionRow[]): number {
      for (const { position } of found) {
        const row = removeDelivery(position, now)!
        wasPending ||= row.delivery.endedMs === undefined
        const owner = endpoints.byKey(row.webhook)!.account
        if (row.foreignCall !== null && owner !== account) calls.removeLearned(owner, row.foreignCall)
      }
      return found.length
    }

    function attempts(found: readonly PositionRow[]): number {
      for (const { position } of found) removeAttempt(position)
      return found.length
    }

    function wholeCall(call: Call): void {
      some((most) => deliveries(ofEvents.all(call.key, most)))
      some((most) => deliveries(ofCall.all(call.key, most)))
      some((most) => attempts(attemptsOfCall.all(call.key, most)))
      some((most) => keysOfCall(call.key, most))
      some(() => {
        calls.remove(account!, call)
        return 1
      })
    }

    function wholeAccount(key: number): void {
      for (let found = calls.some(key, SLICE); left > 0 && found.length > 0; found = calls.some(key, SLICE)) {
        for (const call of found) wholeCall(call)
      }
      some((most) => deliveries(ofNoCall.all(key, most)))
      some((most) => deliveries(ofAccount.all(key, most)))
      some((most) => attempts(attemptsOfAccount.all(key, most)))
      some((most) => keysOfAccount(key, most))
      some((most) => {
        const webhooks = deleted.all(key, most)
        for (const webhook of webhooks) endpoints.remove(endpoints.byKey(webhook.key)!)
        return webhooks.length
      })
    }

    for (const callId of what.callIds ?? []) {
      const call = account === undefined ? undefined : calls.find(account, callId)
      if (call) wholeCall(call)
      some((most) => stagedOfCall(what.accountId, callId, most))
    }
    if (!what.callIds) {
      some((most) => stagedOfAccount(what.accountId, most))
      if (account !== undefined) wholeAccount(account)
    }
    if (wasPending) wake(undefined)
    if (left < limit) noteErased()
    return limit - left
  }
}
