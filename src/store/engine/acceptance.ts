/**
 * Plans what an acceptance writes, from facts that the store has read. Decides duplicates, refusals and sequence numbers;
 * reading, locking and writing stay with the store.
 *
 * A store that writes each acceptance before it plans the next passes its live state as the facts. A store that plans a
 * whole group first adds to them what earlier acceptances of the group will have written.
 */
import type { Acceptance, AcceptedEvent, NewDelivery, NewEvent } from '../../delivery/delivery-store.js'
import { eventIndexOf } from '../../delivery/event-index.js'
import { type HookswitchError, notFound } from '../../errors.js'
import { idConflict, idempotencyConflict, inboxConflict } from './errors.js'

/** A stored idempotency key. */
export interface StoredKey {
  /** The event that was accepted with it. */
  readonly id: string
  /** The event's sequence number. */
  readonly sequence: number
  /** `hashEventBody` of the event that it was used for. */
  readonly bodyHash: string
  /** Store time, ms: from then on the key is free. */
  readonly untilMs: number
}

/** A stored event. */
export interface StoredEventFact {
  /** Its sequence number; 0: not numbered. */
  readonly sequence: number
  /** Number of its bodies: a replay must refer to one of them. */
  readonly variants: number
}

/** The sequence numbers of an account's call. */
export interface CallNumbers {
  /** The last number; 0: none. */
  sequence: number
  /** Number of the node that gave it; -1: unknown, or a node without a lease. */
  node: number
}

/** What the store has, including what earlier acceptances of the group have written or will write. */
export interface AcceptanceFacts {
  /** The stored key, expired or not. Called for events with a key. */
  key(accountId: string, key: string): StoredKey | undefined
  /** Whether this event id is stored. Called for every event, and for the events of replays. */
  event(eventId: string): StoredEventFact | undefined
  /** Whether the webhook has a row, deleted or not. */
  hasWebhook(webhookId: string): boolean
  /** Whether the id of this delivery, or its position among the deliveries of its webhook, is in use. */
  isTaken(delivery: NewDelivery): boolean
  /** Whether the inbox has this entry. */
  hasInboxEntry(id: string): boolean
  /**
   * The numbers of the event's call, which the plan changes in place. Called once per numbered event, in order, after
   * every check: the acceptance is written for certain.
   */
  numbers(event: NewEvent): CallNumbers
}

/** What an acceptance writes. */
export type AcceptancePlan =
  | {
      readonly kind: 'write'
      /** One per event. Those that are no duplicates are written, with their number. */
      readonly events: readonly AcceptedEvent[]
      /** The deliveries to write: those of duplicates are left out. */
      readonly deliveries: readonly NewDelivery[]
      /** See `AcceptanceResult`. */
      readonly mayHaveGap: boolean
    }
  /** An earlier commit of the same group has written it: there is nothing to write. */
  | {
      readonly kind: 'stored'
      readonly events: readonly AcceptedEvent[]
      /** True for every number above 1: only the answer that was lost knew which node gave the one before. */
      readonly mayHaveGap: boolean
    }
  | { readonly kind: 'refused'; readonly error: HookswitchError }

/** The earlier event that makes an event a duplicate: stored, or an index into the same acceptance. */
type Duplicate = StoredKey | number

/**
 * Plans one acceptance. Checks precede `facts.numbers`, so a refused acceptance takes no number.
 *
 * @param node number of the accepting node; -1 without a lease
 * @param now store time, ms
 * @param isRepeat see `Group.isRepeat`
 */
export function planAcceptance(
  acceptance: Acceptance,
  facts: AcceptanceFacts,
  node: number,
  now: number,
  isRepeat: boolean,
): AcceptancePlan {
  const { events, inboxIds } = acceptance
  const duplicates = duplicatesOf(events, facts, now)
  if (typeof duplicates === 'number') {
    const error = idempotencyConflict(events.length > 1 ? duplicates : undefined)
    return { kind: 'refused', error }
  }
  if (isRepeat && isStored(acceptance, duplicates, facts)) {
    const stored = storedResults(events, duplicates, facts)
    const mayHaveGap = stored.some(({ sequence, duplicate }) => sequence > 1 && !duplicate)
    return { kind: 'stored', events: stored, mayHaveGap }
  }
  if (inboxIds) {
    for (const id of inboxIds)
      if (!facts.hasInboxEntry(id)) return { kind: 'refused', error: inboxConflict() }
  }
  const deliveries = duplicates ? withoutDuplicates(acceptance, duplicates) : acceptance.deliveries
  const error = refusalOf(events, deliveries, duplicates, facts)
  if (error) return { kind: 'refused', error }

  let mayHaveGap = false
  const accepted: AcceptedEvent[] = []
  for (let index = 0; index < events.length; index += 1) {
    const event = events[index]!
    const duplicate = duplicates?.[index]
    if (duplicate !== undefined) {
      const { id, sequence } = typeof duplicate === 'number' ? accepted[duplicate]! : duplicate
      accepted.push({ id, sequence, duplicate: true })
      continue
    }
    let sequence = 0
    if (event.numbered && event.callId !== undefined) {
      const numbers = facts.numbers(event)
      if (numbers.node !== node) {
        mayHaveGap ||= numbers.sequence > 0
        numbers.node = node
      }
      numbers.sequence += 1
      sequence = numbers.sequence
    }
    accepted.push({ id: event.id, sequence, duplicate: false })
  }
  return { kind: 'write', events: accepted, deliveries, mayHaveGap }
}

/**
 * The duplicates by idempotency key, by index of the event. `undefined`: no event has a key, or all keys are free. A number:
 * the index of an event whose key was used with another body.
 */
