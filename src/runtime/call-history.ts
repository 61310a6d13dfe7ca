/** Reads the history of a call from the store. */
import { type CallHistory, type CallLeg, callEventsOf } from '../delivery/call-history.js'
import type { StoredDelivery } from '../delivery/delivery-queries.js'
import { legDetailsOf } from '../delivery/payload.js'
import { yieldingOf } from '../values/yielding.js'
import type { Core } from './core.js'
import { asShown } from './delivery-views.js'

/** Deliveries that a history examines, newest first. */
const MAX_DELIVERIES = 5_000
/** Legs whose details are read at the same time. */
const LEGS_AT_ONCE = 8
/** Attempts in whose requests the details of a leg are searched. */
const ATTEMPTS_PER_LEG = 3

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
  const read: CallLeg[] = []
  for (let from = 0; from < legs.length; from += LEGS_AT_ONCE) {
    await whenDue(accountId)
    const reading = legs.slice(from, from + LEGS_AT_ONCE).map((leg) => {
      const events = history.events.filter((event) => event.callId === leg)
      return readLeg(core, accountId, leg, events.length, events[0]?.deliveries[0])
    })
    read.push(...(await Promise.all(reading)))
  }
  return { callId, legs: read, ...history }
}

/** The first request of a leg names its parties; while nothing of it was sent, the body of what waits. */
async function readLeg(
  { store }: Core,
  accountId: string,
  callId: string,
  events: number,
  first: StoredDelivery | undefined,
): Promise<CallLeg> {
  const attempts = await store.deliveries.attempts({
    accountId,
    callIds: [callId],
    ascending: true,
    limit: ATTEMPTS_PER_LEG,
  })
  let body = attempts.find(({ requestBody }) => requestBody !== undefined)?.requestBody
  if (body === undefined && first)
    [body] = (await store.deliveries.bodies([first])).map((found) => found?.body)
  return { callId, ...(body !== undefined && legDetailsOf(body)), events }
}
