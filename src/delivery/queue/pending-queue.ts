/**
 * The queue of one node: its waiting and taken deliveries, in memory. Decides what may be sent next; sends, reads and
 * writes nothing.
 *
 * Theory of operation
 *
 * - Every delivery, waiting or taken, has one entry of 64 bytes (`entries.ts`), found by webhook and position. A
 *   `QueuedDelivery`, the object with the content, belongs to an entry only while its content is in memory; a taken
 *   delivery always has one. `QueuedDelivery.entry` is set exactly while the queue refers to the object.
 * - The entries of a lane are a linked list in the order of sending (`lanes.ts`). Its first entry is the head; a delivery
 *   that has its lane to itself is always a head. Only heads are taken, requested or due, and a taken head stays the head
 *   until it has ended. When a head goes, the next becomes the head and is due.
 * - Every head is in exactly one heap of its endpoint (`heads.ts`). Other entries are in none.
 * - A delivery of an older epoch than its endpoint is stale: it is never sent. It is found when it is a head; a taken one
 *   becomes stale when it waits again. So is one that was displaced because its webhook, its account or all have more
 *   than their share (`shares.ts`, `displacement.ts`). `takeStale` hands out stale heads, so that the caller ends them.
 * - Contents that were dropped or never read are requested for heads that may be sent soon (`content-requests.ts`).
 * - An endpoint with nothing waiting or taken is idle; the queue forgets those that are idle longest.
 *
 * After a crash, the queue is built again from the rows of the store (`load`). Rows that are known already are skipped, so a
 * row that arrives by several ways is in the queue once.
 */
import { isFailing, isOvertaken } from '../../webhooks/health.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { TEST_LANE } from '../delivery-queries.js'
import type { DeliveryContent, ReadyEndpoint, Settlement } from '../delivery-store.js'
import { laneKey } from '../lane-key.js'
import { Pace } from '../pace.js'
import { positionAt, positionMs } from '../positions.js'
import type { DeliveryKey, WaitingDeliveries } from '../queue-store.js'
import { ContentRequests } from './content-requests.js'
import { Contents } from './contents.js'
import { addToOldest, displace, FOUND_AHEAD, isInBacklog } from './displacement.js'
import { EndpointTable } from './endpoint-table.js'
import {
  ATTEMPTS,
  CONTENT,
  DUE,
  ENDPOINT,
  Entries,
  EPOCH,
  IS_DISPLACED,
  IS_LIVE,
  IS_REQUESTED,
  IS_TAKEN,
  LANE,
  NEXT,
  NONE,
  POSITION,
  PREVIOUS,
  SEQUENCE,
} from './entries.js'
import type { EntryHeap } from './entry-heap.js'
import { HashIndex } from './hash-index.js'
import { Heads, LIVE, LIVE_MS, MISSING, OLD, STALE } from './heads.js'
import { Lanes } from './lanes.js'
import { Patience } from './patience.js'
import type { QueueEndpoint } from './queue-endpoint.js'
import { QueuedDelivery } from './queued-delivery.js'
import { accountLimit, type GiveUp, type QueueLimits, type ShareLimit, Shares } from './shares.js'

/** What is known of a waiting or taken delivery. */
interface QueuePosition {
  readonly isTaken: boolean
  /** Store time, ms, at which it is due; `undefined`: it is taken, or not the head of its lane. */
  readonly dueMs: number | undefined
  /** Deliveries before it in its lane; those beyond 1,000 are not counted. */
  readonly ahead: number
}

/** What a webhook may get besides its events. */
export interface QueueRoom {
  /** Deliveries that wait for it. */
  readonly waiting: number
  /** How many deliveries the endpoint can take until half of its limit, of its account's limit or of the total is used. */
  readonly spare: number
}

/** The state of the queue, for metrics. */
export interface QueueSummary {
  /** Endpoints in memory: with deliveries, and idle ones. */
  readonly endpoints: number
  /** Time since the oldest delivery was accepted or replayed, of the accounts that are not held, ms; 0: there is none. */
  readonly oldestPendingMs: number
  /** The same of the accounts that are held. */
  readonly oldestHeldMs: number
  /** The part of its limit that the account with the most deliveries uses, 0 to 1. */
  readonly largestAccountRatio: number
}

