/** Accepts the events and deliveries of a group. */
import type { Acceptance, AcceptedEvent, NewDelivery, NewEvent } from '../../delivery/delivery-store.js'
import { eventIndexOf } from '../../delivery/event-index.js'
import type { AcceptanceResult } from '../../delivery/queue-store.js'
import { type AcceptanceFacts, planAcceptance } from '../engine/acceptance.js'
import { noteLegs, touchCall } from './calls.js'
import { noteDelivery } from './history.js'
import { enterLane } from './lanes.js'
import { append, valueAt } from './position-log.js'
import {
  type Call,
  type IdempotencyKey,
  innerMap,
  type Moment,
  type Node,
  nextOrdinal,
  Row,
  type State,
  StoredEvent,
} from './state.js'

/** Events without deliveries that are remembered. */
const MAX_UNMATCHED_EVENTS = 4_096

/** The state as the facts of a plan. */
interface MemoryFacts extends AcceptanceFacts {
  /** The call that `numbers` was called for last. */
  call: Call | undefined
}

/** Facts that are valid during one group. @param now store time, ms */
export function factsOf(state: State, now: number): MemoryFacts {
  const facts: MemoryFacts = {
    call: undefined,
    key: (accountId, key) => state.keys.get(accountId)?.get(key),
    event: (eventId) => state.events.get(eventId),
    hasWebhook: (webhookId) => state.endpoints.has(webhookId),
    isTaken: ({ id, webhookId, position }) =>
      state.rows.has(id) || valueAt(state.endpoints.get(webhookId)!.deliveries, position!) !== undefined,
    hasInboxEntry: () => false,
    numbers({ accountId, callId }) {
      facts.call = touchCall(state, accountId, callId!, now)
      return facts.call
    },
  }
  return facts
}

/**
 * Accepts all or nothing.
 *
 * @param node the accepting node; `undefined`: it has no lease
 */
export function accept(
  state: State,
  facts: MemoryFacts,
  acceptance: Acceptance,
  node: Node | undefined,
  moment: Moment,
  isRepeat: boolean,
): AcceptanceResult {
  const now = moment.ms
  const plan = planAcceptance(acceptance, facts, node?.number ?? -1, now, isRepeat)
  if (plan.kind === 'refused') return plan
  if (plan.kind === 'stored') return { kind: 'accepted', events: plan.events, mayHaveGap: plan.mayHaveGap }
  const { events } = acceptance
  const hasDeliveries = plan.deliveries.length > 0
  const stored: (StoredEvent | undefined)[] = []
  const calls: (Call | undefined)[] = []
  for (let index = 0; index < events.length; index += 1) {
    const result = plan.events[index]!
    if (result.duplicate) {
      stored.push(undefined)
      calls.push(undefined)
      continue
    }
    const event = events[index]!
    const { accountId, callId, otherLegCallId } = event
    const known = facts.call
    calls.push(
      callId === undefined
        ? undefined
        : otherLegCallId === undefined && known?.callId === callId && known.accountId === accountId
          ? known
          : noteLegs(state, accountId, callId, otherLegCallId, now),
    )
    const row = new StoredEvent(event, result.sequence, hasDeliveries)
    state.events.set(event.id, row)
    if (event.position! > state.lastPosition) state.lastPosition = event.position!
    stored.push(row)
    if (event.idempotency) storeKey(state, event, result)
  }
  let hint = 0
  for (const delivery of plan.deliveries) {
    const index = eventIndexOf(events, delivery.eventId, hint)
    if (index >= 0) hint = index
    const event = index < 0 ? state.events.get(delivery.eventId)! : stored[index]!
    addDelivery(
      state,
      delivery,
      event,
      callOf(state, delivery, events[index], calls[index], now),
      node,
      moment,
    )
  }
  for (const event of stored) if (event?.rows === 0) rememberBare(state, event)
  return { kind: 'accepted', events: plan.events, mayHaveGap: plan.mayHaveGap }
}

function storeKey(state: State, event: NewEvent, { id, sequence }: AcceptedEvent): void {
  const { key, bodyHash, untilMs } = event.idempotency!
  const entry: IdempotencyKey = { id, sequence, bodyHash, untilMs, callId: event.callId }
  innerMap(state.keys, event.accountId).set(key, entry)
  append(state.keyQueue, nextOrdinal(state), { accountId: event.accountId, key, untilMs })
}

/** The call as the webhook's account has it: accounts also have the calls of deliveries for accounts below them. */
function callOf(
  state: State,
  { accountId, callId }: NewDelivery,
  event: NewEvent | undefined,
  call: Call | undefined,
  now: number,
): Call | undefined {
  if (callId === undefined) return undefined
  if (call && call.accountId === accountId && call.callId === callId) return call
  return noteLegs(state, accountId, callId, event?.otherLegCallId, now)
}

function addDelivery(
  state: State,
  delivery: NewDelivery,
  event: StoredEvent,
  call: Call | undefined,
  node: Node | undefined,
  moment: Moment,
): void {
  const endpoint = state.endpoints.get(delivery.webhookId)!
  const row = new Row(delivery, event, endpoint, call, nextOrdinal(state), moment)
  enterLane(row)
  endpoint.waitingCount += 1
  const position = delivery.position!
  noteDelivery(state, row)
  if (position > state.lastPosition) state.lastPosition = position
  const shard = state.shards[endpoint.shard]!
  if (node !== undefined && shard.owner === node) return
  shard.handoffs.push(row)
  state.handoffCount += 1
}

/** Remembers the number of an event without deliveries, and forgets the oldest ones. */
function rememberBare(state: State, event: StoredEvent): void {
  const { unmatchedEvents } = state
  unmatchedEvents.push(event)
  if (unmatchedEvents.length - state.unmatchedStart <= MAX_UNMATCHED_EVENTS) return
  const oldest = unmatchedEvents[state.unmatchedStart]!
  state.unmatchedStart += 1
  if (state.events.get(oldest.id) === oldest && oldest.rows === 0) state.events.delete(oldest.id)
  if (state.unmatchedStart < MAX_UNMATCHED_EVENTS) return
  state.unmatchedEvents = unmatchedEvents.slice(state.unmatchedStart)
  state.unmatchedStart = 0
}
