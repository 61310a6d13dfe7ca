import { createHeap } from '../values/heap.js'
import { createQueue, type Queue } from '../values/queue.js'
import type { ReadyEndpoint } from './delivery-store.js'

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
  /** What a claim told of those it was asked for; one that it does not mention, since nobody knows it any more, is idle. */
  claimed(picked: readonly Pick[], told: readonly ReadyEndpoint[], since: number): void
  started(webhookId: string, accountId: string): void
  ended(webhookId: string, accountId: string): void
  /** Due endpoints with the room each has, at most `free` requests in all. */
  pick(now: number, free: number): readonly Pick[]
  /** When the next endpoint becomes due; `undefined`: nothing waits for time. */
  nextDueMs(): number | undefined
  /** Whether an endpoint is being probed: one request at a time. Told again at every claim. */
  probing(webhookId: string, accountId: string, on: boolean): void
  /** Requests in flight to an endpoint. */
  inFlight(webhookId: string): number
}

export interface Pick {
  readonly webhookId: string
  readonly room: number
}

/** Most requests in flight. */
export interface Caps {
  readonly perEndpoint: number
  readonly perAccount: number
  readonly inAll: number
}

interface Endpoint {
  readonly id: string
  readonly account: Account
  dueMs: number
  inFlight: number
  /** Most requests in flight to it. */
  cap: number
  /** Room given in the pick under way. */
  room: number
  touched: number
  queued: boolean
}

interface Account {
  readonly id: string
  /** Due endpoints, the next in turn first. */
  readonly due: Queue<Endpoint>
  endpoints: number
  inFlight: number
  room: number
  queued: boolean
}

const IDLE = Number.POSITIVE_INFINITY

export function createSchedule(caps: Caps): Schedule {
  const endpoints = new Map<string, Endpoint>()
  const accounts = new Map<string, Account>()
  const turns = createQueue<Account>()
  const later = createHeap<{ dueMs: number; endpoint: Endpoint }>((a, b) => a.dueMs < b.dueMs)
  let ticks = 0

  function endpointOf(id: string, accountId: string): Endpoint {
    const known = endpoints.get(id)
    if (known) return known
    let account = accounts.get(accountId)
    if (!account) {
      account = { id: accountId, due: createQueue(), endpoints: 0, inFlight: 0, room: 0, queued: false }
      accounts.set(accountId, account)
    }
    account.endpoints++
    const endpoint: Endpoint = {
      id,
      account,
      dueMs: IDLE,
      inFlight: 0,
      cap: caps.perEndpoint,
      room: 0,
      touched: 0,
      queued: false,
    }
    endpoints.set(id, endpoint)
    return endpoint
  }

  /** Memory follows what is waiting or in flight, not what exists. */
  function forgetIfIdle(endpoint: Endpoint): void {
    if (endpoint.dueMs !== IDLE || endpoint.inFlight > 0 || endpoint.queued) return
    if (!endpoints.delete(endpoint.id)) return
    if (--endpoint.account.endpoints === 0) accounts.delete(endpoint.account.id)
  }

  function enqueue(endpoint: Endpoint): void {
    if (endpoint.queued) return
    endpoint.queued = true
    endpoint.account.due.push(endpoint)
    if (endpoint.account.queued) return
    endpoint.account.queued = true
    turns.push(endpoint.account)
  }

  /** Entries of times that hold no longer stay until those are over, unless they become the most. */
  function wait(endpoint: Endpoint): void {
    later.push({ dueMs: endpoint.dueMs, endpoint })
    if (later.size <= 2 * endpoints.size + 64) return
    later.clear()
    for (const one of endpoints.values()) {
      if (!one.queued && one.dueMs !== IDLE) later.push({ dueMs: one.dueMs, endpoint: one })
    }
  }

  /** Takes an endpoint out of its turn: it is idle, or due later. */
  function shelve(endpoint: Endpoint): void {
    endpoint.queued = false
    if (endpoint.dueMs === IDLE) forgetIfIdle(endpoint)
    else wait(endpoint)
  }

  /** One place for the next endpoint of this account that has room; null: it has none. */
  function serve(account: Account, now: number): Endpoint | null {
    if (account.inFlight + account.room >= caps.perAccount) return null
    for (let left = account.due.length; left > 0; left--) {
      const endpoint = account.due.shift()!
      if (endpoint.dueMs > now) {
        shelve(endpoint)
        continue
      }
      account.due.push(endpoint)
      if (endpoint.inFlight + endpoint.room >= endpoint.cap) continue
      endpoint.room++
      account.room++
      return endpoint
    }
    return null
  }

  function wakeDue(now: number): void {
    for (let top = later.peek(); top !== undefined && top.dueMs <= now; top = later.peek()) {
      later.pop()
      if (endpoints.get(top.endpoint.id) === top.endpoint && top.endpoint.dueMs <= now) enqueue(top.endpoint)
    }
  }

  function learn(ready: ReadyEndpoint, since?: number): void {
    const dueMs = ready.dueMs ?? IDLE
    if (dueMs === IDLE && !endpoints.has(ready.webhookId)) return
    const endpoint = endpointOf(ready.webhookId, ready.accountId)
    const before = endpoint.dueMs
    const exact = since !== undefined && endpoint.touched <= since
    endpoint.dueMs = exact ? dueMs : Math.min(before, dueMs)
    endpoint.touched = ++ticks
    if (endpoint.dueMs === IDLE) forgetIfIdle(endpoint)
    else if (endpoint.dueMs !== before && !endpoint.queued) wait(endpoint)
  }

  return {
    tick: () => ticks,
    learn,
    claimed(picked, told, since) {
      for (const endpoint of told) learn(endpoint, since)
      if (told.length >= picked.length) return
      const known = new Set(told.map(({ webhookId }) => webhookId))
      for (const { webhookId } of picked) {
        const account = endpoints.get(webhookId)?.account
        if (account && !known.has(webhookId))
          learn({ webhookId, accountId: account.id, dueMs: undefined }, since)
      }
    },
    started(webhookId, accountId) {
      const endpoint = endpointOf(webhookId, accountId)
      endpoint.inFlight++
      endpoint.account.inFlight++
    },
    ended(webhookId, accountId) {
      const endpoint = endpointOf(webhookId, accountId)
      endpoint.inFlight--
      endpoint.account.inFlight--
      forgetIfIdle(endpoint)
    },
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
        const { id, room, account } = endpoint
        endpoint.room = 0
        account.room = 0
        return { webhookId: id, room }
      })
    },
    nextDueMs() {
      for (let top = later.peek(); top !== undefined; top = later.peek()) {
        const { dueMs, endpoint } = top
        if (endpoints.get(endpoint.id) === endpoint && !endpoint.queued && endpoint.dueMs === dueMs)
          return dueMs
        later.pop()
      }
      return undefined
    },
    probing(webhookId, accountId, on) {
      endpointOf(webhookId, accountId).cap = on ? 1 : caps.perEndpoint
    },
    inFlight: (webhookId) => endpoints.get(webhookId)?.inFlight ?? 0,
  }
}
