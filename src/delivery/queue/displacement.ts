/**
 * Displaces the oldest waiting deliveries of an endpoint that has more than its share: marks them, so that they are never
 * sent and the dispatcher ends them as `queue_full`. Never one that is taken.
 *
 * Calls go whole: a receiver that got a part of a call is worse off than one that gets it later, by a replay. The call
 * whose first waiting delivery is oldest goes first. A displaced delivery leaves its lane, so that many end at once.
 */
import {
  DUE,
  ENDPOINT,
  type Entries,
  EPOCH,
  IS_DISPLACED,
  IS_TAKEN,
  LANE,
  NEXT,
  NONE,
  POSITION,
  PREVIOUS,
} from './entries.js'
import type { Heads } from './heads.js'
import type { Lanes } from './lanes.js'
import type { QueueEndpoint } from './queue-endpoint.js'

/**
 * Deliveries of one lane that are displaced beyond the number that has to go. A longer lane is no call, and loses its
 * oldest deliveries only.
 */
export const MAX_REST_OF_CALL = 1_000
/** The part of its lanes that is found ahead: the next ones need no search. */
const FOUND_AHEAD = 1 / 100

/** Whether a delivery waits to be sent: it is neither taken, nor displaced, nor of an older epoch than its endpoint. */
export function isInBacklog(entries: Entries, entry: number, epoch: number): boolean {
  return !entries.hasFlag(entry, IS_TAKEN | IS_DISPLACED) && entries.word(entry, EPOCH) >= epoch
}

/**
 * Marks at least `count` deliveries, or all that wait.
 *
 * @param now store time, ms: the next of a lane is due then
 * @param onDisplaced called for each after it is marked
 */
export function displace(
  entries: Entries,
  heads: Heads,
  lanes: Lanes,
  endpoint: QueueEndpoint,
  count: number,
  now: number,
  onDisplaced: () => void,
): void {
  for (let left = count; left > 0; ) {
    const first = nextOldest(entries, endpoint) ?? search(entries, heads, endpoint, left)
    if (first === undefined) return
    left -= displaceLane(first, left)
  }

  function displaceLane(from: number, wanted: number): number {
    let displaced = 0
    for (let entry = from; entry !== NONE && displaced < wanted + MAX_REST_OF_CALL; ) {
      const next = entries.word(entry, NEXT)
      if (isInBacklog(entries, entry, endpoint.epoch)) {
        displaceEntry(entry)
        displaced++
      }
      entry = next
      if (displaced >= wanted + MAX_REST_OF_CALL) addToOldest(entries, endpoint, entry)
    }
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
    onDisplaced()
  }
}

/** The oldest of the lanes that an earlier search has found, if it still waits. */
function nextOldest(entries: Entries, endpoint: QueueEndpoint): number | undefined {
  const { oldest } = endpoint
  for (;;) {
    const entry = oldest.entries.pop()
    if (entry === undefined) return undefined
    const position = oldest.positions.pop()
    const isSame =
      entries.word(entry, ENDPOINT) === endpoint.index && entries.number(entry, POSITION) === position
    if (!isSame || !isInBacklog(entries, entry, endpoint.epoch)) continue
    if (firstWaiting(entries, entry, endpoint) === entry) return entry
    // An earlier event of the call has entered since, perhaps at a later position.
    addToOldest(entries, endpoint, entry)
  }
}

/**
 * A delivery may be the first that waits in its lane now. If it is older than the newest lane that a search has found, it
 * is among those. Costs nothing for endpoints without such lanes.
 */
export function addToOldest(entries: Entries, endpoint: QueueEndpoint, entry: number): void {
  const { oldest } = endpoint
  if (oldest.entries.length === 0 || entry === NONE || !isInBacklog(entries, entry, endpoint.epoch)) return
  const first = firstWaiting(entries, entry, endpoint)
  const position = entries.number(first, POSITION)
  if (position > oldest.positions[0]!) return
  let index = oldest.positions.length
  while (index > 0 && oldest.positions[index - 1]! < position) index--
  if (oldest.positions[index - 1] === position) return
  oldest.positions.splice(index, 0, position)
  oldest.entries.splice(index, 0, first)
}

function firstWaiting(entries: Entries, entry: number, { epoch }: QueueEndpoint): number {
  let first = entry
  for (;;) {
    const previous = entries.word(first, PREVIOUS)
    if (previous === NONE || !isInBacklog(entries, previous, epoch)) return first
    first = previous
  }
}

/** Finds the lanes with the oldest waiting deliveries; returns the oldest of all. */
function search(entries: Entries, heads: Heads, endpoint: QueueEndpoint, wanted: number): number | undefined {
  const found: number[] = []
  heads.forEach(endpoint, (head) => {
    let entry = head
    while (entry !== NONE && !isInBacklog(entries, entry, endpoint.epoch)) entry = entries.word(entry, NEXT)
    if (entry !== NONE) found.push(entry)
  })
  if (found.length === 0) return undefined
  const sorted = Float64Array.from(found, (entry) => entries.number(entry, POSITION)).sort()
  const most = Math.min(found.length, Math.max(wanted, Math.ceil(found.length * FOUND_AHEAD)))
  const newest = sorted[most - 1]!
  const oldest = found
    .filter((entry) => entries.number(entry, POSITION) <= newest)
    .sort((one, other) => entries.number(other, POSITION) - entries.number(one, POSITION))
  const first = oldest.pop()
  endpoint.oldest = {
    entries: oldest,
    positions: oldest.map((entry) => entries.number(entry, POSITION)),
  }
  return first
}
