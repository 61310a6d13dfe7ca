import { type Acceptance, HookswitchError, type NewDelivery, type NewEvent, notFound } from 'hookswitch/store'
import type { HeldRow } from './sql/accept.js'
import type { KeyRow } from './sql/keys.js'

/** One call of `accept`. */
export interface AcceptCall {
  readonly acceptance: Acceptance
  /** Store time, ms. */
  readonly now: number
}

/** What the tables say, as far as a group of calls asks; held until it is written. */
export interface Facts {
  /** By id. */
  readonly webhooks: ReadonlyMap<string, HeldRow>
  /** Stored events, by a delivery of theirs. */
  readonly events: ReadonlyMap<string, StoredEvent>
  /** Idempotency keys that others used, by `keyName`. */
  readonly keys: ReadonlyMap<string, KeyRow>
  /** Inbox entries that are still there. */
  readonly staged: ReadonlySet<string>
  readonly pending: number
}

/** An event that was accepted before. */
export interface StoredEvent {
  readonly id: string
  readonly position: number
  /** How many it has. */
  bodies: number
}

export interface PlannedEvent {
  readonly event: NewEvent
  readonly now: number
  /** 0 until its call has been counted. */
  sequence: number
  /** How many deliveries refer to it: without one it is not stored. */
  deliveries: number
}

export interface PlannedDelivery {
  readonly delivery: NewDelivery
  readonly now: number
  readonly webhook: HeldRow
  readonly of: PlannedEvent | StoredEvent
}

type Source = PlannedEvent | KeyRow

/** What of a group is to be written, and what each of its calls is answered. */
export interface Plan {
  readonly events: PlannedEvent[]
  readonly deliveries: PlannedDelivery[]
  /** Keys that are used by events of this group, by `keyName`. */
  readonly keys: Map<string, PlannedEvent>
  readonly admitted: Set<string>
  readonly answers: (HookswitchError | readonly { readonly of: Source; readonly duplicate: boolean }[])[]
}

export function keyName(accountId: string, key: string): string {
  // An account's id has no space.
  return `${accountId} ${key}`
}

export function isPlanned(source: Source | StoredEvent): source is PlannedEvent {
  return 'event' in source
}

/** Decides the calls of a group in their order, each all or nothing, as if they came one after the other. */
export function decide(calls: readonly AcceptCall[], facts: Facts): Plan {
  const plan: Plan = { events: [], deliveries: [], keys: new Map(), admitted: new Set(), answers: [] }
  for (const call of calls) {
    try {
      plan.answers.push(decideOne(call, facts, plan))
    } catch (thrown) {
      if (!(thrown instanceof HookswitchError)) throw thrown
      plan.answers.push(thrown)
    }
  }
  return plan
}

function decideOne({ acceptance, now }: AcceptCall, facts: Facts, plan: Plan) {
  const { events, deliveries, maxPending, admits = [] } = acceptance
  refuseAdmitted(admits, facts, plan)

  const news = new Map<string, PlannedEvent>()
  const keys = new Map<string, PlannedEvent>()
  const answers: { readonly of: Source; readonly duplicate: boolean }[] = []
  for (const event of events) {
    const { id, accountId, idempotency } = event
    const name = idempotency && keyName(accountId, idempotency.key)
    const known =
      name === undefined ? undefined : (keys.get(name) ?? plan.keys.get(name) ?? facts.keys.get(name))
    if (known) {
      if (hashOf(known) !== idempotency?.bodyHash) throw conflict()
      answers.push({ of: known, duplicate: true })
      continue
    }
    const planned: PlannedEvent = { event, now, sequence: 0, deliveries: 0 }
    news.set(id, planned)
    if (name !== undefined) keys.set(name, planned)
    answers.push({ of: planned, duplicate: false })
  }

  const duplicates = news.size < events.length ? new Set(events.map(({ id }) => id)) : undefined
  const planned: PlannedDelivery[] = []
  for (const delivery of deliveries) {
    const { eventId, webhookId, variant } = delivery
    const fresh = news.get(eventId)
    if (!fresh && duplicates?.has(eventId)) continue
    const of = fresh ?? repeated(delivery, facts)
    if (!of || variant >= bodiesOf(of)) throw notFound(eventId)
    const webhook = facts.webhooks.get(webhookId)
    if (!webhook) throw notFound(webhookId)
    planned.push({ delivery, now, webhook, of })
  }
  refuseAbove(facts.pending + plan.deliveries.length, planned.length, maxPending)

  for (const one of planned) {
    plan.deliveries.push(one)
    if (isPlanned(one.of)) one.of.deliveries += 1
  }
  for (const event of news.values()) plan.events.push(event)
  for (const [name, event] of keys) plan.keys.set(name, event)
  for (const id of admits) plan.admitted.add(id)
  return answers
}

/** The event of the delivery that this one repeats. */
function repeated({ replayOf, eventId }: NewDelivery, { events }: Facts): StoredEvent | undefined {
  const event = replayOf === undefined ? undefined : events.get(replayOf)
  return event?.id === eventId ? event : undefined
}

function hashOf(known: Source): string | undefined {
  return isPlanned(known) ? known.event.idempotency?.bodyHash : known.bodyHash
}

function bodiesOf(of: PlannedEvent | StoredEvent): number {
  return isPlanned(of) ? of.event.bodies.length : of.bodies
}

function conflict(): HookswitchError {
  return new HookswitchError('Conflict', 'this idempotency key was used for another event', {
    field: 'idempotencyKey',
  })
}

function refuseAdmitted(admits: readonly string[], { staged }: Facts, { admitted }: Plan): void {
  const gone = admits.find((id) => !staged.has(id) || admitted.has(id))
  if (gone === undefined) return
  throw new HookswitchError('Conflict', `this inbox entry was admitted before: ${gone}`, { field: 'admits' })
}

function refuseAbove(pending: number, added: number, maxPending: number): void {
  if (added === 0 || pending + added <= maxPending) return
  throw new HookswitchError('QueueFull', `the queue is full: ${pending} deliveries are pending`, {
    retryAfterSeconds: 1,
  })
}
