import { createQueue, type Queue } from '../values/queue.js'
import type { ReadyEndpoint } from './delivery-store.js'
import { type Line, type Manner, noPlaces, type Places, UNKNOWN } from './trust.js'

/**
 * The endpoints that a node knows to have something waiting or in flight, with their accounts and origins: what is
 * counted for turns and caps. Memory follows what is waiting or in flight, not what exists; of the rest only how it
 * answered is remembered, of so many at most.
 */
export interface Roster {
  readonly size: number
  find(webhookId: string): Endpoint | undefined
  /** The endpoint, made when it is not known; moved when it leads elsewhere by now. */
  of(told: Omit<ReadyEndpoint, 'dueMs'>): Endpoint
  /** Forgets an endpoint of which nothing is in flight. */
  forget(endpoint: Endpoint): void
  all(): Iterable<Endpoint>
}

export interface Endpoint extends Manner {
  readonly id: string
  readonly account: Account
  origin: Origin
  /** Store time; Infinity: nothing waits. */
  dueMs: number
  inFlight: number
  room: number
  /** In which its requests in flight are counted, and whose turns it takes. */
  line: Line
  /** Whose turn the odd place of its room is. */
  retriesFirst: boolean
  /** Only single requests are let through: its breaker has opened. */
  probed: boolean
  /** When something was last learnt of it. */
  touched: number
  /** In its account's turn, in its origin's queue, or in neither. */
  where: 'turn' | 'origin' | 'nowhere'
  /** The due time it is on the heap with; NaN: none. */
  heapMs: number
}

export interface Account {
  readonly id: string
  readonly places: Places
  /** Due endpoints by line, the next in turn first. */
  readonly due: readonly [Queue<Endpoint>, Queue<Endpoint>, Queue<Endpoint>]
  /** Whether it is in the turns of a line. */
  readonly queued: [boolean, boolean, boolean]
  endpoints: number
}

export interface Origin {
  readonly id: string
  inFlight: number
  room: number
  /** Due endpoints that wait for room here, the longest first; entries may be out of date. */
  readonly waiting: Queue<Endpoint>
  endpoints: number
}

/** Nothing waits. */
export const IDLE = Number.POSITIVE_INFINITY
/** Endpoints that are idle of which it is remembered how they answered. */
const MAX_REMEMBERED = 20_000

export function createRoster(): Roster {
  const endpoints = new Map<string, Endpoint>()
  const accounts = new Map<string, Account>()
  const origins = new Map<string, Origin>()
  /** Those seen longest ago first. */
  const manners = new Map<string, Pick<Manner, 'promptMs' | 'slow'>>()

  function accountOf(id: string): Account {
    const known = accounts.get(id)
    if (known) return known
    const due = [createQueue<Endpoint>(), createQueue<Endpoint>(), createQueue<Endpoint>()] as const
    const account: Account = { id, places: noPlaces(), due, queued: [false, false, false], endpoints: 0 }
    accounts.set(id, account)
    return account
  }

  function originOf(id: string): Origin {
    const known = origins.get(id)
    if (known) return known
    const origin = { id, waiting: createQueue<Endpoint>(), endpoints: 0, inFlight: 0, room: 0 }
    origins.set(id, origin)
    return origin
  }

  function leave(origin: Origin): void {
    if (--origin.endpoints === 0) origins.delete(origin.id)
  }

  /** What is in flight moves along: a few requests to the former place count for the new one. */
  function move(endpoint: Endpoint, originId: string): void {
    const before = endpoint.origin
    const origin = originOf(originId)
    origin.endpoints++
    origin.inFlight += endpoint.inFlight
    before.inFlight -= endpoint.inFlight
    endpoint.origin = origin
    // Another receiver, a stranger at best: moving about must not make a bad one better.
    endpoint.promptMs = Number.NEGATIVE_INFINITY
    if (endpoint.slow === false) endpoint.slow = undefined
    leave(before)
    if (endpoint.where === 'origin') endpoint.where = 'nowhere'
  }

  function remember({ id, promptMs, slow }: Endpoint): void {
    if (slow === undefined) return
    manners.delete(id)
    manners.set(id, { promptMs, slow })
    if (manners.size > MAX_REMEMBERED) manners.delete(manners.keys().next().value!)
  }

  return {
    get size() {
      return endpoints.size
    },
    find: (webhookId) => endpoints.get(webhookId),
    of({ webhookId, accountId, origin: originId, failing }) {
      const known = endpoints.get(webhookId)
      if (known) {
        known.failing = failing
        if (known.origin.id !== originId) move(known, originId)
        return known
      }
      const account = accountOf(accountId)
      const origin = originOf(originId)
      account.endpoints++
      origin.endpoints++
      const manner = manners.get(webhookId)
      const endpoint: Endpoint = {
        id: webhookId,
        account,
        origin,
        dueMs: IDLE,
        inFlight: 0,
        room: 0,
        line: UNKNOWN,
        promptMs: manner?.promptMs ?? Number.NEGATIVE_INFINITY,
        slow: manner?.slow,
        failing,
        overdue: 0,
        retriesFirst: false,
        probed: false,
        touched: 0,
        where: 'nowhere',
        heapMs: Number.NaN,
      }
      endpoints.set(webhookId, endpoint)
      return endpoint
    },
    forget(endpoint) {
      if (!endpoints.delete(endpoint.id)) return
      remember(endpoint)
      leave(endpoint.origin)
      if (--endpoint.account.endpoints === 0) accounts.delete(endpoint.account.id)
    },
    all: () => endpoints.values(),
  }
}

/** How the node stands. */
export interface Overview {
  /** For how long the delivery that waits longest has been due, ms. */
  readonly oldestDueMs: number
  /** Endpoints whose breaker is open, and those that are probed. */
  readonly open: number
  readonly halfOpen: number
}

/** @param now store time, ms */
export function overviewOf(endpoints: Iterable<Endpoint>, now: number): Overview {
  let oldestDueMs = 0
  let open = 0
  let halfOpen = 0
  for (const { dueMs, probed } of endpoints) {
    if (dueMs <= now) oldestDueMs = Math.max(oldestDueMs, now - dueMs)
    if (probed && dueMs > now && dueMs !== IDLE) open++
    else if (probed) halfOpen++
  }
  return { oldestDueMs, open, halfOpen }
}
