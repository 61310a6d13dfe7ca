import { fillIn } from '../../delivery/body-variants.js'
import type {
  Acceptance,
  AcceptedEvent,
  NewDelivery,
  NewEvent,
  ReadyEndpoint,
} from '../../delivery/delivery-store.js'
import { HookswitchError, notFound } from '../../errors.js'
import { applyAcceptance } from '../transitions.js'
import { noteLegs } from './calls.js'
import { dueMsOf, enterLane, readiness, startWaiting } from './lanes.js'
import { notifyListeners } from './notify.js'
import { append } from './position-log.js'
import {
  type Call,
  type Endpoint,
  type IdempotencyKey,
  innerMap,
  nextPosition,
  type Row,
  type State,
  type StoredEvent,
} from './state.js'

/** Accepts all or nothing: every check precedes the first write. */
export function accept(state: State, acceptance: Acceptance, now: number): readonly AcceptedEvent[] {
  const newEvents = indexById(acceptance.events)
  const duplicates = duplicatesAmong(state, acceptance.events, now)
  const deliveries =
    duplicates.size === 0
      ? acceptance.deliveries
      : acceptance.deliveries.filter((delivery) => !duplicates.has(delivery.eventId))
  rejectUnknown(state, newEvents, deliveries)
  rejectAboveLimit(state, deliveries.length, acceptance.maxPending)

  const stored: StoredEvent[] = []
  const accepted = acceptance.events.map((event): AcceptedEvent => {
    const key = duplicates.has(event.id) && state.keys.get(event.accountId)?.get(event.idempotency!.key)
    if (key) return { id: key.id, sequence: key.sequence, duplicate: true }
    const sequence = nextSequence(state, event, now)
    stored.push({
      id: event.id,
      bodies: event.bodies.map((body) => fillIn(body, sequence)),
      traceparent: event.traceparent,
    })
    if (event.idempotency) storeKey(state, event, sequence)
    return { id: event.id, sequence, duplicate: false }
  })
  const events = indexById(stored)
  const dueMsBefore = new Map<Endpoint, number | undefined>()
  let cancelled = false
  for (const delivery of deliveries) {
    const call = callOf(state, delivery, newEvents(delivery.eventId), now)
    const event = events(delivery.eventId) ?? replayedEvent(state, delivery)!
    const { endpoint } = addDelivery(state, delivery, event, call, now, dueMsBefore)
    cancelled ||= delivery.epoch < endpoint.webhook.epoch
  }
  notifyListeners(state, endpointsDueEarlier(dueMsBefore))
  if (cancelled) notifyListeners(state, undefined)
  return accepted
}

/** A lookup by id. Most acceptances have one event; a map pays off from a few items on. */
function indexById<Item extends { readonly id: string }>(
  items: readonly Item[],
): (id: string) => Item | undefined {
  if (items.length <= 4) return (id) => items.find((item) => item.id === id)
  const byId = new Map(items.map((item) => [item.id, item]))
  return (id) => byId.get(id)
}

const NONE: ReadonlySet<string> = new Set()

/** Ids of the events whose idempotency key is stored already, or was used earlier in this acceptance. */
function duplicatesAmong(state: State, events: readonly NewEvent[], now: number): ReadonlySet<string> {
  if (!events.some(({ idempotency }) => idempotency)) return NONE
  const duplicates = new Set<string>()
  const inThisAcceptance = new Map<string, string>()
  for (const { id, accountId, idempotency } of events) {
    if (!idempotency) continue
    const stored = state.keys.get(accountId)?.get(idempotency.key)
    const name = JSON.stringify([accountId, idempotency.key])
    const expectedHash = stored && now < stored.untilMs ? stored.bodyHash : inThisAcceptance.get(name)
    if (expectedHash === undefined) inThisAcceptance.set(name, idempotency.bodyHash)
    else if (expectedHash === idempotency.bodyHash) duplicates.add(id)
    else {
      throw new HookswitchError('Conflict', 'this idempotency key was used for another event', {
        field: 'idempotencyKey',
      })
    }
  }
  return duplicates
}

