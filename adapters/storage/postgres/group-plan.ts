/** Plans the acceptances of a group, each as if those before it were written. Pure. */
import {
  type Acceptance,
  type AcceptanceFacts,
  type AcceptanceResult,
  type CallNumbers,
  eventIndexOf,
  type NewDelivery,
  planAcceptance,
  type StoredKey,
} from 'hookswitch/store'
import { storedDeliveryId } from './delivery-id.js'
import type { DeliveryToWrite, EventToWrite } from './group-statement.js'

export interface KnownWebhook {
  readonly key: number
  readonly shard: number
}

export interface KnownEvent {
  readonly position: number
  readonly sequence: number
  readonly variants: number
}

/** What is known of the stored rows: read and locked on the slow path, assumed on the fast path. */
export interface StoredFacts {
  key(accountId: string, key: string): StoredKey | undefined
  event(eventId: string): KnownEvent | undefined
  webhook(webhookId: string): KnownWebhook | undefined
  isTaken(delivery: NewDelivery): boolean
  hasInboxEntry(id: string): boolean
  /** The numbers of a call, a copy that the plan may change. */
  numbers(accountId: string, callId: string): CallNumbers
}

export interface GroupPlan {
  readonly results: readonly AcceptanceResult[]
  readonly events: readonly EventToWrite[]
  readonly deliveries: readonly DeliveryToWrite[]
  readonly inboxIds: readonly string[]
  /** Numbers after the group, by `callName`. */
  readonly numbers: ReadonlyMap<string, CallNumbers>
}

/** An id of an account contains no line feed. */
export const callName = (accountId: string, callId: string) => `${accountId}\n${callId}`

interface PlanOptions {
  /** Number of the accepting node; -1: it has no lease. */
  readonly node: number
  /** Store time, ms. */
  readonly now: number
  readonly isRepeat: boolean
  /** Shards whose owner writes the group. */
  readonly ownShards: ReadonlySet<number>
  /** Acceptances that are refused already, by index. */
  readonly refused?: ReadonlyMap<number, AcceptanceResult>
}

export function planGroup(
  accepted: readonly Acceptance[],
  stored: StoredFacts,
  { node, now, isRepeat, ownShards, refused }: PlanOptions,
): GroupPlan {
  const events: EventToWrite[] = []
  const deliveries: DeliveryToWrite[] = []
  const inboxIds: string[] = []
  const numbers = new Map<string, CallNumbers>()
  const keys = new Map<string, StoredKey>()
  const newEvents = new Map<string, KnownEvent>()
  const used = new Set<string>()
  const eventOf = (id: string) => newEvents.get(id) ?? stored.event(id)
  const facts: AcceptanceFacts = {
    key: (accountId, key) => keys.get(callName(accountId, key)) ?? stored.key(accountId, key),
    event: eventOf,
    hasWebhook: (id) => stored.webhook(id) !== undefined,
    isTaken: (delivery) => used.has(delivery.id) || used.has(placeOf(delivery)) || stored.isTaken(delivery),
    hasInboxEntry: (id) => !inboxIds.includes(id) && stored.hasInboxEntry(id),
    numbers({ accountId, callId }) {
      const name = callName(accountId, callId!)
      let found = numbers.get(name)
      if (!found) {
        found = stored.numbers(accountId, callId!)
        numbers.set(name, found)
      }
      return found
    },
  }

  function plan(acceptance: Acceptance): AcceptanceResult {
    const planned = planAcceptance(acceptance, facts, node, now, isRepeat)
    if (planned.kind === 'refused') return planned
    if (planned.kind === 'stored')
      return { kind: 'accepted', events: planned.events, mayHaveGap: planned.mayHaveGap }
    const withDeliveries = new Set<number>()
    let near = 0
    for (const delivery of planned.deliveries) {
      const { eventId, webhookId, replayOf } = delivery
      const index = eventIndexOf(acceptance.events, eventId, near)
      if (index >= 0) {
        near = index
        withDeliveries.add(index)
      }
      const { key: webhookKey, shard } = stored.webhook(webhookId)!
      const source = index < 0 ? eventOf(eventId)! : acceptance.events[index]!
      deliveries.push({
        delivery,
        storedId: storedDeliveryId(delivery.id, eventId),
        webhookKey,
        shard,
        event: source.position!,
        // Replays are in the order of their positions.
        sequence: index < 0 || replayOf !== undefined ? 0 : planned.events[index]!.sequence,
        isForeign: !ownShards.has(shard),
      })
      if (accepted.length > 1) used.add(delivery.id).add(placeOf(delivery))
    }
    planned.events.forEach(({ duplicate, sequence }, index) => {
      if (duplicate) return
      const event = acceptance.events[index]!
      events.push({ event, sequence, hasDeliveries: withDeliveries.has(index) })
      const { id, accountId, position, bodies, idempotency } = event
      newEvents.set(id, { position: position!, sequence, variants: bodies.length })
      if (idempotency) keys.set(callName(accountId, idempotency.key), { id, sequence, ...idempotency })
    })
    inboxIds.push(...(acceptance.inboxIds ?? []))
    return { kind: 'accepted', events: planned.events, mayHaveGap: planned.mayHaveGap }
  }

  const results = accepted.map((acceptance, index) => refused?.get(index) ?? plan(acceptance))
  return { results, events, deliveries, inboxIds, numbers }
}

const placeOf = ({ webhookId, position }: NewDelivery) => `${position}/${webhookId}`
