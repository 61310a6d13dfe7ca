import { createHeap } from '../values/heap.js'
import { createQueue } from '../values/queue.js'
import type { ReadyEndpoint } from './delivery-store.js'
import {
  type Account,
  createRoster,
  type Endpoint,
  IDLE,
  type Origin,
  type Overview,
  overviewOf,
} from './roster.js'

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
  started(endpoint: Omit<ReadyEndpoint, 'dueMs'>, probed: boolean): void
  ended(webhookId: string): void
  probing(webhookId: string, probed: boolean): void
  /** When the next endpoint becomes due; `undefined`: nothing waits for time. */
  nextDueMs(): number | undefined
  /** Requests in flight to an endpoint. */
  inFlight(webhookId: string): number
  /** Which cap an endpoint has reached. */
  fullAt(webhookId: string): 'endpoint' | 'account' | 'origin' | undefined
  overview(now: number): Overview
}

export interface Pick {
  readonly webhookId: string
  readonly room: number
}

/** Most requests in flight. */
export interface Caps {
  readonly perEndpoint: number
  readonly perAccount: number
  readonly perOrigin: number
  readonly inAll: number
}

export function createSchedule(caps: Caps): Schedule {
  const roster = createRoster()
  const turns = createQueue<Account>()
  const later = createHeap<{ dueMs: number; endpoint: Endpoint }>((a, b) => a.dueMs < b.dueMs)
  /** Origins of which room was given that may not be taken. */
  const given = new Set<Origin>()
  let ticks = 0

  const isFull = ({ probed, inFlight, room }: Endpoint) => inFlight + room >= (probed ? 1 : caps.perEndpoint)

  function enqueue(endpoint: Endpoint): void {
    endpoint.where = 'turn'
    const { account } = endpoint
    account.due.push(endpoint)
    if (account.queued) return
    account.queued = true
    turns.push(account)
  }

  /** Entries of times that hold no longer stay until those are over, unless they become the most. */
  function wait(endpoint: Endpoint): void {
    if (endpoint.heapMs === endpoint.dueMs) return
    endpoint.heapMs = endpoint.dueMs
    later.push({ dueMs: endpoint.dueMs, endpoint })
    if (later.size <= 2 * roster.size + 64) return
    later.clear()
    for (const one of roster.all()) {
      const waits = one.where === 'nowhere' && one.dueMs !== IDLE
      one.heapMs = waits ? one.dueMs : Number.NaN
      if (waits) later.push({ dueMs: one.dueMs, endpoint: one })
    }
  }

  /** Where an endpoint belongs that is in no queue: forgotten when idle; a full one comes back when a request ends. */
  function settleIn(endpoint: Endpoint): void {
    if (endpoint.where !== 'nowhere') return
    if (endpoint.dueMs !== IDLE) {
      if (!isFull(endpoint)) wait(endpoint)
    } else if (endpoint.inFlight === 0) roster.forget(endpoint)
  }

  /** As many of those that wait for an origin get their turn as there are places. */
  function refill(origin: Origin): void {
    let free = caps.perOrigin - origin.inFlight - origin.room
    while (free > 0 && origin.waiting.length > 0) {
      const endpoint = origin.waiting.shift()!
      if (endpoint.where !== 'origin' || endpoint.origin !== origin) continue
      enqueue(endpoint)
      free--
    }
  }

  /** One place for the next endpoint of this account that has room; null: it has none. */
  function serve(account: Account, now: number): Endpoint | null {
    if (account.inFlight + account.room >= caps.perAccount) return null
    for (let endpoint = account.due.shift(); endpoint; endpoint = account.due.shift()) {
      const { origin } = endpoint
      if (endpoint.dueMs > now || isFull(endpoint)) {
        endpoint.where = 'nowhere'
        settleIn(endpoint)
        // It may have been let in from its origin's queue: its place goes to the next there.
        refill(origin)
      } else if (origin.inFlight + origin.room >= caps.perOrigin) {
        endpoint.where = 'origin'
        origin.waiting.push(endpoint)
      } else {
        account.due.push(endpoint)
        endpoint.room++
        account.room++
        origin.room++
        given.add(origin)
        return endpoint
      }
    }
    return null
  }

  function wakeDue(now: number): void {
    for (let top = later.peek(); top !== undefined && top.dueMs <= now; top = later.peek()) {
      later.pop()
      const { endpoint, dueMs } = top
      if (endpoint.heapMs === dueMs) endpoint.heapMs = Number.NaN
      const isKnown = roster.find(endpoint.id) === endpoint
      if (isKnown && endpoint.where === 'nowhere' && endpoint.dueMs <= now) enqueue(endpoint)
    }
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
      const { account, origin } = endpoint
      learn({ webhookId, accountId: account.id, origin: origin.id, dueMs: undefined }, since)
    }
  }

  return {
    tick: () => ticks,
    learn,
    pick(now, free) {
      wakeDue(now)
      const served = new Set<Endpoint>()
      let left = Math.min(free, caps.inAll)
      let refusals = 0
      while (left > 0 && turns.length > 0 && refusals < turns.length) {
        const account = turns.shift()!
        const endpoint = serve(account, now)
        if (endpoint) {
          served.add(endpoint)
          left--
        }
        if (account.due.length > 0) {
          turns.push(account)
          refusals = endpoint ? 0 : refusals + 1
        } else account.queued = false
      }
      return Array.from(served, (endpoint) => {
        const { id, room, account, origin } = endpoint
        endpoint.room = account.room = origin.room = 0
        return { webhookId: id, room }
      })
    },
    claimed(picked, told, since) {
      for (const endpoint of told ?? []) learn(endpoint, since)
      if (told && told.length < picked.length) unmentioned(picked, told, since)
      // What was full of room given, not taken, is in no queue yet.
      for (const { webhookId } of picked) {
        const endpoint = roster.find(webhookId)
        if (endpoint) settleIn(endpoint)
      }
      for (const origin of given) refill(origin)
      given.clear()
    },
    started(told, probed) {
      const endpoint = roster.of(told)
      endpoint.probed = probed
      endpoint.inFlight++
      endpoint.account.inFlight++
      endpoint.origin.inFlight++
    },
    ended(webhookId) {
      const endpoint = roster.find(webhookId)!
      endpoint.inFlight--
      endpoint.account.inFlight--
      endpoint.origin.inFlight--
      refill(endpoint.origin)
      settleIn(endpoint)
    },
    probing(webhookId, probed) {
      const endpoint = roster.find(webhookId)
      if (!endpoint || endpoint.probed === probed) return
      endpoint.probed = probed
      settleIn(endpoint)
    },
    nextDueMs() {
      for (let top = later.peek(); top !== undefined; top = later.peek()) {
        const { dueMs, endpoint } = top
        const isKnown = roster.find(endpoint.id) === endpoint
        if (isKnown && endpoint.where === 'nowhere' && endpoint.dueMs === dueMs) return dueMs
        later.pop()
        if (endpoint.heapMs === dueMs) endpoint.heapMs = Number.NaN
      }
      return undefined
    },
    inFlight: (webhookId) => roster.find(webhookId)?.inFlight ?? 0,
    fullAt(webhookId) {
      const endpoint = roster.find(webhookId)
      if (!endpoint) return undefined
      if (isFull(endpoint)) return 'endpoint'
      if (endpoint.account.inFlight >= caps.perAccount) return 'account'
      return endpoint.origin.inFlight >= caps.perOrigin ? 'origin' : undefined
    },
    overview: (now) => overviewOf(roster.all(), now),
  }
}