function rejectUnknown(
  state: State,
  news: (id: string) => NewEvent | undefined,
  deliveries: readonly NewDelivery[],
): void {
  for (const delivery of deliveries) {
    const { id, webhookId, eventId, variant } = delivery
    const { bodies = [] } = news(eventId) ?? replayedEvent(state, delivery) ?? {}
    if (variant >= bodies.length) throw notFound(eventId, 'event')
    if (!state.endpoints.has(webhookId)) throw notFound(webhookId, 'webhook')
    if (state.rows.has(id)) throw new HookswitchError('Conflict', `this id is taken: ${id}`, { field: 'id' })
  }
}

function rejectAboveLimit(state: State, added: number, maxPending: number): void {
  if (added === 0 || state.pendingCount + added <= maxPending) return
  throw new HookswitchError('QueueFull', `the queue is full: ${state.pendingCount} deliveries are pending`, {
    retryAfterSeconds: 1,
  })
}

function nextSequence(state: State, event: NewEvent, now: number): number {
  if (event.callId === undefined) return 0
  const call = noteLegs(state, event.accountId, event.callId, event.otherLegCallId, now)
  if (!event.numbered) return 0
  call.sequence += 1
  return call.sequence
}

function storeKey(state: State, event: NewEvent, sequence: number): void {
  const { key, bodyHash, untilMs } = event.idempotency!
  const entry: IdempotencyKey = { id: event.id, sequence, bodyHash, untilMs, callId: event.callId }
  innerMap(state.keys, event.accountId).set(key, entry)
  append(state.keyQueue, nextPosition(state), { accountId: event.accountId, key, untilMs })
}

/** The event of the delivery that this one replays. */
function replayedEvent(state: State, { replayOf, eventId }: NewDelivery): StoredEvent | undefined {
  const event = replayOf === undefined ? undefined : state.rows.get(replayOf)?.event
  return event?.id === eventId ? event : undefined
}

/** The call as the webhook's account has it: accounts also have the calls of deliveries for accounts below them. */
function callOf(
  state: State,
  { accountId, callId }: NewDelivery,
  event: NewEvent | undefined,
  now: number,
): Call | undefined {
  if (callId === undefined) return undefined
  const existing = event?.accountId === accountId ? state.calls.get(accountId)?.get(callId) : undefined
  return existing ?? noteLegs(state, accountId, callId, event?.otherLegCallId, now)
}

function addDelivery(
  state: State,
  delivery: NewDelivery,
  event: StoredEvent,
  call: Call | undefined,
  now: number,
  dueMsBefore: Map<Endpoint, number | undefined>,
): Row {
  const endpoint = state.endpoints.get(delivery.webhookId)!
  if (!dueMsBefore.has(endpoint)) dueMsBefore.set(endpoint, dueMsOf(endpoint))
  const row: Row = {
    delivery: delivery as Row['delivery'],
    event,
    endpoint,
    call,
    position: nextPosition(state),
    dueMs: 0,
    heapIndex: -1,
    lane: undefined,
    lanePrevious: undefined,
    laneNext: undefined,
    waitPrevious: undefined,
    waitNext: undefined,
    term: 0,
    endedPosition: 0,
  }
  row.delivery = applyAcceptance(delivery, enterLane(row), now)
  startWaiting(row)
  if (delivery.epoch < endpoint.webhook.epoch) state.stale.add(endpoint)
  append(endpoint.deliveries, row.position, row)
  state.rows.set(delivery.id, row)
  if (call) call.retainedRows += 1
  state.pendingCount += 1
  return row
}

/** The endpoints whose due time has become earlier. */
function endpointsDueEarlier(before: ReadonlyMap<Endpoint, number | undefined>): ReadyEndpoint[] {
  const ready: ReadyEndpoint[] = []
  for (const [endpoint, dueMs] of before) {
    const now = readiness(endpoint)
    if (now.dueMs !== undefined && (dueMs === undefined || now.dueMs < dueMs)) ready.push(now)
  }
  return ready
}