function duplicatesOf(
  events: readonly NewEvent[],
  facts: AcceptanceFacts,
  now: number,
): (Duplicate | undefined)[] | number | undefined {
  let duplicates: (Duplicate | undefined)[] | undefined
  /** Free keys of this acceptance: account and key → index of the event. Needed from the second event on. */
  let free: Map<string, number> | undefined
  for (let index = 0; index < events.length; index += 1) {
    const { id, accountId, idempotency } = events[index]!
    if (!idempotency) continue
    const { key, bodyHash } = idempotency
    const stored = facts.key(accountId, key)
    if (stored && now < stored.untilMs) {
      if (stored.bodyHash !== bodyHash) return index
      // The event's own key, in the repeat of a group that was written.
      if (stored.id === id) continue
      duplicates ??= new Array<Duplicate | undefined>(events.length).fill(undefined)
      duplicates[index] = stored
      continue
    }
    if (events.length === 1) continue
    free ??= new Map()
    const name = `${accountId.length}/${accountId}${key}`
    const earlier = free.get(name)
    if (earlier === undefined) {
      free.set(name, index)
      continue
    }
    if (events[earlier]!.idempotency!.bodyHash !== bodyHash) return index
    duplicates ??= new Array<Duplicate | undefined>(events.length).fill(undefined)
    duplicates[index] = earlier
  }
  return duplicates
}

/**
 * Whether an acceptance was written: all its new events are stored; without new events, all its replays are stored; without
 * both, its inbox entries are gone. Another node may have accepted some of the same replays.
 */
function isStored(
  { events, deliveries, inboxIds = [] }: Acceptance,
  duplicates: readonly (Duplicate | undefined)[] | undefined,
  facts: AcceptanceFacts,
): boolean {
  let own = 0
  for (let index = 0; index < events.length; index += 1) {
    if (duplicates?.[index] !== undefined) continue
    if (facts.event(events[index]!.id) === undefined) return false
    own += 1
  }
  if (own > 0) return true
  if (events.length > 0) return false
  if (deliveries.length > 0) return deliveries.every((delivery) => facts.isTaken(delivery))
  return inboxIds.length > 0 && !inboxIds.some((id) => facts.hasInboxEntry(id))
}

function storedResults(
  events: readonly NewEvent[],
  duplicates: readonly (Duplicate | undefined)[] | undefined,
  facts: AcceptanceFacts,
): AcceptedEvent[] {
  const accepted: AcceptedEvent[] = []
  for (let index = 0; index < events.length; index += 1) {
    const { id } = events[index]!
    const duplicate = duplicates?.[index]
    if (duplicate === undefined) {
      accepted.push({ id, sequence: facts.event(id)?.sequence ?? 0, duplicate: false })
      continue
    }
    const first = typeof duplicate === 'number' ? accepted[duplicate]! : duplicate
    accepted.push({ id: first.id, sequence: first.sequence, duplicate: true })
  }
  return accepted
}

function withoutDuplicates(
  { events, deliveries }: Acceptance,
  duplicates: readonly (Duplicate | undefined)[],
): NewDelivery[] {
  let hint = 0
  return deliveries.filter(({ eventId }) => {
    const index = eventIndexOf(events, eventId, hint)
    if (index < 0) return true
    hint = index
    return duplicates[index] === undefined
  })
}

function refusalOf(
  events: readonly NewEvent[],
  deliveries: readonly NewDelivery[],
  duplicates: readonly (Duplicate | undefined)[] | undefined,
  facts: AcceptanceFacts,
): HookswitchError | undefined {
  for (let index = 0; index < events.length; index += 1) {
    const { id } = events[index]!
    if (duplicates?.[index] === undefined && facts.event(id)) return idConflict(id)
  }
  let hint = 0
  for (const delivery of deliveries) {
    const { eventId, variant } = delivery
    const index = eventIndexOf(events, eventId, hint)
    if (index >= 0) hint = index
    const variants = index >= 0 ? events[index]!.bodies.length : replayedVariants(delivery, facts)
    if (variant >= variants) return notFound(eventId, 'event')
    if (!facts.hasWebhook(delivery.webhookId)) return notFound(delivery.webhookId, 'webhook')
    if (facts.isTaken(delivery)) return idConflict(delivery.id)
  }
  const twin = deliveries.length > 1 ? twinAmong(deliveries) : undefined
  return twin && idConflict(twin.id)
}

/** Above this number of deliveries sets of their names cost less than comparing each with each. */
const MAX_COMPARED = 32

/** A delivery with the id, or the webhook and position, of an earlier one of the same acceptance. */
function twinAmong(deliveries: readonly NewDelivery[]): NewDelivery | undefined {
  if (deliveries.length > MAX_COMPARED) {
    const ids = new Set<string>()
    const webhookIds = new Map<number | undefined, Set<string>>()
    return deliveries.find(({ id, webhookId, position }, index) => {
      const atPosition = webhookIds.get(position) ?? new Set()
      if (atPosition.size === 0) webhookIds.set(position, atPosition)
      const { size } = atPosition
      return ids.add(id).size === index || atPosition.add(webhookId).size === size
    })
  }
  for (let index = 1; index < deliveries.length; index += 1) {
    const delivery = deliveries[index]!
    for (let before = 0; before < index; before += 1) {
      const other = deliveries[before]!
      if (delivery.id === other.id) return delivery
      if (delivery.position === other.position && delivery.webhookId === other.webhookId) return delivery
    }
  }
  return undefined
}

function replayedVariants({ replayOf, eventId }: NewDelivery, facts: AcceptanceFacts): number {
  return replayOf === undefined ? 0 : (facts.event(eventId)?.variants ?? 0)
}