/** The waiting and taken deliveries of one node. Times are store time, ms. */
export interface PendingQueue {
  /** Waiting and taken deliveries. */
  readonly size: number
  /** Bytes of entries, indexes and heaps: all that a delivery costs whose content is not in memory. */
  readonly bytes: number
  /** Deliveries that wait and whose content is in memory. */
  readonly waitingContents: number
  /**
   * Whether the content of the next delivery of an endpoint stays in memory: while that of fewer than `maxContents` waiting ones
   * does, and, for an account with few of them, of half as many more. A backlog must not make others read the store.
   */
  keepsContent(endpoint: QueueEndpoint): boolean
  /** Whether `takeStale` would return a delivery. */
  readonly hasStale: boolean
  /** Displaced deliveries that wait for their end. */
  readonly displaced: number
  /** `undefined`: unknown, or evicted because nothing was pending for a long time. */
  endpoint(webhookId: string): QueueEndpoint | undefined
  endpoints(): Iterable<QueueEndpoint>
  /** @param maxTotal as in `trim` */
  room(webhookId: string, accountId: string, maxTotal: number): QueueRoom
  /**
   * Adds an endpoint, or replaces its webhook, unless the known row has a higher revision. A higher epoch makes the older
   * deliveries stale: `take` never returns them. The health of the row is used as it is.
   */
  setWebhook(webhook: Webhook): QueueEndpoint
  /**
   * Adds a delivery that this node accepted: into its lane by sequence number, then position. As the head of its lane it
   * is due at `now`. Its content stays in memory if `keepsContent`, or if it is a test. False: its key is known already.
   */
  add(delivery: QueuedDelivery, now: number): boolean
  /** The sequence number of a taken delivery, which was added without one, is known. */
  setSequence(delivery: QueuedDelivery): void
  /**
   * Adds waiting deliveries from the store, except those whose keys are known. Their endpoints were set by `setWebhook`. The
   * order of a lane is that of sequence numbers, or positions where there are none, in whatever order they arrive; only a
   * taken head stays the head. Returns the endpoints that changed.
   */
  load(rows: WaitingDeliveries, now: number): readonly QueueEndpoint[]
  /**
   * Takes up to `slots` due heads of the current epoch whose content is in memory. Live ones (first attempts within 10 s of
   * the acceptance) get half of the slots, older ones the rest, and an odd slot in turns; either kind uses what the other
   * leaves. The oldest due first in each kind. Does not look at the pause of the endpoint.
   *
   * @param maxOld how many older ones may be taken
   */
  take(endpoint: QueueEndpoint, slots: number, now: number, maxOld?: number): QueuedDelivery[]
  /** Takes one due head to probe its endpoint: a test, otherwise the one that was sent, or accepted, least recently. */
  takeProbe(endpoint: QueueEndpoint, now: number): QueuedDelivery[]
  /** Whether the lane of a delivery goes on although an earlier one, or this one, has failed and not ended. */
  isOutOfOrder(delivery: QueuedDelivery): boolean
  /** A taken delivery was not sent: it waits again as the head of its lane until `dueMs`, or as long as before. */
  putBack(delivery: QueuedDelivery, dueMs?: number): void
  /** A taken delivery failed and is retried: it waits as the head of its lane until `next.dueMs`, with these counters. */
  retry(delivery: QueuedDelivery, next: Settlement['next']): void
  /** A taken or waiting delivery has ended. The next of its lane becomes due at `now`. */
  end(delivery: QueuedDelivery, now: number): void
  /**
   * Removes a delivery wherever it is. Returns its object if it was taken: the queue ignores what `putBack`, `retry` and
   * `end` say about it afterwards. The next of its lane becomes due at `now`.
   */
  remove(key: DeliveryKey, now: number): QueuedDelivery | undefined
  /** Replaces the counters and the due time of a waiting delivery. False: it is unknown or taken. */
  update(key: DeliveryKey, next: Settlement['next']): boolean
  /** Makes the heads that wait for a retry due at `now`. */
  makeRetriesDue(endpoint: QueueEndpoint, now: number): void
  /**
   * Makes all heads due, in the order in which they were accepted: the endpoint is not paused any more. Lanes wait for heads
   * that failed before.
   */
  resume(endpoint: QueueEndpoint, now: number): void
  /**
   * Up to `limit` deliveries whose content is needed next, in turns over the endpoints: heads that are due and not paused,
   * and stale heads. Marks them as requested, until `fill` or `unrequest`.
   */
  missing(limit: number, now: number): DeliveryKey[]
  /** When `missing` has something to return, or earlier; `undefined`: not before another call. */
  nextMissingMs(): number | undefined
  /** The contents that were requested; `undefined` removes the delivery. Returns the endpoints that changed. */
  fill(
    keys: readonly DeliveryKey[],
    contents: readonly (DeliveryContent | undefined)[],
    now: number,
  ): readonly QueueEndpoint[]
  /** The contents could not be read: they may be requested again. */
  unrequest(keys: readonly DeliveryKey[]): void
  /**
   * Takes up to `limit` heads that are displaced or of older epochs, and whose content is in memory, each once until
   * `putBack`. The caller ends them; after `end`, the next of the lane follows.
   */
  takeStale(limit: number): QueuedDelivery[]
  /**
   * Displaces what is above a limit: the oldest deliveries of the webhook that has too many, or of those that have the
   * largest backlogs of their account, or of all. Only what entered since the last call can be too much.
   *
   * @param maxTotal deliveries that may wait here: the part of `maxPending` that other nodes leave
   * @param onDisplaced called for each webhook, with the number of deliveries and the limit
   */
  trim(maxTotal: number, now: number, onDisplaced: GiveUp): void
  /** The limits have changed: `trim` looks at all endpoints. */
  limitsChanged(): void
  /** Drops all waiting deliveries of these shards. Taken ones stay until `end`, `retry` or `remove`. */
  dropShards(shards: readonly number[] | 'all'): void
  /**
   * Forgets the idle endpoints of these shards: their webhooks may have changed unnoticed. Those
   * whose health is newer than in the store stay.
   */
  forgetIdle(shards: readonly number[] | 'all'): void
  /** The next row of each webhook replaces the known one, whatever their revisions and epochs: edits may have been lost. */
  forgetRevisions(): void
  /**
   * The due time of the earliest head whose content is in memory or can be requested, not before the end of the pause of
   * the endpoint. `dueMs` undefined: nothing waits, or only heads whose content is on its way, or its account is held.
   */
  ready(endpoint: QueueEndpoint): ReadyEndpoint
  /**
   * Visits each endpoint, and some heads: where many deliveries end at the same time, the oldest that is left may appear older
   * than it is.
   */
  summary(now: number): QueueSummary
  /** All waiting and taken deliveries: column by column, since there may be a million. */
  keys(): { readonly endpoints: readonly QueueEndpoint[]; readonly positions: Float64Array }
  /** `undefined`: the delivery neither waits nor is taken. */
  position(key: DeliveryKey): QueuePosition | undefined
}

