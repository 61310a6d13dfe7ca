import { createQueue } from '../values/queue.js'
import type { Account, Endpoint, Origin } from './roster.js'
import { HINDERED, hasShare, held, type Line, lineOf, noPlaces, PROMPT, UNKNOWN } from './trust.js'

/** Most requests in flight. */
export interface Caps {
  readonly perEndpoint: number
  readonly perAccount: number
  readonly perOrigin: number
  readonly inAll: number
}

/** Who goes next among those that are due: by line, account, endpoint; each within its caps. */
export interface Turns {
  /** An endpoint is due: it gets its turn. */
  add(endpoint: Endpoint): void
  /** Gives up to `free` places; each endpoint's `room` says how many, until `clear`. */
  give(now: number, free: number): ReadonlySet<Endpoint>
  /** Room that was given no longer counts: what is taken of it counts as in flight. */
  clear(served: ReadonlySet<Endpoint>): void
  /** Counts one more request in flight, or one less. */
  count(endpoint: Endpoint, more: 1 | -1): void
  /** Puts an endpoint, with what it has in flight, where it belongs by how it answers. */
  relabel(endpoint: Endpoint): void
  isFull(endpoint: Endpoint): boolean
  /** Which cap an endpoint has reached; `trust`: the share of those that may not answer. */
  fullAt(endpoint: Endpoint): 'endpoint' | 'account' | 'origin' | 'trust' | undefined
}

/** Mostly who answers goes first; by turns the others do, so that nobody waits without end. */
const ORDERS: readonly (readonly Line[])[] = [
  [PROMPT, UNKNOWN, HINDERED],
  [UNKNOWN, PROMPT, HINDERED],
  [PROMPT, UNKNOWN, HINDERED],
  [HINDERED, PROMPT, UNKNOWN],
]

/**
 * @param troubleMs see `lineOf`
 * @param shelve told of an endpoint whose turn came though it is not due, or full
 */
export function createTurns(
  caps: Caps,
  troubleMs: () => number,
  shelve: (endpoint: Endpoint) => void,
): Turns {
  const lines = [createQueue<Account>(), createQueue<Account>(), createQueue<Account>()] as const
  const all = noPlaces()
  /** Origins for which endpoints wait. */
  const hungry = new Set<Origin>()
  /** How often any place was given. */
  let gifts = 0
  let added = 0

  const isFull = ({ probed, inFlight, room }: Endpoint) => inFlight + room >= (probed ? 1 : caps.perEndpoint)
  const hasRoom = ({ places }: Account, line: Line) => hasShare(places, line, caps.perAccount)

  function count({ line, account, origin }: Endpoint, more: 1 | -1): void {
    account.places.inFlight[line] += more
    all.inFlight[line] += more
    origin.inFlight += more
  }

  function relabel(endpoint: Endpoint): void {
    const line = lineOf(endpoint, troubleMs())
    if (line === endpoint.line) return
    for (const { inFlight, room } of [endpoint.account.places, all]) {
      inFlight[endpoint.line] -= endpoint.inFlight
      room[endpoint.line] -= endpoint.room
      inFlight[line] += endpoint.inFlight
      room[line] += endpoint.room
    }
    endpoint.line = line
  }

  function add(endpoint: Endpoint): void {
    relabel(endpoint)
    endpoint.where = 'turn'
    added++
    const { account, line } = endpoint
    account.due[line].push(endpoint)
    if (account.queued[line]) return
    account.queued[line] = true
    lines[line].push(account)
  }

  /**
   * As many of those that wait for an origin get their turn as it has places. Not all of them may take theirs, since
   * their account or line has none: as long as places are left, the next are let in.
   */
  function letIn(origin: Origin): void {
    let free = caps.perOrigin - origin.inFlight - origin.room
    while (free > 0 && origin.waiting.length > 0) {
      const endpoint = origin.waiting.shift()!
      if (endpoint.where !== 'origin' || endpoint.origin !== origin) continue
      add(endpoint)
      free--
    }
    if (origin.waiting.length === 0) hungry.delete(origin)
  }

  /** One place for the next endpoint of this account and line that has room; null: it has none. */
  function serve(account: Account, line: Line, now: number): Endpoint | null {
    if (!hasRoom(account, line)) return null
    const due = account.due[line]
    for (let endpoint = due.shift(); endpoint; endpoint = due.shift()) {
      relabel(endpoint)
      const { origin } = endpoint
      if (endpoint.line !== line) {
        add(endpoint)
      } else if (endpoint.dueMs > now || isFull(endpoint)) {
        endpoint.where = 'nowhere'
        shelve(endpoint)
      } else if (origin.inFlight + origin.room >= caps.perOrigin) {
        endpoint.where = 'origin'
        origin.waiting.push(endpoint)
        hungry.add(origin)
      } else {
        due.push(endpoint)
        endpoint.room++
        origin.room++
        account.places.room[line]++
        all.room[line]++
        return endpoint
      }
    }
    return null
  }

  /** Serves the accounts of a line in turn; how many places are left. */
  function serveLine(line: Line, now: number, free: number, served: Set<Endpoint>): number {
    const queue = lines[line]
    let left = free
    let refusals = 0
    while (left > 0 && hasShare(all, line, caps.inAll) && refusals < queue.length) {
      const account = queue.shift()!
      const endpoint = serve(account, line, now)
      if (endpoint) {
        served.add(endpoint)
        left--
      }
      if (account.due[line].length > 0) {
        queue.push(account)
        refusals = endpoint ? 0 : refusals + 1
      } else account.queued[line] = false
    }
    return left
  }

  return {
    add,
    give(now, free) {
      const served = new Set<Endpoint>()
      const order = ORDERS[gifts % ORDERS.length]!
      let left = Math.min(free, caps.inAll)
      // Who gets a turn meanwhile may belong to a line that has had its own.
      for (let before = -1; before !== added && left > 0; ) {
        before = added
        for (const origin of hungry) letIn(origin)
        for (const line of order) left = serveLine(line, now, left, served)
      }
      if (served.size > 0) gifts++
      return served
    },
    clear(served) {
      for (const endpoint of served) {
        const { account, line, room } = endpoint
        account.places.room[line] -= room
        all.room[line] -= room
        endpoint.room = endpoint.origin.room = 0
      }
    },
    count,
    relabel,
    isFull,
    fullAt(endpoint) {
      const { account, origin, line } = endpoint
      if (isFull(endpoint)) return 'endpoint'
      if (held(account.places, PROMPT) >= caps.perAccount) return 'account'
      if (origin.inFlight >= caps.perOrigin) return 'origin'
      return hasRoom(account, line) && hasShare(all, line, caps.inAll) ? undefined : 'trust'
    },
  }
}
