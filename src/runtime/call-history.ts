/** Reads the history of a call from the store. */
import { type CallEvent, type CallHistory, callEventsOf } from '../delivery/call-history.js'
import type { StoredDelivery } from '../delivery/delivery-queries.js'
import type { CallParties } from '../delivery/payload.js'
import { yieldingOf } from '../values/yielding.js'
import type { Core } from './core.js'
import { asShown, readParties } from './delivery-views.js'

/** Deliveries that a history examines, newest first. */
const MAX_DELIVERIES = 5_000
/** Legs whose parties are read. */
const MAX_LEGS = 1_000
/** Webhooks that are read at the same time. */
const WEBHOOKS_AT_ONCE = 50
/** Attempts of one query: they have bodies. */
const ATTEMPTS_PER_PAGE = 50
/** Queries of attempts per history. */
const MAX_ATTEMPT_PAGES = 20

type CallDelivery = CallEvent['deliveries'][number]

/** Undefined if the account has no such call. */
export async function readCallHistory(
  core: Core,
  accountId: string,
  callId: string,
): Promise<CallHistory | undefined> {
  const legs = await core.store.deliveries.legs(accountId, callId)
  if (legs.length === 0) return undefined
  const deliveries: StoredDelivery[] = []
  const { whenDue } = yieldingOf(core.clock)
  let isPartial = false
  for (const leg of legs) {
    await whenDue(accountId)
    let cursor: number | undefined
    do {
      const limit = MAX_DELIVERIES - deliveries.length
      if (limit <= 0) {
        isPartial = true
        break
      }
      const found = await core.store.deliveries.search({
        accountId,
        callId: leg,
        limit,
        ...(cursor !== undefined && { cursor }),
      })
      for (const row of found.deliveries) deliveries.push(asShown(core, row))
      cursor = found.cursor
    } while (cursor !== undefined)
  }
  const history = callEventsOf(deliveries, isPartial)
  const [parties, names, statuses] = await Promise.all([
    readLegParties(core, legs, history.events),
    readNames(core, history.events),
    readStatuses(core, accountId, legs, history.events),
  ])
  const toShown = (delivery: StoredDelivery): CallDelivery => {
    const webhookName = names.get(delivery.webhookId)
    const lastStatus = statuses.get(delivery.id)
    return {
      ...delivery,
      ...(webhookName !== undefined && { webhookName }),
      ...(lastStatus !== undefined && { lastStatus }),
    }
  }
  return {
    callId,
    legs: legs.map((leg, index) => {
      const { direction, from, to } = parties[index] ?? {}
      return {
        callId: leg,
        ...(direction !== undefined && { direction }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
        events: history.events.filter((event) => event.callId === leg).length,
      }
    }),
    ...history,
    events: history.events.map((event) => ({ ...event, deliveries: event.deliveries.map(toShown) })),
  }
}

/** The parties of each leg, as the first of its events names them that is stored. */
async function readLegParties(
  core: Core,
  legs: readonly string[],
  events: readonly CallEvent[],
): Promise<readonly (CallParties | undefined)[]> {
  const first = legs.map((leg) => events.find((event) => event.callId === leg)?.deliveries[0])
  const known = first.flatMap((delivery) => delivery ?? []).slice(0, MAX_LEGS)
  const parties = await readParties(core, known)
  return first.map((delivery) => delivery && parties[known.indexOf(delivery)])
}

/** The names of the webhooks, by id. */
async function readNames(
  { store, clock }: Core,
  events: readonly CallEvent[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(events.flatMap(({ deliveries }) => deliveries.map(({ webhookId }) => webhookId)))]
  const names = new Map<string, string>()
  for (let start = 0; start < ids.length; start += WEBHOOKS_AT_ONCE) {
    if (start > 0) await clock.yield()
    const part = ids.slice(start, start + WEBHOOKS_AT_ONCE)
    const webhooks = await Promise.all(part.map((id) => store.deliveries.webhookOf(id)))
    for (const webhook of webhooks) if (webhook) names.set(webhook.id, webhook.settings.name)
  }
  return names
}

/** The statuses of the last attempts, by delivery: of the newest attempts of the call. */
async function readStatuses(
  { store, clock }: Core,
  accountId: string,
  callIds: readonly string[],
  events: readonly CallEvent[],
): Promise<ReadonlyMap<string, number>> {
  const missing = new Set(
    events.flatMap(({ deliveries }) => deliveries.filter(({ attempts }) => attempts > 0).map(({ id }) => id)),
  )
  const statuses = new Map<string, number>()
  let cursor: number | undefined
  for (let page = 0; missing.size > 0 && page < MAX_ATTEMPT_PAGES; page += 1) {
    if (page > 0) await clock.yield()
    const found = await store.deliveries.attempts({
      accountId,
      callIds,
      limit: ATTEMPTS_PER_PAGE,
      ...(cursor !== undefined && { cursor }),
    })
    for (const { deliveryId, attempt, status } of found) {
      if (attempt === undefined || !missing.delete(deliveryId)) continue
      if (status !== undefined) statuses.set(deliveryId, status)
    }
    if (found.length < ATTEMPTS_PER_PAGE) break
    cursor = found.at(-1)!.position
  }
  return statuses
}
