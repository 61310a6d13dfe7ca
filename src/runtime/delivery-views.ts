/** Deliveries as callers see them: with what this node knows of them, and with times by the wall clock. */
import type { StoredAttempt } from '../delivery/attempt-record.js'
import type {
  AttemptQuery,
  DeliveryQuery,
  DeliverySearch,
  FoundDeliveries,
  StoredDelivery,
} from '../delivery/delivery-queries.js'
import { type Explanation, explainDelivery } from '../delivery/explain.js'
import type { DeliveryState } from '../delivery/lifecycle.js'
import type { ListPart, PartQuery } from '../delivery/list-part.js'
import { type CallParties, partiesOf } from '../delivery/payload.js'
import { defined } from '../values/defined.js'
import { yieldingOf } from '../values/yielding.js'
import type { Core } from './core.js'

/** Calls of the store after which a search returns what it has: rare matches must not keep a request waiting. */
const MAX_SEARCH_STEPS = 20

/** States in which the store may have a delivery that is in flight, which only its node knows. */
const MAY_BE_IN_FLIGHT: readonly DeliveryState[] = ['waiting', 'cancelled']

/** The states that the store has for these. `isExact`: the store selects just what is wanted. */
function storedStates(states: readonly DeliveryState[] | undefined) {
  if (!states) return { isExact: true, query: {} }
  const isExact = MAY_BE_IN_FLIGHT.every((state) => states.includes(state) === states.includes('in_flight'))
  const stored = new Set(states.flatMap((state) => (state === 'in_flight' ? MAY_BE_IN_FLIGHT : state)))
  return { isExact, query: { states: [...stored] } }
}

/** Selects deliveries that this node is sending, newest first. */
async function listInFlight(core: Core, query: DeliverySearch): Promise<readonly StoredDelivery[]> {
  const { accountId, webhookId, callId, fromMs = 0, toMs = Number.POSITIVE_INFINITY } = query
  const wanted = [...core.dispatcher.inFlightDeliveries()].filter(
    (candidate) =>
      (accountId === undefined || candidate.accountId === accountId) &&
      (webhookId === undefined || candidate.webhookId === webhookId) &&
      (callId === undefined || candidate.callId === callId) &&
      candidate.acceptedMs >= fromMs &&
      candidate.acceptedMs <= toMs,
  )
  const rows = await Promise.all(
    wanted.map((delivery) => core.store.deliveries.delivery(delivery.accountId, delivery.id)),
  )
  return rows
    .flatMap((row) => (row ? [asShown(core, row)] : []))
    .filter(
      ({ state, position }) => state === 'in_flight' && position < (query.cursor ?? Number.POSITIVE_INFINITY),
    )
    .sort((a, b) => b.position - a.position)
    .slice(0, query.limit)
}

const MAX_POSITION = Number.MAX_SAFE_INTEGER

const isInFlightOnly = (states: readonly DeliveryState[] | undefined) =>
  states !== undefined && states.length > 0 && states.every((state) => state === 'in_flight')

/** The next part of a list: deliveries have the states that callers see. */
export async function nextPart(core: Pick<Core, 'store'>, query: PartQuery): Promise<ListPart> {
  const { cursor, ascending = false } = query
  // What is in flight is in memory.
  if (isInFlightOnly(query.states))
    return {
      cursor: cursor ?? (ascending ? 0 : MAX_POSITION),
      end: ascending ? MAX_POSITION : 0,
      hasMore: false,
    }
  return core.store.deliveries.listPart({ ...query, ...storedStates(query.states).query })
}

/**
 * Reads a list part by part, until there are as many rows as its limit.
 *
 * @param isSparse whether most rows of a part may not match. False: the list is read at once
 */
export async function readParts<Query extends DeliveryQuery | AttemptQuery, Row>(
  core: Pick<Core, 'store' | 'clock'>,
  list: PartQuery['list'],
  query: Query & Pick<DeliveryQuery, 'states'>,
  isSparse: boolean,
  read: (query: Query) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  if (!isSparse) return read(query)
  const { accountId, webhookId, fromMs, toMs, ascending, states, limit } = query
  const selection = { list, accountId, ...defined({ webhookId, fromMs, toMs, ascending, states }) }
  const found: Row[] = []
  let { cursor } = query
  for (;;) {
    const { hasMore, ...bounds } = await nextPart(core, { ...selection, ...defined({ cursor }) })
    found.push(...(await read({ ...query, ...bounds, limit: limit - found.length })))
    if (found.length >= limit || !hasMore) return found
    cursor = bounds.end
    await core.clock.yield()
  }
}

/** Deliveries of a webhook as callers see them. */
export async function listDeliveries(core: Core, query: DeliveryQuery): Promise<readonly StoredDelivery[]> {
  const { states, limit, ascending } = query
  if (isInFlightOnly(states)) {
    // Seen from its end, an ascending list is a descending one.
    const { cursor, ...all } = query
    const found = await listInFlight(core, ascending ? { ...all, limit: Number.MAX_SAFE_INTEGER } : query)
    if (!ascending) return found
    return found
      .toReversed()
      .filter(({ position }) => position > (cursor ?? 0))
      .slice(0, limit)
  }
  const stored = storedStates(states)
  const found: StoredDelivery[] = []
  let { cursor } = query
  for (let step = 0; ; step++) {
    if (step > 0) await core.clock.yield()
    const rows = await core.store.deliveries.deliveries({
      ...query,
      ...stored.query,
      ...(cursor !== undefined && { cursor }),
    })
    for (const row of rows) {
      const shown = asShown(core, row)
      if (stored.isExact || states!.includes(shown.state)) found.push(shown)
    }
    cursor = rows.at(-1)?.position
    if (stored.isExact || rows.length < limit || found.length >= limit) return found.slice(0, limit)
  }
}

