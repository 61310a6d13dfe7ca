import {
  type Acceptance,
  type AcceptedEvent,
  accepted as acceptedDelivery,
  HookswitchError,
  type NewDelivery,
  type NewEvent,
  notFound,
  type ReadyEndpoint,
} from 'hookswitch/store'
import type { StoredEvent } from './bodies.js'
import type { Endpoint } from './endpoints.js'
import { idempotency } from './idempotency.js'
import { admissions } from './inbox.js'
import { laneKeyOf, noteDue } from './lanes.js'
import { change, query } from './query.js'
import { storedState } from './states.js'
import { idKey } from './text-key.js'
import type { Tools } from './tools.js'

/** An event of this acceptance. Its row is written with the first delivery of it: without one nobody asks for it. */
interface Fresh {
  readonly event: NewEvent
  readonly account: number
  readonly call: number | null
  readonly sequence: number
  stored: StoredEvent | undefined
}

/** All or nothing: everything that can be refused is looked at before anything is written. */
export function acceptor(tools: Tools): (acceptance: Acceptance, now: number) => readonly AcceptedEvent[] {
  const { db, memory, accounts, endpoints, calls, bodies, lanes, stale, wake } = tools
  const keys = idempotency(db, accounts)
  const inbox = admissions(db)
  const isTaken = query<object>(db, 'select 1 from hookswitch_delivery where id_key = ? and id = ?')
  const insert = change(
    db,
    `insert into hookswitch_delivery
      (position, id_key, webhook, event, epoch, state, due_ms, attempts, tries, interruptions, fence, lane_key, variant,
      accepted_ms, call, id, encoding, http_verb, replay_of, lane)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )

  function refuseUnknown(
    news: (id: string) => NewEvent | undefined,
    deliveries: readonly NewDelivery[],
  ): void {
    for (const { id, webhookId, eventId, variant, replayOf } of deliveries) {
      const variants = news(eventId)?.bodies.length ?? bodies.find(eventId, replayOf)?.variants ?? 0
      if (variant >= variants) throw notFound(eventId)
      if (!endpoints.byId(webhookId)) throw notFound(webhookId)
      if (isTaken.get(idKey(id), id))
        throw new HookswitchError('Conflict', `this id is taken: ${id}`, { field: 'id' })
    }
  }

  function refuseAbove(added: number, maxPending: number): void {
    const { pending } = memory
    if (added === 0 || pending + added <= maxPending) return
    throw new HookswitchError('QueueFull', `the queue is full: ${pending} deliveries are pending`, {
      retryAfterSeconds: 1,
    })
  }

  /** The event's number and call. */
  function note(event: NewEvent, now: number): Fresh {
    const { accountId, callId, otherLegCallId, numbered } = event
    const account = accounts.make(accountId)
    const call = callId === undefined ? undefined : calls.note(account, callId, otherLegCallId, now, numbered)
    const sequence = call && numbered ? call.sequence : 0
    if (event.idempotency) keys.remember(event, account, call?.key ?? null, sequence)
    return { event, account, call: call?.key ?? null, sequence, stored: undefined }
  }

  function stored(fresh: Fresh): StoredEvent {
    if (fresh.stored) return fresh.stored
    const { event, account, call, sequence } = fresh
    const key = memory.nextPosition()
    bodies.insert(key, event, account, call, sequence)
    fresh.stored = { key, account, variants: event.bodies.length }
    return fresh.stored
  }

  /** The webhook's account knows the calls of its deliveries too, those of accounts below it. */
  function foreignCall(
    { callId }: NewDelivery,
    endpoint: Endpoint,
    event: StoredEvent,
    otherLegCallId: string | undefined,
    now: number,
  ): number | null {
    if (callId === undefined || event.account === endpoint.account) return null
    return calls.note(endpoint.account, callId, otherLegCallId, now, false).key
  }

  function add(
    delivery: NewDelivery,
    event: StoredEvent,
    endpoint: Endpoint,
    call: number | null,
    now: number,
  ): void {
    const laneKey = laneKeyOf(delivery.lane, delivery.id)
    const isHead = laneKey === null || lanes.isEmpty(endpoint.key, laneKey, delivery.lane)
    const row = acceptedDelivery(delivery, isHead, now)
    insert(
      memory.nextPosition(),
      idKey(row.id),
      endpoint.key,
      event.key,
      row.epoch,
      storedState(row.state, row.attempts),
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
    memory.pending += 1
    if (row.dueMs !== undefined) noteDue(endpoint, row.epoch, row.attempts, row.dueMs)
  }

  return ({ events, deliveries: offered, maxPending, admits = [] }, now) => {
    memory.storeMs = now
    inbox.refuseGone(admits)
    const duplicates = keys.duplicates(events, now)
    const deliveries =
      duplicates.size === 0 ? offered : offered.filter(({ eventId }) => !duplicates.has(eventId))
    refuseUnknown(
      finder(events, (event) => event.id),
      deliveries,
    )
    refuseAbove(deliveries.length, maxPending)

    inbox.remove(admits)
    const fresh: Fresh[] = []
    const accepted = events.map((event): AcceptedEvent => {
      if (duplicates.has(event.id)) {
        const { id, sequence } = keys.known(event)
        return { id, sequence, duplicate: true }
      }
      const noted = note(event, now)
      fresh.push(noted)
      return { id: event.id, sequence: noted.sequence, duplicate: false }
    })
    const freshOf = finder(fresh, ({ event }) => event.id)
    const before = new Map<Endpoint, number | undefined>()
    let cancelled = false
    for (const delivery of deliveries) {
      const endpoint = endpoints.byId(delivery.webhookId)!
      const one = freshOf(delivery.eventId)
      const event = one ? stored(one) : bodies.find(delivery.eventId, delivery.replayOf)!
      if (!before.has(endpoint)) before.set(endpoint, endpoints.dueMsOf(endpoint))
      const call = foreignCall(delivery, endpoint, event, one?.event.otherLegCallId, now)
      add(delivery, event, endpoint, call, now)
      if (delivery.epoch >= endpoint.webhook.epoch) continue
      stale.note(endpoint.key)
      cancelled = true
    }
    const ready = sooner(before)
    if (ready.length > 0) wake(ready)
    if (cancelled) wake(undefined)
    return accepted
  }

  /** Those that are due now, or earlier than before. */
  function sooner(before: ReadonlyMap<Endpoint, number | undefined>): ReadyEndpoint[] {
    const ready: ReadyEndpoint[] = []
    for (const [endpoint, dueMs] of before) {
      const now = endpoints.readiness(endpoint)
      if (now.dueMs !== undefined && (dueMs === undefined || now.dueMs < dueMs)) ready.push(now)
    }
    return ready
  }
}

/** Finds by id, mostly among one: a map is worth its making from a few on. */
function finder<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string,
): (id: string) => Item | undefined {
  if (items.length <= 4) return (id) => items.find((item) => idOf(item) === id)
  const byId = new Map(items.map((item) => [idOf(item), item]))
  return (id) => byId.get(id)
}
