/**
 * Displaces the oldest waiting deliveries of an endpoint above its share: marks them as never to be sent, and the dispatcher
 * ends them as `queue_full`. Taken deliveries stay.
 *
 * Calls go whole: half a call is of less use to a receiver than the whole call later, by a replay. The call
 * whose first waiting delivery is oldest goes first. The lane of a replay is no call: its deliveries go one by one. A
 * displaced delivery leaves its lane, so that many end at once.
 */
import {
  DUE,
  type Entries,
  EPOCH,
  IS_DISPLACED,
  IS_TAKEN,
  LANE,
  NEXT,
  NONE,
  POSITION,
  PREVIOUS,
  SEQUENCE,
} from './entries.js'
import type { HashIndex } from './hash-index.js'
import type { Heads } from './heads.js'
import type { Lanes } from './lanes.js'
import type { QueueEndpoint } from './queue-endpoint.js'

/**
 * Deliveries of one lane that are displaced beyond the number that has to go. A longer lane is no call, and loses its
 * oldest deliveries only.
 */
const MAX_REST_OF_CALL = 1_000
/** The part of the lanes that a search finds ahead: the next ones need no search. */
export const FOUND_AHEAD = 1 / 100

/** The parts of the queue that a displacement changes. */
interface DisplacementDeps {
  readonly entries: Entries
  readonly keys: HashIndex
  readonly heads: Heads
  readonly lanes: Lanes
  /** See `FOUND_AHEAD`. */
  readonly foundAhead: number
}

/** Whether a delivery waits to be sent: it is neither taken, nor displaced, nor of an older epoch than its endpoint. */
export function isInBacklog(entries: Entries, entry: number, epoch: number): boolean {
  return !entries.hasFlag(entry, IS_TAKEN | IS_DISPLACED) && entries.word(entry, EPOCH) >= epoch
}

/**
 * Marks at least `count` deliveries, or all that wait.
 *
 * @param now store time, ms: the next of a lane is due then
 * @param onDisplaced called for each after it is marked, with the entry that is the head of its lane now and was not before,
 *   or `NONE`
 */
export function displace(
  deps: DisplacementDeps,
  endpoint: QueueEndpoint,
  count: number,
  now: number,
  onDisplaced: (entry: number, nextHead: number) => void,
): void {
  const { entries, heads, lanes } = deps
  for (let left = count; left > 0; ) {
    const first = nextOldest(deps, endpoint) ?? search(deps, endpoint, left)
    if (first === undefined) return
    left -= displaceLane(first, left)
  }

  function displaceLane(from: number, wanted: number): number {
    // Replays have no sequence number.
    const most = entries.word(from, SEQUENCE) === 0 ? wanted : wanted + MAX_REST_OF_CALL
    let displaced = 0
    let entry = from
    while (entry !== NONE && displaced < most) {
      const next = entries.word(entry, NEXT)
      if (isInBacklog(entries, entry, endpoint.epoch)) {
        displaceEntry(entry)
        displaced++
      }
      entry = next
    }
    addToOldest(entries, endpoint, entry)
    return displaced
  }

  function displaceEntry(entry: number): void {
    if (entries.word(entry, PREVIOUS) === NONE) heads.detach(endpoint, entry)
    const head = lanes.remove(entry)
    entries.setNumber(entry, LANE, 0)
    entries.setWord(entry, PREVIOUS, NONE)
    entries.setWord(entry, NEXT, NONE)
    entries.setFlag(entry, IS_DISPLACED, true)
    heads.attach(endpoint, entry)
    if (head !== NONE) {
      entries.setNumber(head, DUE, Math.max(entries.number(head, DUE), now))
      heads.attach(endpoint, head)
    }
    onDisplaced(entry, head)
  }
}

/** The oldest of the lanes that an earlier search has found, if it still waits. */
function nextOldest({ entries, keys }: DisplacementDeps, endpoint: QueueEndpoint): number | undefined {
  for (;;) {
    const position = endpoint.oldest.pop()
    if (position === undefined) return undefined
    const entry = keys.find(endpoint.index, position)
    if (entry === NONE || !isInBacklog(entries, entry, endpoint.epoch)) continue
    const first = firstWaiting(entries, entry, endpoint)
    if (first === entry) return entry
    // An earlier event of the call has entered since, perhaps at a later position.
    addToOldest(entries, endpoint, first)
  }
}

/**
 * A delivery may be the first that waits in its lane now. If it is older than the newest lane that a search has found, it
 * is among those. Costs nothing for endpoints without such lanes.
 */
export function addToOldest(entries: Entries, endpoint: QueueEndpoint, entry: number): void {
  const { oldest } = endpoint
  if (oldest.length === 0 || entry === NONE || !isFirstWaiting(entries, entry, endpoint)) return
  const position = entries.number(entry, POSITION)
  if (position > oldest[0]!) return
  let index = oldest.length
  while (index > 0 && oldest[index - 1]! < position) index--
  if (oldest[index - 1] !== position) oldest.splice(index, 0, position)
}

/** Whether it waits, and nothing that waits is before it in its lane. */
function isFirstWaiting(entries: Entries, entry: number, { epoch }: QueueEndpoint): boolean {
  return isInBacklog(entries, entry, epoch) && waitingBefore(entries, entry, epoch) === NONE
}

function firstWaiting(entries: Entries, entry: number, { epoch }: QueueEndpoint): number {
  let first = entry
  for (let before = entry; before !== NONE; before = waitingBefore(entries, before, epoch)) first = before
  return first
}

/** The last of its lane that waits before an entry, perhaps before others that do not wait, or `NONE`. */
function waitingBefore(entries: Entries, entry: number, epoch: number): number {
  let before = entries.word(entry, PREVIOUS)
  while (before !== NONE && !isInBacklog(entries, before, epoch)) before = entries.word(before, PREVIOUS)
  return before
}

/** Finds the lanes with the oldest waiting deliveries; returns the oldest of all. */
function search(
  { entries, keys, heads, foundAhead }: DisplacementDeps,
  endpoint: QueueEndpoint,
  wanted: number,
): number | undefined {
  const found: number[] = []
  heads.forEach(endpoint, (head) => {
    let entry = head
    while (entry !== NONE && !isInBacklog(entries, entry, endpoint.epoch)) entry = entries.word(entry, NEXT)
    if (entry !== NONE) found.push(entries.number(entry, POSITION))
  })
  if (found.length === 0) return undefined
  const sorted = Float64Array.from(found).sort()
  const most = Math.max(wanted, Math.ceil(found.length * foundAhead))
  endpoint.oldest = Array.from(sorted.subarray(0, most)).reverse()
  return keys.find(endpoint.index, endpoint.oldest.pop()!)
}