interface PendingQueueOptions {
  /** Contents of waiting deliveries from which on `add` keeps those of accounts with few alone. */
  readonly maxContents: number
  /** The shard of a webhook, 0–63. */
  readonly shardOf: (webhookId: string) => number
  /** Secret seed of the hash tables, so that ids of calls that collide cannot be constructed. */
  readonly hashSeed?: number
  /** How many deliveries may wait; read at each use. */
  readonly limits: QueueLimits
  /** The part of an endpoint's lanes that one search for the oldest finds ahead. Default 1/100. */
  readonly foundAhead?: number
  /** How long a lane waits for a head that fails while others are taken, from its first failure, ms. Default 60,000. */
  readonly patienceMs?: number
  /** Requests a second that a webhook allows at most. Default: no limit. */
  readonly rateLimitOf?: (webhook: Webhook) => number | undefined
  /** Whether nothing may be sent for the webhooks of an account; read at each use. Default: none is held. */
  readonly isHeld?: ((accountId: string) => boolean) | undefined
}

/** Lanes, and deliveries of each, among which one call looks for a kind that was not rejected. */
const MAX_LANES_SEARCHED = 64
const MAX_FOLLOWERS_SEARCHED = 8
/** Deliveries that are live no more, and that one call moves. */
const MAX_AGED_AT_ONCE = 100

/** Part of `maxContents`: an account with fewer waiting deliveries has few. */
const FEW = 1 / 32

/** Heads after which `summary` looks for no other oldest delivery. */
const MAX_VISITED = 20_000
/** Deliveries that `position` counts before another. */
const MAX_COUNTED_AHEAD = 1_000
const NEVER = Number.POSITIVE_INFINITY

