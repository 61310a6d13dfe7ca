/** Accepts events and their deliveries: the SQL of `DeliveryStore.accept`. */
import {
  type Acceptance,
  type AcceptedEvent,
  applyAcceptance,
  HookswitchError,
  type NewDelivery,
  type NewEvent,
  notFound,
  type ReadyEndpoint,
} from 'hookswitch/store'
import type { EngineContext } from './context.js'
import type { CachedEndpoint } from './endpoints.js'
import type { StoredEvent } from './event-bodies.js'
import { idHashKey } from './hash-key.js'
import { createIdempotency } from './idempotency.js'
import { createInboxConsumer } from './inbox.js'
import { laneKeyOf, noteDueHead } from './lanes.js'
import { prepareChange, prepareQuery } from './query.js'
import { stateCode } from './state-codes.js'

/** A new event of this acceptance. Its row is inserted with its first delivery: without one it is never read. */
interface PendingEvent {
  readonly event: NewEvent
  readonly account: number
  readonly call: number | null
  readonly sequence: number
  /** Set once the row is inserted. */
  stored: StoredEvent | undefined
}

/** All or nothing: everything that can be refused is checked before the first write. */
export function createAccept(
  context: EngineContext,
): (acceptance: Acceptance, now: number) => readonly AcceptedEvent[] {
  const { db, state, accounts, endpoints, phoneCalls, eventBodies, lanes, stale, notify } = context
  const idempotency = createIdempotency(db, accounts)
  const inbox = createInboxConsumer(db)
  const isTaken = prepareQuery<object>(db, 'select 1 from hookswitch_delivery where id_key = ? and id = ?')
  const insert = prepareChange(
    db,
    `insert into hookswitch_delivery
      (position, id_key, webhook, event, epoch, state, due_ms, attempts, tries, interruptions, fence, lane_key, variant,
      accepted_ms, call, id, encoding, http_verb, replay_of, lane)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )

  function assertReferences(
    newEventOf: (id: string) => NewEvent | undefined,
    deliveries: readonly NewDelivery[],
  ): void {
    for (const { id, webhookId, eventId, variant, replayOf } of deliveries) {
      const variants =
        newEventOf(eventId)?.bodies.length ?? eventBodies.find(eventId, replayOf)?.variants ?? 0
      if (variant >= variants) throw notFound(eventId, 'event')
      if (!endpoints.byId(webhookId)) throw notFound(webhookId, 'webhook')
      if (isTaken.get(idHashKey(id), id))
        throw new HookswitchError('Conflict', `this id is taken: ${id}`, { field: 'id' })
    }
  }

  function assertCapacity(added: number, maxPending: number): void {
    const { pending } = state
    if (added === 0 || pending + added <= maxPending) return
    throw new HookswitchError('QueueFull', `the queue is full: ${pending} deliveries are pending`, {
      retryAfterSeconds: 1,
    })
  }

  /** Records the event's call and idempotency key, and assigns its sequence number. */
  function registerEvent(event: NewEvent, now: number): PendingEvent {
    const { accountId, callId, otherLegCallId, numbered } = event
    const account = accounts.findOrCreate(accountId)
    const call =
      callId === undefined
        ? undefined
        : phoneCalls.recordEvent(account, callId, otherLegCallId, now, numbered)
    const sequence = call && numbered ? call.sequence : 0
    if (event.idempotency) idempotency.store(event, account, call?.key ?? null, sequence)
    return { event, account, call: call?.key ?? null, sequence, stored: undefined }
  }

  function storeEvent(pending: PendingEvent): StoredEvent {
    if (pending.stored) return pending.stored
    const { event, account, call, sequence } = pending
    const key = state.nextPosition()
    eventBodies.insert(key, event, account, call, sequence)
    pending.stored = { key, account, variants: event.bodies.length }
    return pending.stored
  }

  /** Records the call for the webhook's account as well, if the event belongs to a descendant account. */
  function recordForeignCall(
    { callId }: NewDelivery,
    endpoint: CachedEndpoint,
    event: StoredEvent,
    otherLegCallId: string | undefined,
    now: number,
  ): number | null {
    if (callId === undefined || event.account === endpoint.account) return null
    return phoneCalls.recordEvent(endpoint.account, callId, otherLegCallId, now, false).key
  }

  function insertDelivery(
    delivery: NewDelivery,
    event: StoredEvent,
    endpoint: CachedEndpoint,
    call: number | null,
    now: number,
  ): void {
    const laneKey = laneKeyOf(delivery.lane, delivery.id)
    const isHead = laneKey === null || lanes.isEmpty(endpoint.key, laneKey, delivery.lane)
    const row = applyAcceptance(delivery, isHead, now)
    insert(
      state.nextPosition(),
      idHashKey(row.id),
      endpoint.key,
      event.key,
      row.epoch,
      stateCode(row.state, row.attempts),
      row.dueMs ?? null,
      row.attempts,
      row.tries,
      row.interruptions,
      row.fence,
      laneKey,
      row.variant,
      row.acceptedMs,
      call,
      row.id,
      row.encoding,
      row.httpVerb,
      row.replayOf ?? null,
      laneKey === null ? null : row.lane,
    )
    state.pending += 1
    if (row.dueMs !== undefined) noteDueHead(endpoint, row.epoch, row.attempts, row.dueMs)
  }

  return ({ events, deliveries: requested, maxPending, inboxIds = [] }, now) => {
    state.noteTime(now)
    inbox.assertPresent(inboxIds)
    const duplicates = idempotency.duplicates(events, now)
    const deliveries =
      duplicates.size === 0 ? requested : requested.filter(({ eventId }) => !duplicates.has(eventId))
    assertReferences(
      createFinder(events, (event) => event.id),
      deliveries,
    )
    assertCapacity(deliveries.length, maxPending)

    inbox.remove(inboxIds)
    const pendingEvents: PendingEvent[] = []
    const accepted = events.map((event): AcceptedEvent => {
      if (duplicates.has(event.id)) {
        const { id, sequence } = idempotency.originalOf(event)
        return { id, sequence, duplicate: true }
      }
      const registered = registerEvent(event, now)
      pendingEvents.push(registered)
      return { id: event.id, sequence: registered.sequence, duplicate: false }
    })
    const pendingEventOf = createFinder(pendingEvents, ({ event }) => event.id)
    const dueBefore = new Map<CachedEndpoint, number | undefined>()
    let hasStale = false
    for (const delivery of deliveries) {
      const endpoint = endpoints.byId(delivery.webhookId)!
      const pendingEvent = pendingEventOf(delivery.eventId)
      const event = pendingEvent
        ? storeEvent(pendingEvent)
        : eventBodies.find(delivery.eventId, delivery.replayOf)!
      if (!dueBefore.has(endpoint)) dueBefore.set(endpoint, endpoints.dueMsOf(endpoint))
      const call = recordForeignCall(delivery, endpoint, event, pendingEvent?.event.otherLegCallId, now)
      insertDelivery(delivery, event, endpoint, call, now)
      if (delivery.epoch >= endpoint.webhook.epoch) continue
      stale.add(endpoint.key)
      hasStale = true
    }
    const ready = findNewlyReady(dueBefore)
    if (ready.length > 0) notify(ready)
    if (hasStale) notify(undefined)
    return accepted
  }

  /** Endpoints that have become due, or are due earlier than before. */
  function findNewlyReady(dueBefore: ReadonlyMap<CachedEndpoint, number | undefined>): ReadyEndpoint[] {
    const ready: ReadyEndpoint[] = []
    for (const [endpoint, dueMs] of dueBefore) {
      const readiness = endpoints.readiness(endpoint)
      if (readiness.dueMs !== undefined && (dueMs === undefined || readiness.dueMs < dueMs))
        ready.push(readiness)
    }
    return ready
  }
}

/** Finds items by id. There is usually one: a map pays off only from a few items on. */
function createFinder<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string,
): (id: string) => Item | undefined {
  if (items.length <= 4) return (id) => items.find((item) => idOf(item) === id)
  const byId = new Map(items.map((item) => [idOf(item), item]))
  return (id) => byId.get(id)
}
