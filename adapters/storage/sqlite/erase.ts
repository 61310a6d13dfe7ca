/** Erases all data of calls or of an account, in batches of limited size. */
import type { Erasure } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { createDeletion } from './deletion.js'
import type { PhoneCall } from './phone-calls.js'
import { prepareChange, prepareQuery } from './query.js'

interface PositionRow {
  readonly position: number
}

/** Calls read at a time. */
const SLICE = 50

/**
 * Erases one call after the other: first everything that refers to the call, then the call itself, so that the next batch
 * begins with the next call. Finally erases data that belongs to no call.
 */
export function createErase(
  context: EngineContext,
  noteErased: () => void,
): (erasure: Erasure, limit: number, now: number) => number {
  const { db, accounts, endpoints, phoneCalls, notify } = context
  const { deleteDelivery, deleteAttempt } = createDeletion(context)
  const preparePositions = (sql: string) => prepareQuery<PositionRow>(db, sql)

  const deliveriesOfEvents = preparePositions(
    `select d.position from hookswitch_event e join hookswitch_delivery d on d.event = e.key
    where e.call = ? limit ? + 0`,
  )
  const deliveriesOfCall = preparePositions(
    'select position from hookswitch_delivery where call = ? limit ? + 0',
  )
  const deliveriesWithoutCall = preparePositions(
    `select d.position from hookswitch_event e join hookswitch_delivery d on d.event = e.key
    where e.account = ? and e.call is null limit ? + 0`,
  )
  const deliveriesOfAccount = preparePositions(
    `select d.position from hookswitch_webhook w join hookswitch_delivery d on d.webhook = w.key
    where w.account = ? limit ? + 0`,
  )
  const attemptsOfCall = preparePositions(
    'select position from hookswitch_attempt where call = ? limit ? + 0',
  )
  const attemptsOfAccount = preparePositions(
    `select a.position from hookswitch_webhook w join hookswitch_attempt a on a.webhook = w.key
    where w.account = ? limit ? + 0`,
  )
  // Not every build of SQLite supports `delete … limit`.
  const prepareDeleteKeys = (column: string) =>
    prepareChange(
      db,
      `delete from hookswitch_idempotency where (account, key) in (
        select account, key from hookswitch_idempotency where ${column} = ? limit ? + 0
      )`,
    )
  const [deleteKeysOfCall, deleteKeysOfAccount] = [prepareDeleteKeys('call'), prepareDeleteKeys('account')]
  const prepareDeleteStaged = (where: string) =>
    prepareChange(
      db,
      `delete from hookswitch_inbox where id in (select id from hookswitch_inbox where ${where} limit ? + 0)`,
    )
  const [deleteStagedOfCall, deleteStagedOfAccount] = [
    prepareDeleteStaged('account_id = ? and call_id = ?'),
    prepareDeleteStaged('account_id = ?'),
  ]
  const deletedWebhooks = prepareQuery<{ readonly key: number }>(
    db,
    `select key from hookswitch_webhook where account = ? and deleted_ms is not null
      and not exists (select 1 from hookswitch_delivery where webhook = hookswitch_webhook.key) limit ? + 0`,
  )

  return (erasure, limit, now) => {
    const account = accounts.find(erasure.accountId)
    let left = limit
    let wasPending = false

    function run(step: (most: number) => number): void {
      if (left > 0) left -= step(left)
    }

    function eraseDeliveries(found: readonly PositionRow[]): number {
      for (const { position } of found) {
        const row = deleteDelivery(position, now)!
        wasPending ||= row.delivery.endedMs === undefined
        const owner = endpoints.byKey(row.webhook)!.account
        if (row.foreignCall !== null && owner !== account) phoneCalls.removeForeign(owner, row.foreignCall)
      }
      return found.length
    }

    function eraseAttempts(found: readonly PositionRow[]): number {
      for (const { position } of found) deleteAttempt(position)
      return found.length
    }

    function eraseCall(call: PhoneCall): void {
      run((most) => eraseDeliveries(deliveriesOfEvents.all(call.key, most)))
      run((most) => eraseDeliveries(deliveriesOfCall.all(call.key, most)))
      run((most) => eraseAttempts(attemptsOfCall.all(call.key, most)))
      run((most) => deleteKeysOfCall(call.key, most))
      run(() => {
        phoneCalls.remove(account!, call)
        return 1
      })
    }

    function eraseAccount(key: number): void {
      for (
        let found = phoneCalls.list(key, SLICE);
        left > 0 && found.length > 0;
        found = phoneCalls.list(key, SLICE)
      ) {
        for (const call of found) eraseCall(call)
      }
      run((most) => eraseDeliveries(deliveriesWithoutCall.all(key, most)))
      run((most) => eraseDeliveries(deliveriesOfAccount.all(key, most)))
      run((most) => eraseAttempts(attemptsOfAccount.all(key, most)))
      run((most) => deleteKeysOfAccount(key, most))
      run((most) => {
        const webhooks = deletedWebhooks.all(key, most)
        for (const webhook of webhooks) endpoints.remove(endpoints.byKey(webhook.key)!)
        return webhooks.length
      })
    }

    for (const callId of erasure.callIds ?? []) {
      const call = account === undefined ? undefined : phoneCalls.find(account, callId)
      if (call) eraseCall(call)
      run((most) => deleteStagedOfCall(erasure.accountId, callId, most))
    }
    if (!erasure.callIds) {
      run((most) => deleteStagedOfAccount(erasure.accountId, most))
      if (account !== undefined) eraseAccount(account)
    }
    if (wasPending) notify(undefined)
    if (left < limit) noteErased()
    return limit - left
  }
}
