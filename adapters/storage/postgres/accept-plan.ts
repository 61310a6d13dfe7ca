/** Decides what a group of `accept` calls writes and what each call returns. Pure; performs no I/O. */
import { type Acceptance, HookswitchError, type NewDelivery, type NewEvent, notFound } from 'hookswitch/store'
import type { AcceptWebhookRow } from './sql/accept.js'
import type { KeyRow } from './sql/keys.js'

/** One call of `accept`. */
export interface AcceptCall {
  readonly acceptance: Acceptance
  /** Store time, ms. */
  readonly now: number
}

/** The stored rows that concern a group of calls, locked until the group is written. */
export interface AcceptContext {
  /** By id. */
  readonly webhooks: ReadonlyMap<string, AcceptWebhookRow>
  /** Stored events, by the id of one of their deliveries. */
  readonly events: ReadonlyMap<string, StoredEvent>
  /** Idempotency keys that belong to earlier events, by `keyName`. */
  readonly keys: ReadonlyMap<string, KeyRow>
  /** Those of the requested inbox entries that still exist. */
  readonly inboxIds: ReadonlySet<string>
  readonly pending: number
}

/** An event that was accepted before. */
export interface StoredEvent {
  readonly id: string
  readonly position: number
  bodyCount: number
}

export interface PlannedEvent {
  readonly event: NewEvent
  readonly now: number
  /** 0 until the events of its call are counted. */
  sequence: number
  /** Number of deliveries that refer to it. Without any it is not stored. */
  deliveryCount: number
}

export interface PlannedDelivery {
  readonly delivery: NewDelivery
  readonly now: number
  readonly webhook: AcceptWebhookRow
  readonly source: PlannedEvent | StoredEvent
}

type Source = PlannedEvent | KeyRow

/** What a group writes, and the result or error of each of its calls. */
export interface Plan {
  readonly events: PlannedEvent[]
  readonly deliveries: PlannedDelivery[]
  /** Keys that events of this group use, by `keyName`. */
  readonly keys: Map<string, PlannedEvent>
  /** Inbox entries that are accepted with this group, and removed. */
  readonly relayedIds: Set<string>
  readonly results: (HookswitchError | readonly { readonly source: Source; readonly duplicate: boolean }[])[]
}

export function keyName(accountId: string, key: string): string {
  // The id of an account contains no space.
  return `${accountId} ${key}`
}

export function isPlanned(source: Source | StoredEvent): source is PlannedEvent {
  return 'event' in source
}

/** Plans the calls in their order, each whole or not at all, as if they came one after the other. */
export function planGroup(calls: readonly AcceptCall[], context: AcceptContext): Plan {
  const plan: Plan = { events: [], deliveries: [], keys: new Map(), relayedIds: new Set(), results: [] }
  for (const call of calls) {
    try {
      plan.results.push(planCall(call, context, plan))
    } catch (thrown) {
      if (!(thrown instanceof HookswitchError)) throw thrown
      plan.results.push(thrown)
    }
  }
  return plan
}

function planCall({ acceptance, now }: AcceptCall, context: AcceptContext, plan: Plan) {
  const { events, deliveries, maxPending, inboxIds = [] } = acceptance
  checkInboxEntries(inboxIds, context, plan)

  const newEvents = new Map<string, PlannedEvent>()
  const keys = new Map<string, PlannedEvent>()
  const results: { readonly source: Source; readonly duplicate: boolean }[] = []
  for (const event of events) {
    const { id, accountId, idempotency } = event
    const name = idempotency && keyName(accountId, idempotency.key)
    const earlier =
      name === undefined ? undefined : (keys.get(name) ?? plan.keys.get(name) ?? context.keys.get(name))
    if (earlier) {
      if (hashOf(earlier) !== idempotency?.bodyHash) throw conflict()
      results.push({ source: earlier, duplicate: true })
      continue
    }
    const planned: PlannedEvent = { event, now, sequence: 0, deliveryCount: 0 }
    newEvents.set(id, planned)
    if (name !== undefined) keys.set(name, planned)
    results.push({ source: planned, duplicate: false })
  }

  const ids = newEvents.size < events.length ? new Set(events.map(({ id }) => id)) : undefined
  const planned: PlannedDelivery[] = []
  for (const delivery of deliveries) {
    const { eventId, webhookId, variant } = delivery
    const newEvent = newEvents.get(eventId)
    // The event is a duplicate.
    if (!newEvent && ids?.has(eventId)) continue
    const source = newEvent ?? replayedEvent(delivery, context)
    if (!source || variant >= bodyCountOf(source)) throw notFound(eventId, 'event')
    const webhook = context.webhooks.get(webhookId)
    if (!webhook) throw notFound(webhookId, 'webhook')
    planned.push({ delivery, now, webhook, source })
  }
  checkQueueLimit(context.pending + plan.deliveries.length, planned.length, maxPending)

  for (const one of planned) {
    plan.deliveries.push(one)
    if (isPlanned(one.source)) one.source.deliveryCount += 1
  }
  for (const event of newEvents.values()) plan.events.push(event)
  for (const [name, event] of keys) plan.keys.set(name, event)
  for (const id of inboxIds) plan.relayedIds.add(id)
  return results
}

/** The event of the delivery that this one replays. */
function replayedEvent(
  { replayOf, eventId }: NewDelivery,
  { events }: AcceptContext,
): StoredEvent | undefined {
  const event = replayOf === undefined ? undefined : events.get(replayOf)
  return event?.id === eventId ? event : undefined
}

function hashOf(source: Source): string | undefined {
  return isPlanned(source) ? source.event.idempotency?.bodyHash : source.bodyHash
}

function bodyCountOf(source: PlannedEvent | StoredEvent): number {
  return isPlanned(source) ? source.event.bodies.length : source.bodyCount
}

function conflict(): HookswitchError {
  return new HookswitchError('Conflict', 'this idempotency key was used for another event', {
    field: 'idempotencyKey',
  })
}

function checkInboxEntries(ids: readonly string[], { inboxIds }: AcceptContext, { relayedIds }: Plan): void {
  const missing = ids.find((id) => !inboxIds.has(id) || relayedIds.has(id))
  if (missing === undefined) return
  throw new HookswitchError('Conflict', `this inbox entry was accepted before: ${missing}`, {
    field: 'inboxIds',
  })
}

function checkQueueLimit(pending: number, added: number, maxPending: number): void {
  if (added === 0 || pending + added <= maxPending) return
  throw new HookswitchError('QueueFull', `the queue is full: ${pending} deliveries are pending`, {
    retryAfterSeconds: 1,
  })
}
