/** Erases all data of calls or of an account, in batches of limited size. */
import type { DeliveryKey, Erasure } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { createDeletion, type DeliveryRef } from './deletion.js'
import type { PhoneCall } from './phone-calls.js'

/** Calls, events or deliveries read at a time. */
const SLICE = 50

interface EventRow {
  readonly position: number
  readonly callId: string | null
}

/**
 * Erases one call after the other: first everything that refers to the call, then the call itself, so that the next batch
 * begins with the next call. Finally erases data that belongs to no call.
 */
export function createErase(
  context: EngineContext,
  noteErased: () => void,
): (erasure: Erasure, limit: number) => number {
  const { prepareQuery, prepareChange, changes, accounts, endpoints, phoneCalls, eventBodies, notify } =
    context
  const { deleteDelivery, deliveriesOf } = createDeletion(context)
  const prepareEvents = (where: string) =>
    prepareQuery<EventRow>(
      `select position, call_id as "callId" from hookswitch_event where ${where} limit ? + 0`,
    )
  const [eventsOfCall, eventsWithoutCall] = [
    prepareEvents('call = ?'),
    prepareEvents('account = ? and call is null'),
  ]
  const allEventsOfCall = prepareQuery<EventRow>(
    'select position, call_id as "callId" from hookswitch_event where call = ?',
  )
  const deliveriesOfAccount = [
    'hookswitch_waiting d on d.webhook = w.key',
    'hookswitch_attempt d on d.webhook = w.key and d.state is not null',
    'hookswitch_attempt d on d.webhook = w.key and d.doc is not null',
  ].map((join) =>
    prepareQuery<DeliveryRef>(
      `select d.webhook, d.position from hookswitch_webhook w join ${join} where w.account = ? limit ? + 0`,
    ),
  )
  // Not every build of SQLite supports `delete … limit`.
  const prepareDeleteKeys = (column: string) =>
    prepareChange(`delete from hookswitch_idempotency where (account, key) in (
        select account, key from hookswitch_idempotency where ${column} = ? limit ? + 0
      )`)
  const [deleteKeysOfCall, deleteKeysOfAccount] = [prepareDeleteKeys('call'), prepareDeleteKeys('account')]
  const prepareDeleteStaged = (where: string) =>
    prepareChange(
      `delete from hookswitch_inbox where id in (select id from hookswitch_inbox where ${where} limit ? + 0)`,
    )
  const [deleteStagedOfCall, deleteStagedOfAccount] = [
    prepareDeleteStaged('account_id = ? and call_id = ?'),
    prepareDeleteStaged('account_id = ?'),
  ]
  const deletedWebhooks = prepareQuery<{
    readonly key: number
  }>(`select key from hookswitch_webhook where account = ? and deleted_ms is not null
      and not exists (select 1 from hookswitch_waiting where webhook = hookswitch_webhook.key)
      and not exists (select 1 from hookswitch_attempt where webhook = hookswitch_webhook.key and state is not null)
    limit ? + 0`)

  return (erasure, limit) => {
    const account = accounts.find(erasure.accountId)
    const removed: DeliveryKey[] = []
    let left = limit

    function run(step: (most: number) => number): void {
      if (left > 0) left -= step(left)
    }

    function eraseDelivery(delivery: DeliveryRef, callId: string | null): void {
      const endpoint = endpoints.byKey(delivery.webhook)!
      if (deleteDelivery(delivery).wasWaiting) {
        removed.push({ webhookId: endpoint.webhook.id, position: delivery.position })
      }
      left -= 1
      const owner = endpoint.account
      const foreign = callId === null || owner === account ? undefined : phoneCalls.find(owner, callId)
      if (foreign) phoneCalls.removeForeign(owner, foreign)
    }

    /** Erases events of the account, all of their deliveries included. */
    function eraseEvents(next: () => readonly EventRow[]): void {
      for (let events = next(); left > 0 && events.length > 0; events = next()) {
        for (const { position, callId } of events) {
          if (left <= 0) return
          const deliveries = deliveriesOf(position)
          for (const delivery of deliveries) {
            if (left <= 0) return
            eraseDelivery(delivery, callId)
          }
          if (deliveries.length === 0) left -= 1
          eventBodies.remove(position)
        }
      }
    }

    /** Erases deliveries of other accounts' events to webhooks of the account. */
    function eraseForeignDeliveries(callId: string): void {
      for (const call of phoneCalls.withId(callId)) {
        if (call.account === account) continue
        for (const { position } of allEventsOfCall.all(call.key)) {
          for (const delivery of deliveriesOf(position)) {
            if (left <= 0) return
            if (endpoints.byKey(delivery.webhook)!.account === account) eraseDelivery(delivery, null)
          }
        }
      }
    }

    function eraseCall(call: PhoneCall): void {
      eraseEvents(() => eventsOfCall.all(call.key, SLICE))
      eraseForeignDeliveries(call.callId)
      run((most) => deleteKeysOfCall(call.key, most))
      run(() => {
        phoneCalls.remove(account!, call)
        for (const other of phoneCalls.withId(call.callId)) phoneCalls.removeUnused(other.account, other)
        return 1
      })
    }

    function eraseAccount(key: number): void {
      for (
        let found = phoneCalls.list(key, SLICE);
        left > 0 && found.length > 0;
        found = phoneCalls.list(key, SLICE)
      ) {
        for (const call of found) if (left > 0) eraseCall(call)
      }
      eraseEvents(() => eventsWithoutCall.all(key, SLICE))
      for (const deliveries of deliveriesOfAccount) {
        for (
          let found = deliveries.all(key, SLICE);
          left > 0 && found.length > 0;
          found = deliveries.all(key, SLICE)
        ) {
          for (const delivery of found) if (left > 0) eraseDelivery(delivery, null)
        }
      }
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
    if (removed.length > 0) changes.add({ removed })
    if (left < limit) {
      noteErased()
      notify()
    }
    return limit - left
  }
}
