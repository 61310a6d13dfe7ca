/** Accepts events and their deliveries: reads the facts of `planAcceptance`, and writes its plan. */
import {
  type Acceptance,
  type AcceptanceFacts,
  type AcceptanceResult,
  type NewEvent,
  planAcceptance,
  type StoredKey,
} from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { isWhole, shortDeliveryId } from './delivery-ids.js'
import type { CachedEndpoint } from './endpoints.js'
import type { StoredEvent } from './event-bodies.js'
import type { EncodedAcceptance, EncodedDelivery } from './group-encoding.js'
import { idHashKey } from './hash-key.js'
import type { PhoneCall } from './phone-calls.js'

/** The only node. */
const NODE = 0

/** The call of a new event, for the plan to number. */
interface NumberedCall extends PhoneCall {
  node: number
}

export function createAccept(
  context: EngineContext,
): (acceptance: EncodedAcceptance, now: number, isRepeat: boolean, hasLease: boolean) => AcceptanceResult {
  const { prepareQuery, prepareChange, state, accounts, endpoints, phoneCalls, eventBodies, rows } = context
  const insert = prepareChange(`insert into hookswitch_waiting
      (position, webhook, event, lane, sequence, epoch, attempts, tries, interruptions, accepted_ms, variant, format, id,
      replay_of)
    values (?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?, ?, ?, ?)`)
  const insertId = prepareChange(
    'insert into hookswitch_delivery_id (id_key, webhook, position) values (?, ?, ?)',
  )
  const findKey =
    prepareQuery<StoredKey>(`select event_id as "id", sequence, body_hash as "bodyHash", until_ms as "untilMs"
    from hookswitch_idempotency where account = ? and key = ?`)
  const putKey =
    prepareChange(`insert or replace into hookswitch_idempotency (account, key, event_id, sequence, body_hash, until_ms, call)
    values (?, ?, ?, ?, ?, ?, ?)`)
  const findStaged = prepareQuery<object>('select 1 from hookswitch_inbox where event_id = ?')
  const removeStaged = prepareChange('delete from hookswitch_inbox where event_id = ?')

  const facts: AcceptanceFacts = {
    key(accountId, key) {
      const account = accounts.find(accountId)
      return account === undefined ? undefined : findKey.get(account, key)
    },
    event: eventBodies.find,
    hasWebhook: (webhookId) => endpoints.byId(webhookId) !== undefined,
    isTaken(delivery) {
      // The id of a first delivery begins like that of its event, which is new.
      const { id, eventId, webhookId, position = 0, replayOf } = delivery
      if (replayOf === undefined && !isWhole(shortDeliveryId(id, eventId))) return false
      const endpoint = endpoints.byId(webhookId)
      return rows.byId(id) !== undefined || (endpoint && rows.byKey(endpoint.key, position)) !== undefined
    },
    hasInboxEntry: (id) => findStaged.get(id) !== undefined,
    numbers({ accountId, callId }): NumberedCall {
      const call = phoneCalls.open(accounts.findOrCreate(accountId), callId!)
      return Object.assign(call, { node: NODE })
    },
  }

  function storeEvent(event: NewEvent, sequence: number, isSent: boolean, now: number): StoredEvent {
    const { accountId, callId, otherLegCallId, idempotency, position = 0 } = event
    const account = accounts.findOrCreate(accountId)
    const call =
      callId === undefined
        ? null
        : phoneCalls.save(account, phoneCalls.open(account, callId), otherLegCallId, now)
    eventBodies.insert(event, account, call, sequence, isSent)
    if (idempotency) {
      const { key, bodyHash, untilMs } = idempotency
      putKey(account, key, event.id, sequence, bodyHash, untilMs, call)
    }
    return { position, account, callId: callId ?? null, sequence, variants: event.bodies.length }
  }

  function storeDelivery(
    delivery: EncodedDelivery,
    endpoint: CachedEndpoint,
    event: StoredEvent,
    now: number,
  ): void {
    const { id, eventId, position = 0, laneKey, epoch, variant, format, replayOf = null } = delivery
    const short = shortDeliveryId(id, eventId)
    const eventPosition = position === event.position ? null : event.position
    const { key } = endpoint
    const sequence = replayOf === null ? event.sequence : 0
    insert(position, key, eventPosition, laneKey, sequence, epoch, now, variant, format, short, replayOf)
    if (isWhole(short)) insertId(idHashKey(id), key, position)
  }

  return (acceptance, now, isRepeat, hasLease) => {
    const { events, inboxIds = [] } = acceptance
    // The rules look at no field of a delivery that does not cross.
    const plan = planAcceptance(acceptance as unknown as Acceptance, facts, NODE, now, isRepeat)
    if (plan.kind === 'refused') return plan
    if (plan.kind === 'stored')
      return { kind: 'accepted', events: plan.events, mayHaveGap: state.incoming.length > 0 }
    for (const id of inboxIds) removeStaged(id)
    const deliveries = plan.deliveries as unknown as readonly EncodedDelivery[]
    const isSent = createSentCheck(deliveries)
    const stored = new Map<string, StoredEvent>()
    for (const [index, event] of events.entries()) {
      const { duplicate, sequence } = plan.events[index]!
      if (!duplicate) stored.set(event.id, storeEvent(event, sequence, isSent(event.id), now))
    }
    for (const delivery of deliveries) {
      const endpoint = endpoints.byId(delivery.webhookId)!
      const event = stored.get(delivery.eventId) ?? eventBodies.find(delivery.eventId)!
      storeDelivery(delivery, endpoint, event, now)
      const { webhookId, position = 0 } = delivery
      if (!hasLease) state.incoming.push({ webhookId, position })
      const { callId, account } = event
      // A webhook of an account above knows the call, too.
      if (callId !== null && account !== endpoint.account) {
        const { otherLegCallId } = events.find(({ id }) => id === delivery.eventId) ?? {}
        phoneCalls.save(endpoint.account, phoneCalls.open(endpoint.account, callId), otherLegCallId, now)
      }
    }
    return { kind: 'accepted', events: plan.events, mayHaveGap: state.incoming.length > 0 }
  }
}

/** Whether an event of the acceptance has a delivery. */
function createSentCheck(deliveries: readonly EncodedDelivery[]): (eventId: string) => boolean {
  const [first] = deliveries
  if (!first) return () => false
  if (deliveries.every(({ eventId }) => eventId === first.eventId)) return (id) => id === first.eventId
  const sent = new Set(deliveries.map(({ eventId }) => eventId))
  return (id) => sent.has(id)
}
