import { fillIn } from '../../delivery/bodies.js'
import type {
  Acceptance,
  AcceptedEvent,
  NewDelivery,
  NewEvent,
  ReadyEndpoint,
} from '../../delivery/delivery-store.js'
import { HookswitchError, notFound } from '../../errors.js'
import { accepted as acceptedDelivery } from '../transitions.js'
import { noteLegs } from './calls.js'
import { dueMsOf, enterLane, readiness, startWaiting } from './lanes.js'
import { append } from './position-log.js'
import {
  type Call,
  type Endpoint,
  type IdempotencyKey,
  inner,
  nextPosition,
  type Row,
  type State,
  type StoredEvent,
} from './state.js'
import { wake } from './wake.js'

/** All or nothing: everything that can be refused is looked at before anything is written. */
export function accept(state: State, acceptance: Acceptance, now: number): readonly AcceptedEvent[] {
  const news = finder(acceptance.events)
  const duplicates = duplicatesAmong(state, acceptance.events, now)
  const deliveries =
    duplicates.size === 0
      ? acceptance.deliveries
      : acceptance.deliveries.filter((delivery) => !duplicates.has(delivery.eventId))
  refuseUnknown(state, news, deliveries)
  refuseAbove(state, deliveries.length, acceptance.maxPending)

  const stored: StoredEvent[] = []
  const accepted = acceptance.events.map((event): AcceptedEvent => {
    const key = duplicates.has(event.id) && state.keys.get(event.accountId)?.get(event.idempotency!.key)
    if (key) return { id: key.id, sequence: key.sequence, duplicate: true }
    const sequence = numberOf(state, event, now)
    stored.push({
      id: event.id,
      bodies: event.bodies.map((body) => fillIn(body, sequence)),
      traceparent: event.traceparent,
    })
    if (event.idempotency) remember(state, event, sequence)
    return { id: event.id, sequence, duplicate: false }
  })
  const events = finder(stored)
  const woken = new Map<Endpoint, number | undefined>()
  let cancelled = false
  for (const delivery of deliveries) {
    const call = callOf(state, delivery, news(delivery.eventId), now)
    const event = events(delivery.eventId) ?? repeated(state, delivery)!
    const { endpoint } = add(state, delivery, event, call, now, woken)
    cancelled ||= delivery.epoch < endpoint.webhook.epoch
  }
  wake(state, sooner(woken))
  if (cancelled) wake(state, undefined)
  return accepted
}

/** Finds by id, mostly among one: a map is worth its making from a few on. */
function finder<Item extends { readonly id: string }>(
  items: readonly Item[],
): (id: string) => Item | undefined {
  if (items.length <= 4) return (id) => items.find((item) => item.id === id)
  const byId = new Map(items.map((item) => [item.id, item]))
  return (id) => byId.get(id)
}

const NONE: ReadonlySet<string> = new Set()

/** Ids of the events whose key is known, or came earlier in this very acceptance. */
function duplicatesAmong(state: State, events: readonly NewEvent[], now: number): ReadonlySet<string> {
  if (!events.some(({ idempotency }) => idempotency)) return NONE
  const duplicates = new Set<string>()
  const inThis = new Map<string, string>()
  for (const { id, accountId, idempotency } of events) {
    if (!idempotency) continue
    const stored = state.keys.get(accountId)?.get(idempotency.key)
    const name = JSON.stringify([accountId, idempotency.key])
    const known = stored && now < stored.untilMs ? stored.bodyHash : inThis.get(name)
    if (known === undefined) inThis.set(name, idempotency.bodyHash)
    else if (known === idempotency.bodyHash) duplicates.add(id)
    else {
      throw new HookswitchError('Conflict', 'this idempotency key was used for another event', {
        field: 'idempotencyKey',
      })
    }
  }
  return duplicates
}

function refuseUnknown(
  state: State,
  news: (id: string) => NewEvent | undefined,
  deliveries: readonly NewDelivery[],
): void {
  for (const delivery of deliveries) {
    const { id, webhookId, eventId, variant } = delivery
    const { bodies = [] } = news(eventId) ?? repeated(state, delivery) ?? {}
    if (variant >= bodies.length) throw notFound(eventId)
    if (!state.endpoints.has(webhookId)) throw notFound(webhookId)
    if (state.rows.has(id)) throw new HookswitchError('Conflict', `this id is taken: ${id}`, { field: 'id' })
  }
}

function refuseAbove(state: State, added: number, maxPending: number): void {
  if (added === 0 || state.pending + added <= maxPending) return
  throw new HookswitchError('QueueFull', `the queue is full: ${state.pending} deliveries are pending`, {
    retryAfterSeconds: 1,
  })
}

function numberOf(state: State, event: NewEvent, now: number): number {
  if (event.callId === undefined) return 0
  const call = noteLegs(state, event.accountId, event.callId, event.otherLegCallId, now)
  if (!event.numbered) return 0
  call.sequence += 1
  return call.sequence
}

function remember(state: State, event: NewEvent, sequence: number): void {
  const { key, bodyHash, untilMs } = event.idempotency!
  const entry: IdempotencyKey = { id: event.id, sequence, bodyHash, untilMs, callId: event.callId }
  inner(state.keys, event.accountId).set(key, entry)
  append(state.keyQueue, nextPosition(state), { accountId: event.accountId, key, untilMs })
}

/** The event of the delivery that this one repeats. */
function repeated(state: State, { replayOf, eventId }: NewDelivery): StoredEvent | undefined {
  const event = replayOf === undefined ? undefined : state.rows.get(replayOf)?.event
  return event?.id === eventId ? event : undefined
}

/** The webhook's account knows the calls of its deliveries too, those of accounts below it. */
function callOf(
  state: State,
  { accountId, callId }: NewDelivery,
  event: NewEvent | undefined,
  now: number,
): Call | undefined {
  if (callId === undefined) return undefined
  const known = event?.accountId === accountId ? state.calls.get(accountId)?.get(callId) : undefined
  return known ?? noteLegs(state, accountId, callId, event?.otherLegCallId, now)
}

function add(
  state: State,
  delivery: NewDelivery,
  event: StoredEvent,
  call: Call | undefined,
  now: number,
  woken: Map<Endpoint, number | undefined>,
): Row {
  const endpoint = state.endpoints.get(delivery.webhookId)!
  if (!woken.has(endpoint)) woken.set(endpoint, dueMsOf(endpoint))
  const row: Row = {
    delivery: delivery as Row['delivery'],
    event,
    endpoint,
    call,
    position: nextPosition(state),
    dueMs: 0,
    heapIndex: -1,
    lane: undefined,
    laneBefore: undefined,
    laneBehind: undefined,
    waitBefore: undefined,
    waitBehind: undefined,
    term: 0,
    endedPosition: 0,
  }
  row.delivery = acceptedDelivery(delivery, enterLane(row), now)
  startWaiting(row)
  if (delivery.epoch < endpoint.webhook.epoch) state.stale.add(endpoint)
  append(endpoint.deliveries, row.position, row)
  state.rows.set(delivery.id, row)
  if (call) call.kept += 1
  state.pending += 1
  return row
}

/** Those that are due now, or earlier than before. */
function sooner(before: ReadonlyMap<Endpoint, number | undefined>): ReadyEndpoint[] {
  const ready: ReadyEndpoint[] = []
  for (const [endpoint, dueMs] of before) {
    const now = readiness(endpoint)
    if (now.dueMs !== undefined && (dueMs === undefined || now.dueMs < dueMs)) ready.push(now)
  }
  return ready
}
