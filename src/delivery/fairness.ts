import type { ReadyEndpoint } from './delivery-store.js'
import { createDueTimes } from './due-times.js'
import { createRoster, type Endpoint, IDLE, type Overview, overviewOf } from './roster.js'
import { createFlights, type Flight } from './trust.js'
import { type Caps, createTurns, type Turns } from './turns.js'

/**
 * Which endpoints may send next: due ones in turn, account by account, each within its caps. Knows endpoints,
 * due times and counts; nothing of deliveries, requests or stores.
 *
 * Store calls answer late: what one says of an endpoint is exact only when nothing else was learnt of it since the
 * call began, else the earlier due time holds. Too early costs an empty claim, too late would lose a wake-up.
 */
export interface Schedule {
  /** A moment in the order of learning; taken before a store call, given with its answer. */
  tick(): number
  /** What the store said of an endpoint. `since`: the tick before the call; absent: a wake-up. */
  learn(endpoint: ReadyEndpoint, since?: number): void
  /** Due endpoints with the room each has, at most `free` requests in all. `claimed` must follow. */
  pick(now: number, free: number): readonly Pick[]
  /**
   * What a claim told of those it was asked for; one that it does not mention, since nobody knows it any more, is idle.
   * `undefined`: the claim failed.
   */
  claimed(picked: readonly Pick[], told: readonly ReadyEndpoint[] | undefined, since: number): void
  /** A request to an endpoint begins; whether the endpoint is being probed, which is one request at a time. */
  started(endpoint: Omit<ReadyEndpoint, 'dueMs'>, probed: boolean, now: number): Flight<Endpoint>
  /** Whether the receiver of a request answered quickly. */
  answered(flight: Flight<Endpoint>, quickly: boolean, now: number): void
  ended(flight: Flight<Endpoint>): void
  probing(webhookId: string, probed: boolean): void
  /** When the next endpoint becomes due; `undefined`: nothing waits for time. */
  nextDueMs(): number | undefined
  /** Requests in flight to an endpoint. */
  inFlight(webhookId: string): number
  /** Which cap an endpoint has reached. */
  fullAt(webhookId: string): ReturnType<Turns['fullAt']>
  overview(now: number): Overview
}

export interface Pick {
  readonly webhookId: string
  readonly room: number
  /** The odd place of its room is for a retry, if one is due: by turns, so that neither kind waits without end. */
  readonly retriesFirst: boolean
}

export function createSchedule(caps: Caps): Schedule {
  const roster = createRoster()
  const flights = createFlights<Endpoint>()
  const dueTimes = createDueTimes(roster)
  const turns = createTurns(caps, flights.troubleMs, settleIn)
  let ticks = 0

  /** Where an endpoint belongs that is in no queue: forgotten when idle; a full one comes back when a request ends. */
  function settleIn(endpoint: Endpoint): void {
    if (endpoint.where !== 'nowhere') return
    if (endpoint.dueMs !== IDLE) {
      if (!turns.isFull(endpoint)) dueTimes.add(endpoint)
    } else if (endpoint.inFlight === 0) roster.forget(endpoint)
  }

  function learn(told: ReadyEndpoint, since?: number): void {
    const dueMs = told.dueMs ?? IDLE
    if (dueMs === IDLE && !roster.find(told.webhookId)) return
    const endpoint = roster.of(told)
    const exact = since !== undefined && endpoint.touched <= since
    endpoint.dueMs = exact ? dueMs : Math.min(endpoint.dueMs, dueMs)
    endpoint.touched = ++ticks
    settleIn(endpoint)
  }

  function unmentioned(picked: readonly Pick[], told: readonly ReadyEndpoint[], since: number): void {
    const known = new Set(told.map(({ webhookId }) => webhookId))
    for (const { webhookId } of picked) {
      const endpoint = known.has(webhookId) ? undefined : roster.find(webhookId)
      if (!endpoint) continue
      const { account, origin, failing } = endpoint
      learn({ webhookId, accountId: account.id, origin: origin.id, failing, dueMs: undefined }, since)
    }
  }

  return {
    tick: () => ticks,
    learn,
    pick(now, free) {
      flights.look(now, (endpoint) => {
        endpoint.overdue++
        turns.relabel(endpoint)
      })
      dueTimes.take(now, turns.add)
      const served = turns.give(now, free)
      const picks = Array.from(served, (endpoint): Pick => {
        const { id: webhookId, room, retriesFirst } = endpoint
        if (room % 2 === 1) endpoint.retriesFirst = !retriesFirst
        return { webhookId, room, retriesFirst }
      })
      turns.clear(served)
      return picks
    },
    claimed(picked, told, since) {
      for (const endpoint of told ?? []) learn(endpoint, since)
      if (told && told.length < picked.length) unmentioned(picked, told, since)
      // What was full of room given, not taken, is in no queue yet.
      for (const { webhookId } of picked) {
        const endpoint = roster.find(webhookId)
        if (endpoint) settleIn(endpoint)
      }
    },
    started(told, probed, now) {
      const endpoint = roster.of(told)
      endpoint.probed = probed
      endpoint.inFlight++
      turns.count(endpoint, 1)
      return flights.begin(endpoint, now)
    },
    answered({ endpoint }, quickly, now) {
      endpoint.slow = !quickly
      if (quickly) endpoint.promptMs = now
      turns.relabel(endpoint)
    },
    ended(flight) {
      const { endpoint } = flight
      flight.isOver = true
      if (flight.isOverdue) endpoint.overdue--
      endpoint.inFlight--
      turns.count(endpoint, -1)
      settleIn(endpoint)
    },
    probing(webhookId, probed) {
      const endpoint = roster.find(webhookId)
      if (!endpoint || endpoint.probed === probed) return
      endpoint.probed = probed
      settleIn(endpoint)
    },
    nextDueMs: dueTimes.next,
    inFlight: (webhookId) => roster.find(webhookId)?.inFlight ?? 0,
    fullAt(webhookId) {
      const endpoint = roster.find(webhookId)
      return endpoint && turns.fullAt(endpoint)
    },
    overview: (now) => overviewOf(roster.all(), now),
  }
}