/** Creates an empty queue. */
export function createPendingQueue(options: PendingQueueOptions): PendingQueue {
  const {
    maxContents,
    shardOf,
    hashSeed = 0,
    foundAhead = FOUND_AHEAD,
    patienceMs = 60_000,
    rateLimitOf,
    isHeld,
  } = options
  const entries = new Entries()
  const keys = new HashIndex(entries, POSITION, hashSeed)
  const tails = new HashIndex(entries, LANE, ~hashSeed)
  const lanes = new Lanes(entries, tails)
  const contents = new Contents()
  const heads = new Heads(entries)
  const requests = new ContentRequests(entries, heads, () => waitingContents >= maxContents)
  const table = new EndpointTable(shardOf)
  const shares = new Shares(options.limits)
  /** Displaced deliveries that wait for their end. */
  let displaced = 0
  /** Deliveries that wait and whose content is in memory. */
  let waitingContents = 0

  function keepsContent({ account }: QueueEndpoint): boolean {
    if (waitingContents < maxContents) return true
    return account.backlog < Math.floor(maxContents * FEW) && waitingContents < maxContents * 1.5
  }

  /** To be called once the entries of an endpoint, its webhook or what is taken of it have changed. */
  function refresh(endpoint: QueueEndpoint): void {
    const isIdle = endpoint.waiting === 0 && endpoint.taken === 0
    if (!isIdle) table.setActive(endpoint)
    requests.update(endpoint)
    if (isIdle) table.setIdle(endpoint)
  }

  /** Gives the waiting heads that match another due time. */
  function reschedule(
    endpoint: QueueEndpoint,
    isMatch: (entry: number) => boolean,
    dueMsOf: (entry: number) => number,
  ): void {
    const matching: number[] = []
    heads.forEach(endpoint, (entry) => {
      if (!isTaken(entry) && isMatch(entry)) matching.push(entry)
    })
    for (const entry of matching) {
      heads.detach(endpoint, entry)
      const dueMs = dueMsOf(entry)
      entries.setNumber(entry, DUE, dueMs)
      heads.attach(endpoint, entry)
      const slot = entries.word(entry, CONTENT)
      if (slot !== NONE) contents.get(slot).dueMs = dueMs
    }
    refresh(endpoint)
  }

  /**
   * Times since the oldest deliveries were accepted, ms: of those that are held, and of the others. Corrects the lower bounds that
   * could be the lowest. One pass, without sorting: a scrape holds up nothing.
   */
  function agesOfOldest(now: number): { readonly pending: number; readonly held: number } {
    const lowest = { pending: positionAt(now), held: positionAt(now) }
    let visited = 0
    for (const endpoint of table.all()) {
      if (endpoint.waiting + endpoint.taken === 0) continue
      const kind = isHeld?.(endpoint.webhook.accountId) ? 'held' : 'pending'
      if (endpoint.lowestPosition >= lowest[kind]) continue
      if (keys.find(endpoint.index, endpoint.lowestPosition) === NONE && visited < MAX_VISITED) {
        endpoint.lowestPosition = Number.POSITIVE_INFINITY
        heads.forEach(endpoint, (head) => {
          visited++
          endpoint.lowestPosition = Math.min(endpoint.lowestPosition, entries.number(head, POSITION))
        })
      }
      lowest[kind] = Math.min(lowest[kind], endpoint.lowestPosition)
    }
    const ageOf = (position: number) => Math.max(0, now - positionMs(position))
    return { pending: ageOf(lowest.pending), held: ageOf(lowest.held) }
  }

  function find({ webhookId, position }: DeliveryKey): number {
    const endpoint = table.find(webhookId)
    return endpoint ? keys.find(endpoint.index, position) : NONE
  }

  const endpointOf = (entry: number) => table.at(entries.word(entry, ENDPOINT))
  const isHead = (entry: number) => entries.word(entry, PREVIOUS) === NONE
  const isTaken = (entry: number) => entries.hasFlag(entry, IS_TAKEN)

  /** The entry of a delivery that is taken; `NONE`: it was removed. */
  function takenEntry({ entry }: QueuedDelivery): number {
    return entry >= 0 && isTaken(entry) ? entry : NONE
  }

  /**
   * The entry whose content is on its way. `NONE`: it was dropped meanwhile, and perhaps loaded again; then what is read may
   * be older than its row.
   */
  function requestedEntry(key: DeliveryKey): number {
    const entry = find(key)
    const isRequested =
      entry !== NONE && entries.hasFlag(entry, IS_REQUESTED) && entries.word(entry, CONTENT) === NONE
    return isRequested ? entry : NONE
  }

  /** Puts a new entry where it belongs. False: there is one with the same key, and this one is freed. */
  function insert(
    endpoint: QueueEndpoint,
    entry: number,
    epoch: number,
    content: QueuedDelivery | undefined,
  ): boolean {
    if (!keys.add(entry)) {
      entries.free(entry)
      return false
    }
    if (epoch > endpoint.newestEpoch) endpoint.newestEpoch = epoch
    endpoint.waiting++
    endpoint.lowestPosition = Math.min(endpoint.lowestPosition, entries.number(entry, POSITION))
    if (epoch >= endpoint.epoch) shares.enter(endpoint)
    if (content) attachContent(entry, content)
    if (entries.failedMs(entry) !== undefined && lanes.isOvertaken(entry)) {
      // It had left its lane when it was dropped.
      endpoint.patience ??= new Patience()
      endpoint.patience.leave(entries.number(entry, POSITION), entries.number(entry, LANE))
      entries.setNumber(entry, LANE, 0)
    }
    const formerHead = lanes.insert(entry)
    if (formerHead !== NONE) {
      heads.detach(endpoint, formerHead)
      endpoint.patience?.remove(entries.number(formerHead, POSITION))
    }
    if (isHead(entry)) {
      heads.attach(endpoint, entry)
      setPatience(endpoint, entry)
    }
    addToOldest(entries, endpoint, entry)
    return true
  }

  function removeEntry(entry: number, now: number): void {
    const endpoint = endpointOf(entry)
    if (isHead(entry)) heads.detach(endpoint, entry)
    const nextHead = lanes.remove(entry)
    freeEntry(endpoint, entry)
    if (nextHead !== NONE) promote(endpoint, nextHead, now)
    refresh(endpoint)
    table.evictIdle()
  }

  /** A delivery waits, or waits no more; it is not marked as taken. */
  function countWaiting(endpoint: QueueEndpoint, entry: number, by: 1 | -1): void {
    endpoint.waiting += by
    if (isInBacklog(entries, entry, endpoint.epoch)) shares.add(endpoint, by)
    else if (entries.hasFlag(entry, IS_DISPLACED)) {
      endpoint.displaced += by
      displaced += by
    }
  }

  /** The epoch of an endpoint has changed: another part of its deliveries waits to be sent. */
  function recount(endpoint: QueueEndpoint): void {
    let backlog = 0
    // Those of older epochs than all that are in the queue are none.
    if (endpoint.newestEpoch >= endpoint.epoch)
      heads.forEach(endpoint, (head) => {
        for (let entry = head; entry !== NONE; entry = entries.word(entry, NEXT))
          if (isInBacklog(entries, entry, endpoint.epoch)) backlog++
      })
    shares.add(endpoint, backlog - endpoint.backlog)
  }

  /** Moves what was accepted too long ago from the live heads to the older ones. */
  function age(endpoint: QueueEndpoint, limit: number, now: number): void {
    for (const kind of [LIVE, LIVE + MISSING]) {
      for (let left = limit; left > 0; left--) {
        const entry = heads.of(endpoint, kind).first
        if (entry === NONE || positionMs(entries.number(entry, POSITION)) >= now - LIVE_MS) break
        heads.detach(endpoint, entry)
        entries.setFlag(entry, IS_LIVE, false)
        heads.attach(endpoint, entry)
      }
    }
  }

  /** The head of its lane has gone: this one follows. */
  function promote(endpoint: QueueEndpoint, entry: number, now: number): void {
    entries.setNumber(entry, DUE, Math.max(entries.number(entry, DUE), now))
    if (positionMs(entries.number(entry, POSITION)) < now - LIVE_MS) entries.setFlag(entry, IS_LIVE, false)
    heads.attach(endpoint, entry)
    addToOldest(entries, endpoint, entry)
    setPatience(endpoint, entry)
  }

  /** An entry is the head of its lane now, or the time of its first failure has changed: its lane waits if it has failed. */
  function setPatience(endpoint: QueueEndpoint, entry: number): void {
    const failedMs = entries.failedMs(entry)
    const position = entries.number(entry, POSITION)
    if (endpoint.patience?.failedMs(position) === failedMs) return
    endpoint.patience?.remove(position)
    const lane = entries.number(entry, LANE)
    if (failedMs === undefined || lane === 0) return
    endpoint.patience ??= new Patience()
    const untilMs = endpoint.patience.isLeft(lane) ? failedMs : failedMs + patienceMs
    endpoint.patience.add(entry, position, failedMs, untilMs)
  }

  /** The first delivery for which its lane waits, and need not while the receiver takes others. */
  function firstPatient(endpoint: QueueEndpoint) {
    const { patience, webhook } = endpoint
    const first = patience?.first
    if (!first || webhook.settings.ordering === 'strict') return undefined
    return isOvertaken(webhook.health, first.failedMs) ? first : undefined
  }

  /**
   * A delivery of a kind that was not rejected, behind a rejected head. Without it, a receiver that takes only some kinds of
   * events would never get them. `NONE`: there is none among the first lanes.
   */
  function untriedFollower(endpoint: QueueEndpoint): number {
    const { rejectedHooks, webhook } = endpoint
    if (webhook.settings.ordering === 'strict') return NONE
    const heap = heads.of(endpoint, OLD)
    for (let index = 0; rejectedHooks && index < Math.min(heap.length, MAX_LANES_SEARCHED); index++) {
      let entry = entries.word(heap.at(index), NEXT)
      for (let left = MAX_FOLLOWERS_SEARCHED; entry !== NONE && left > 0; left--) {
        const slot = entries.word(entry, CONTENT)
        const isWanted = slot !== NONE && !rejectedHooks.has(contents.get(slot).hook)
        if (isWanted && isInBacklog(entries, entry, endpoint.epoch)) return entry
        entry = entries.word(entry, NEXT)
      }
    }
    return NONE
  }

  /** A delivery that follows another one goes before it. */
  function leaveLane(endpoint: QueueEndpoint, entry: number): void {
    endpoint.patience ??= new Patience()
    endpoint.patience.leave(entries.number(entry, POSITION), entries.number(entry, LANE))
    lanes.remove(entry)
    entries.setNumber(entry, LANE, 0)
    entries.setWord(entry, PREVIOUS, NONE)
    entries.setWord(entry, NEXT, NONE)
    heads.attach(endpoint, entry)
  }

  /** Lets the lanes go on that have waited long enough. */
  function endPatience(endpoint: QueueEndpoint, now: number): void {
    for (let first = firstPatient(endpoint); first && first.dueMs <= now; first = firstPatient(endpoint)) {
      const { entry, position } = first
      endpoint.patience!.leave(position, entries.number(entry, LANE))
      heads.detach(endpoint, entry)
      const nextHead = lanes.remove(entry)
      entries.setNumber(entry, LANE, 0)
      entries.setWord(entry, NEXT, NONE)
      heads.attach(endpoint, entry)
      if (nextHead !== NONE) promote(endpoint, nextHead, now)
    }
  }

  /** The waiting test that is due first; `NONE`: there is none. */
  function testHead(endpoint: QueueEndpoint): number {
    let first: number = NONE
    for (const position of endpoint.tests) {
      const entry = keys.find(endpoint.index, position)
      if (entries.word(entry, CONTENT) === NONE || !isInBacklog(entries, entry, endpoint.epoch)) continue
      if (first === NONE || entries.number(entry, DUE) < entries.number(first, DUE)) first = entry
    }
    return first
  }

  /** The due head that was sent, or accepted, least recently; `NONE`: there is none. */
  function probeHead(endpoint: QueueEndpoint, now: number): number {
    const live = heads.of(endpoint, LIVE)
    const old = heads.of(endpoint, OLD)
    const heap = heads.dueMs(live) < heads.dueMs(old) ? live : old
    return heads.isDue(heap, now) ? heap.first : NONE
  }

  /** Frees an entry that is in no heap and no lane. */
  function freeEntry(endpoint: QueueEndpoint, entry: number): void {
    const position = entries.number(entry, POSITION)
    if (endpoint.patience) {
      endpoint.patience.ended(position)
      if (endpoint.patience.isEmpty) endpoint.patience = undefined
    }
    forgetTest(endpoint, position)
    if (isTaken(entry)) {
      endpoint.taken--
      forgetContent(entry)
    } else {
      countWaiting(endpoint, entry, -1)
      if (entries.word(entry, CONTENT) !== NONE) {
        waitingContents--
        forgetContent(entry)
      }
      clearRequest(endpoint, entry)
    }
    keys.delete(entry)
    entries.free(entry)
  }

  function forgetContent(entry: number): void {
    const slot = entries.word(entry, CONTENT)
    contents.get(slot).entry = -1
    contents.delete(slot)
    entries.setWord(entry, CONTENT, NONE)
  }

  function clearRequest(endpoint: QueueEndpoint, entry: number): void {
    if (!entries.hasFlag(entry, IS_REQUESTED)) return
    entries.setFlag(entry, IS_REQUESTED, false)
    endpoint.requested--
  }

  function attachContent(entry: number, delivery: QueuedDelivery): void {
    delivery.entry = entry
    entries.setWord(entry, CONTENT, contents.add(delivery))
    waitingContents++
  }

  /** Marks a waiting head, whose content is in memory, as taken. */
  function markTaken(endpoint: QueueEndpoint, entry: number): void {
    heads.detach(endpoint, entry)
    clearRequest(endpoint, entry)
    countWaiting(endpoint, entry, -1)
    entries.setFlag(entry, IS_TAKEN, true)
    heads.attach(endpoint, entry)
    addToOldest(entries, endpoint, entries.word(entry, NEXT))
    waitingContents--
    endpoint.taken++
  }

  const takeFirst = (endpoint: QueueEndpoint, heap: EntryHeap) => takeEntry(endpoint, heap.first)

  function takeEntry(endpoint: QueueEndpoint, entry: number): QueuedDelivery {
    markTaken(endpoint, entry)
    const delivery = contents.get(entries.word(entry, CONTENT))
    delivery.state = 'in_flight'
    if (delivery.dueMs !== undefined) delivery.dueMs = undefined
    return delivery
  }

  function takeDue(
    endpoint: QueueEndpoint,
    kind: number,
    limit: number,
    now: number,
    taken: QueuedDelivery[],
  ): void {
    const heap = heads.of(endpoint, kind)
    while (taken.length < limit && heads.isDue(heap, now)) taken.push(takeFirst(endpoint, heap))
  }

  /** A taken delivery waits again. Its content is dropped if those of `maxKept` waiting deliveries are in memory. */
  function waitAgain(delivery: QueuedDelivery, dueMs: number, maxKept: number): void {
    const { entry } = delivery
    const endpoint = endpointOf(entry)
    heads.detach(endpoint, entry)
    entries.setFlag(entry, IS_TAKEN, false)
    if (delivery.attempts > 0) entries.setFlag(entry, IS_LIVE, false)
    entries.setNumber(entry, DUE, dueMs)
    entries.setCounters(entry, delivery.attempts, delivery.tries, delivery.interruptions)
    entries.setFailedMs(entry, delivery.failedMs)
    delivery.state = 'waiting'
    delivery.dueMs = dueMs
    if (waitingContents < maxKept) waitingContents++
    else forgetContent(entry)
    endpoint.taken--
    countWaiting(endpoint, entry, 1)
    heads.attach(endpoint, entry)
    addToOldest(entries, endpoint, entry)
    refresh(endpoint)
  }

  function setNext(delivery: QueuedDelivery, next: Settlement['next']): void {
    delivery.attempts = next.attempts
    delivery.tries = next.tries
    delivery.interruptions = next.interruptions
    delivery.reason = next.reason
    delivery.failedMs = next.failedMs
  }

  /** Frees the entries of a lane from one on, which is no head. */
  function dropFollowers(endpoint: QueueEndpoint, from: number): void {
    for (let entry = from; entry !== NONE; ) {
      const next = entries.word(entry, NEXT)
      lanes.remove(entry)
      freeEntry(endpoint, entry)
      entry = next
    }
  }

  function dropWaiting(endpoint: QueueEndpoint): void {
    const all: number[] = []
    heads.forEach(endpoint, (entry) => all.push(entry))
    endpoint.oldest = []
    // From the end: the last entry of a heap leaves it at once.
    for (const entry of all.reverse()) {
      dropFollowers(endpoint, entries.word(entry, NEXT))
      if (isTaken(entry)) continue
      heads.detach(endpoint, entry)
      lanes.remove(entry)
      freeEntry(endpoint, entry)
    }
    refresh(endpoint)
  }

  /** The same for all endpoints, without looking at each entry. */
  function dropAllWaiting(): void {
    const taken: { delivery: QueuedDelivery; lane: number; dueMs: number; isDisplaced: boolean }[] = []
    for (const endpoint of table.all())
      heads.forEachTaken(endpoint, (entry) => {
        taken.push({
          delivery: contents.get(entries.word(entry, CONTENT)),
          lane: entries.number(entry, LANE),
          dueMs: entries.number(entry, DUE),
          isDisplaced: entries.hasFlag(entry, IS_DISPLACED),
        })
      })
    contents.clear()
    for (const part of [entries, keys, tails]) part.clear()
    waitingContents = displaced = 0
    shares.clear(table.all())
    for (const endpoint of table.all()) {
      heads.clear(endpoint)
      endpoint.displaced = 0
      endpoint.oldest = []
      endpoint.tests = []
      endpoint.patience = undefined
      endpoint.waiting = 0
      endpoint.taken = 0
      endpoint.requested = 0
    }
    for (const { delivery, lane, dueMs, isDisplaced } of taken) {
      const { endpoint, position, sequence, epoch, attempts, tries, interruptions } = delivery
      const entry = entries.allocate(endpoint.index, sequence, epoch, attempts, tries, interruptions)
      entries.setNumber(entry, POSITION, position)
      entries.setNumber(entry, LANE, lane)
      entries.setNumber(entry, DUE, dueMs)
      entries.setFailedMs(entry, delivery.failedMs)
      insert(endpoint, entry, epoch, delivery)
      markTaken(endpoint, entry)
      entries.setFlag(entry, IS_DISPLACED, isDisplaced)
    }
    for (const endpoint of table.all()) refresh(endpoint)
  }

  /** A test that was tried waits as any other delivery. */
  function forgetTest(endpoint: QueueEndpoint, position: number): void {
    if (endpoint.tests.length > 0) endpoint.tests = endpoint.tests.filter((other) => other !== position)
  }

  return {
    get size() {
      return entries.size
    },
    get bytes() {
      let sum = entries.bytes + keys.bytes + tails.bytes
      for (const endpoint of table.all()) sum += heads.bytes(endpoint)
      return sum
    },
    get waitingContents() {
      return waitingContents
    },
    keepsContent,
    get displaced() {
      return displaced
    },
    get hasStale() {
      return heads.staleEndpoint() !== undefined
    },
    endpoint: (webhookId) => table.find(webhookId),
    endpoints: () => table.all(),
    room(webhookId, accountId, maxTotal) {
      const waiting = table.find(webhookId)?.backlog ?? 0
      return { waiting, spare: shares.spare(waiting, table.backlogOf(accountId), maxTotal) }
    },
    setWebhook(webhook) {
      const endpoint = table.set(webhook)
      if (webhook.epoch > endpoint.epoch) {
        heads.raiseEpoch(endpoint, webhook.epoch)
        recount(endpoint)
      }
      refresh(endpoint)
      return endpoint
    },
    add(delivery, now) {
      const endpoint = table.restore(delivery.endpoint)
      const { sequence, epoch, attempts, tries, interruptions } = delivery
      const entry = entries.allocate(endpoint.index, sequence, epoch, attempts, tries, interruptions)
      entries.setNumber(entry, POSITION, delivery.position)
      entries.setNumber(entry, LANE, laneKey(delivery.lane))
      entries.setNumber(entry, DUE, now)
      entries.setFailedMs(entry, delivery.failedMs)
      if (attempts === 0 && delivery.replayOf === undefined) entries.setFlag(entry, IS_LIVE, true)
      const isTest = delivery.lane.startsWith(TEST_LANE)
      const content = isTest || keepsContent(endpoint) ? delivery : undefined
      if (!insert(endpoint, entry, epoch, content)) return false
      if (isTest) endpoint.tests.push(delivery.position)
      age(endpoint, 2, now)
      delivery.endpoint = endpoint
      refresh(endpoint)
      return true
    },
    setSequence(delivery) {
      const entry = takenEntry(delivery)
      if (entry !== NONE) entries.setWord(entry, SEQUENCE, delivery.sequence)
    },
    load(rows, now) {
      const endpoints = rows.webhookIds.map((id) => {
        const endpoint = table.find(id)
        if (!endpoint) throw new Error(`webhookIds: the webhook ${id} was not set before its deliveries`)
        return endpoint
      })
      const changed = new Set<QueueEndpoint>()
      for (let row = 0; row < rows.count; row++) {
        const endpoint = endpoints[rows.webhook[row]!]!
        const epoch = rows.epoch[row]!
        const entry = entries.allocate(
          endpoint.index,
          rows.sequence[row]!,
          epoch,
          rows.attempts[row]!,
          rows.tries[row]!,
          rows.interruptions[row]!,
        )
        entries.setNumber(entry, POSITION, rows.position[row]!)
        entries.setNumber(entry, LANE, rows.lane[row]!)
        entries.setNumber(entry, DUE, rows.dueMs[row]! || now)
        entries.setFailedMs(entry, rows.failedMs[row]!)
        if (!insert(endpoint, entry, epoch, undefined)) continue
        changed.add(endpoint)
      }
      for (const endpoint of changed) refresh(endpoint)
      return [...changed]
    },
    take(endpoint, slots, now, maxOld = slots) {
      const taken: QueuedDelivery[] = []
      const { oldFirst } = endpoint
      if (slots % 2 === 1) endpoint.oldFirst = !oldFirst
      endPatience(endpoint, now)
      age(endpoint, MAX_AGED_AT_ONCE, now)
      takeDue(endpoint, LIVE, oldFirst ? slots >> 1 : (slots + 1) >> 1, now, taken)
      takeDue(endpoint, OLD, Math.min(slots, taken.length + maxOld), now, taken)
      takeDue(endpoint, LIVE, slots, now, taken)
      refresh(endpoint)
      return taken
    },
    takeProbe(endpoint, now) {
      endPatience(endpoint, now)
      let entry = testHead(endpoint)
      if (entry === NONE || entries.number(entry, DUE) > now) {
        entry = endpoint.webhook.health?.pause?.kind === 'rejected' ? untriedFollower(endpoint) : NONE
        if (entry === NONE) entry = probeHead(endpoint, now)
        else leaveLane(endpoint, entry)
      }
      const taken = entry === NONE ? [] : [takeEntry(endpoint, entry)]
      refresh(endpoint)
      return taken
    },
    isOutOfOrder({ entry, endpoint: { patience }, position }) {
      if (!patience || entry < 0) return false
      return patience.hasLeft(position) || patience.isLeft(entries.number(entry, LANE))
    },
    putBack(delivery, dueMs) {
      const entry = takenEntry(delivery)
      if (entry !== NONE) waitAgain(delivery, dueMs ?? entries.number(entry, DUE), maxContents)
    },
    retry(delivery, next) {
      const entry = takenEntry(delivery)
      if (entry === NONE) return
      forgetTest(endpointOf(entry), delivery.position)
      setNext(delivery, next)
      // Retries may wait for a long time: half of the contents are for deliveries that are sent soon.
      waitAgain(delivery, next.dueMs ?? 0, Math.ceil(maxContents / 2))
      setPatience(endpointOf(entry), entry)
    },
    end(delivery, now) {
      if (delivery.entry >= 0) removeEntry(delivery.entry, now)
    },
    remove(key, now) {
      const entry = find(key)
      if (entry === NONE) return undefined
      const delivery = isTaken(entry) ? contents.get(entries.word(entry, CONTENT)) : undefined
      removeEntry(entry, now)
      return delivery
    },
    update(key, next) {
      const entry = find(key)
      if (entry === NONE || isTaken(entry)) return false
      const endpoint = endpointOf(entry)
      if (isHead(entry)) heads.detach(endpoint, entry)
      entries.setCounters(entry, next.attempts, next.tries, next.interruptions)
      entries.setFailedMs(entry, next.failedMs)
      entries.setNumber(entry, DUE, next.dueMs ?? 0)
      const slot = entries.word(entry, CONTENT)
      if (slot !== NONE) setNext(contents.get(slot), next)
      if (isHead(entry)) {
        heads.attach(endpoint, entry)
        setPatience(endpoint, entry)
      }
      refresh(endpoint)
      return true
    },
    makeRetriesDue(endpoint, now) {
      reschedule(
        endpoint,
        (entry) => entries.number(entry, DUE) > now,
        () => now,
      )
    },
    resume(endpoint, now) {
      endpoint.patience?.extend(now + patienceMs)
      reschedule(
        endpoint,
        (entry) => entries.failedMs(entry) !== undefined,
        (entry) => positionMs(entries.number(entry, POSITION)),
      )
    },
    missing(limit, now) {
      const found: DeliveryKey[] = []
      while (found.length < limit) {
        const entry = requests.next(now)
        if (entry === NONE) break
        found.push({ webhookId: endpointOf(entry).id, position: entries.number(entry, POSITION) })
      }
      return found
    },
    nextMissingMs: () => requests.nextMs(),
    fill(requested, found, now) {
      const changed = new Set<QueueEndpoint>()
      for (const [index, key] of requested.entries()) {
        const entry = requestedEntry(key)
        if (entry === NONE) continue
        const endpoint = endpointOf(entry)
        changed.add(endpoint)
        const content = found[index]
        if (!content) {
          removeEntry(entry, now)
          continue
        }
        if (isHead(entry)) heads.detach(endpoint, entry)
        attachContent(entry, deliveryOf(entry, endpoint, content))
        if (isHead(entry)) heads.attach(endpoint, entry)
        refresh(endpoint)
      }
      return [...changed]
    },
    unrequest(requested) {
      for (const key of requested) {
        const entry = requestedEntry(key)
        if (entry === NONE) continue
        const endpoint = endpointOf(entry)
        if (isHead(entry)) heads.detach(endpoint, entry)
        clearRequest(endpoint, entry)
        if (isHead(entry)) heads.attach(endpoint, entry)
        refresh(endpoint)
      }
    },
    takeStale(limit) {
      const taken: QueuedDelivery[] = []
      for (
        let endpoint = heads.staleEndpoint();
        endpoint && taken.length < limit;
        endpoint = heads.staleEndpoint()
      ) {
        for (const kind of [STALE + LIVE, STALE + OLD]) {
          const heap = heads.of(endpoint, kind)
          while (taken.length < limit && heap.length > 0) taken.push(takeFirst(endpoint, heap))
        }
        refresh(endpoint)
      }
      return taken
    },
    trim(maxTotal, now, onDisplaced) {
      shares.trim(maxTotal, () => table.all(), giveUp)

      function giveUp(endpoint: QueueEndpoint, count: number, limit: ShareLimit): void {
        const before = endpoint.displaced
        displace({ entries, keys, heads, lanes, foundAhead }, endpoint, count, now, (entry, nextHead) => {
          endpoint.patience?.remove(entries.number(entry, POSITION))
          if (nextHead !== NONE) setPatience(endpoint, nextHead)
          shares.add(endpoint, -1)
          endpoint.displaced++
          displaced++
        })
        if (endpoint.displaced === before) return
        refresh(endpoint)
        onDisplaced(endpoint, endpoint.displaced - before, limit)
      }
    },
    limitsChanged() {
      for (const endpoint of table.all()) shares.check(endpoint)
    },
    dropShards(shards) {
      if (shards === 'all') dropAllWaiting()
      else for (const endpoint of table.all()) if (shards.includes(endpoint.shard)) dropWaiting(endpoint)
      table.evictIdle()
    },
    forgetIdle(shards) {
      for (const endpoint of table.all()) {
        if (endpoint.waiting > 0 || endpoint.taken > 0 || endpoint.unstoredHealth > 0) continue
        if (shards === 'all' || shards.includes(endpoint.shard)) table.forget(endpoint)
      }
    },
    forgetRevisions() {
      for (const endpoint of table.all()) {
        endpoint.webhook = { ...endpoint.webhook, revision: -1 }
        endpoint.epoch = 0
        recount(endpoint)
      }
    },
    ready(endpoint) {
      const { health } = endpoint.webhook
      const maxRate = rateLimitOf?.(endpoint.webhook)
      if (maxRate !== undefined) endpoint.pace ??= new Pace(maxRate)
      endpoint.pace?.setMaxRate(maxRate)
      const nextMs = heads.nextDueMs(endpoint) ?? NEVER
      const patientMs = firstPatient(endpoint)?.dueMs ?? NEVER
      const test = health?.pause ? testHead(endpoint) : NONE
      const testMs = test === NONE ? NEVER : entries.number(test, DUE)
      const othersMs = Math.max(Math.min(nextMs, patientMs), health?.pausedUntilMs ?? 0)
      const dueMs = Math.max(Math.min(testMs, othersMs), endpoint.pace?.dueMs ?? 0)
      return {
        webhookId: endpoint.id,
        accountId: endpoint.webhook.accountId,
        origin: endpoint.origin,
        failing: isFailing(health),
        probed: health?.pause !== undefined,
        limit: health?.lateMs === undefined ? (endpoint.pace?.limit ?? NEVER) : 1,
        dueMs: dueMs === NEVER || isHeld?.(endpoint.webhook.accountId) ? undefined : dueMs,
      }
    },
    summary(now) {
      const { pending, held } = agesOfOldest(now)
      return {
        endpoints: table.size,
        oldestPendingMs: pending,
        oldestHeldMs: held,
        largestAccountRatio: Math.min(1, table.largestBacklog() / accountLimit(options.limits)),
      }
    },
    keys() {
      const endpoints: QueueEndpoint[] = []
      const positions = new Float64Array(entries.size)
      for (const endpoint of table.all())
        heads.forEach(endpoint, (head) => {
          for (let entry = head; entry !== NONE; entry = entries.word(entry, NEXT))
            positions[endpoints.push(endpoint) - 1] = entries.number(entry, POSITION)
        })
      return { endpoints, positions }
    },
    position(key) {
      const entry = find(key)
      if (entry === NONE) return undefined
      return {
        isTaken: isTaken(entry),
        dueMs: isHead(entry) && !isTaken(entry) ? entries.number(entry, DUE) : undefined,
        ahead: lanes.countBefore(entry, MAX_COUNTED_AHEAD),
      }
    },
  }

  function deliveryOf(entry: number, endpoint: QueueEndpoint, content: DeliveryContent): QueuedDelivery {
    const delivery = new QueuedDelivery(
      content.delivery,
      endpoint,
      entries.number(entry, POSITION),
      entries.word(entry, SEQUENCE),
      content.delivery.acceptedMs,
      content.body,
      content.traceparent,
    )
    delivery.epoch = entries.word(entry, EPOCH)
    delivery.attempts = entries.word(entry, ATTEMPTS)
    delivery.tries = entries.tries(entry)
    delivery.interruptions = entries.interruptions(entry)
    delivery.failedMs = entries.failedMs(entry)
    return delivery
  }
}