/** Searches until a page is full, or for a limited number of steps. */
export async function searchDeliveries(core: Core, query: DeliverySearch): Promise<FoundDeliveries> {
  const { store, clock } = core
  const { states } = query
  if (isInFlightOnly(states)) return { deliveries: await listInFlight(core, query) }
  const stored = storedStates(states)
  const deliveries: StoredDelivery[] = []
  let { cursor } = query
  for (let step = 0; step < MAX_SEARCH_STEPS; step++) {
    if (step > 0) await clock.yield()
    const limit = query.limit - deliveries.length
    const found = await store.deliveries.search({
      ...query,
      ...stored.query,
      limit,
      ...(cursor !== undefined && { cursor }),
    })
    for (const row of found.deliveries) {
      const shown = asShown(core, row)
      if (stored.isExact || states!.includes(shown.state)) deliveries.push(shown)
    }
    cursor = found.cursor
    if (cursor === undefined || deliveries.length >= query.limit) break
  }
  return cursor === undefined ? { deliveries } : { deliveries, cursor }
}

/** Two clocks always differ a little. A smaller difference than this is not shown. */
const MIN_AHEAD_MS = 1_000

/** How far store time is ahead of the wall clock, ms. */
function storeAheadMs({ dispatcher, clock }: Core): number {
  const aheadMs = dispatcher.now() - clock.now()
  return Math.abs(aheadMs) < MIN_AHEAD_MS ? 0 : aheadMs
}

function delayed(delivery: StoredDelivery, ms: number): StoredDelivery {
  return delivery.dueMs === undefined || ms === 0 ? delivery : { ...delivery, dueMs: delivery.dueMs + ms }
}

/**
 * The delivery as callers see it: with what this node knows of it, such as that it is in flight, and with its due time by the
 * wall clock of this node, with which they compare it.
 */
export function asShown(core: Core, delivery: StoredDelivery): StoredDelivery {
  return delayed(core.dispatcher.withQueueState(delivery), -storeAheadMs(core))
}

/** Undoes what `asShown` does to the due time. */
export function toStoreTime(core: Core, delivery: StoredDelivery): StoredDelivery {
  return delayed(delivery, storeAheadMs(core))
}

/** Records that are read for the newest attempt of a delivery: its last one may be its end without a request. */
const NEWEST_RECORDS = 2

/** The newest attempt of a delivery, or of its webhook if the delivery waits and has none. */
async function newestAttempt(
  { store }: Core,
  { accountId, id, webhookId, attempts, state }: StoredDelivery,
): Promise<StoredAttempt | undefined> {
  if (attempts === 0 && state !== 'waiting') return undefined
  const selection = attempts === 0 ? { webhookId } : { deliveryId: id }
  const records = await store.deliveries.attempts({ accountId, ...selection, limit: NEWEST_RECORDS })
  // Successes may not be recorded.
  return records.find(({ attempt }) => attempt !== undefined && (attempts === 0 || attempt === attempts))
}

/**
 * Explains the current state of a delivery, whose due time is store time.
 *
 * @param isListed leaves out what would have to be read for each delivery of a list: what was observed at the last attempt
 * @param webhookOf default: reads it from the store
 */
export async function explain(
  core: Core,
  delivery: StoredDelivery,
  isListed: boolean,
  webhookOf = core.store.deliveries.webhookOf,
): Promise<Explanation> {
  const { dispatcher, caps } = core
  const [webhook, newest] = await Promise.all([
    webhookOf(delivery.webhookId),
    isListed ? undefined : newestAttempt(core, delivery),
  ])
  return explainDelivery(delivery, {
    webhook,
    now: dispatcher.now(),
    limitReached: dispatcher.limitReached(delivery.webhookId),
    caps,
    newest,
    attemptTimeoutMs: core.attemptTimeoutMs,
  })
}

/** Bodies that are read at once: each may have 128 KiB. */
const BODIES_AT_ONCE = 50

/** The parties of the calls of these deliveries, from the bodies of their events, in the same order. */
export async function readParties(
  { store, clock }: Core,
  deliveries: readonly StoredDelivery[],
): Promise<readonly (CallParties | undefined)[]> {
  const { whenDue } = yieldingOf(clock)
  const parties: (CallParties | undefined)[] = []
  for (let start = 0; start < deliveries.length; start += BODIES_AT_ONCE) {
    const part = deliveries.slice(start, start + BODIES_AT_ONCE)
    const bodies = await store.deliveries.eventBodies(
      part.map(({ eventId, variant }) => ({ eventId, variant })),
    )
    for (const [index, body] of bodies.entries()) {
      await whenDue(part[index]!.accountId)
      parties.push(body === undefined ? undefined : partiesOf(body))
    }
  }
  return parties
}
