/**
 * Decides which contents are read next from the store.
 *
 * An endpoint needs the content of its due heads, and of its stale ones, up to a number: `AHEAD` and twice its taken
 * deliveries, less its outstanding requests. So an endpoint that answers fast gets
 * twice as many with each round trip, and a slow one holds few. Endpoints take turns.
 */

import { heapPush, heapRemove } from '../../values/heap.js'
import { createLinkedQueue, dequeue, enqueue, unqueue } from '../../values/linked-queue.js'
import { type Entries, IS_REQUESTED, NONE } from './entries.js'
import { type Heads, LIVE, MISSING, OLD, STALE } from './heads.js'
import type { QueueEndpoint } from './queue-endpoint.js'

/** Contents that are requested for an endpoint without taken deliveries. */
const AHEAD = 8
/** Contents of stale deliveries that are on their way: they need no slots. */
const STALE_AHEAD = 64
const NEVER = Number.POSITIVE_INFINITY

export class ContentRequests {
  /** Endpoints that need contents, in turns. */
  private readonly needy = createLinkedQueue<QueueEndpoint>()
  /** Endpoints that will need contents, by the time. */
  private readonly later: QueueEndpoint[] = []

  /** @param isFull whether as many waiting deliveries have their contents in memory as should have */
  constructor(
    private readonly entries: Entries,
    private readonly heads: Heads,
    private readonly isFull: () => boolean,
  ) {}

  /** An endpoint has changed. */
  update(endpoint: QueueEndpoint): void {
    const isScheduled = endpoint.queue === this.needy || endpoint.heapIndex >= 0
    if (!isScheduled && !this.heads.hasMissing(endpoint)) return
    const dueMs = this.neededMs(endpoint)
    if (isScheduled) {
      if (dueMs === endpoint.dueMs || (dueMs < endpoint.dueMs && endpoint.queue)) return
      this.remove(endpoint)
    }
    if (dueMs === NEVER) return
    endpoint.dueMs = dueMs
    heapPush(this.later, endpoint)
  }

  /** The next entry whose content is needed, which is marked as requested; `NONE`: no more at this time. */
  next(now: number): number {
    while (this.later.length > 0 && this.later[0]!.dueMs <= now) {
      const endpoint = this.later[0]!
      heapRemove(this.later, endpoint)
      enqueue(this.needy, endpoint)
    }
    for (;;) {
      const endpoint = dequeue(this.needy)
      if (!endpoint) return NONE
      const entry = this.choose(endpoint, now)
      if (entry !== NONE) this.request(endpoint, entry)
      endpoint.dueMs = this.neededMs(endpoint)
      if (endpoint.dueMs !== NEVER) heapPush(this.later, endpoint)
      if (entry !== NONE) return entry
    }
  }

  /** When `next` finds something, or earlier; `undefined`: not before something changes. */
  nextMs(): number | undefined {
    return this.needy.first?.dueMs ?? this.later[0]?.dueMs
  }

  private remove(endpoint: QueueEndpoint): void {
    if (endpoint.queue) unqueue(endpoint)
    else heapRemove(this.later, endpoint)
  }

  private request(endpoint: QueueEndpoint, entry: number): void {
    this.heads.detach(endpoint, entry)
    this.entries.setFlag(entry, IS_REQUESTED, true)
    endpoint.requested++
    this.heads.attach(endpoint, entry)
  }

  /** When the endpoint needs contents that were not requested. */
  private neededMs(endpoint: QueueEndpoint): number {
    return this.staleHead(endpoint) === NONE ? this.neededToSendMs(endpoint) : 0
  }

  private neededToSendMs(endpoint: QueueEndpoint): number {
    const { heads } = this
    const dueMs = Math.min(
      heads.dueMs(heads.of(endpoint, LIVE + MISSING)),
      heads.dueMs(heads.of(endpoint, OLD + MISSING)),
    )
    if (dueMs === NEVER) return NEVER
    if (endpoint.requested >= 2 * endpoint.taken + (this.isFull() ? 1 : AHEAD)) return NEVER
    return Math.max(dueMs, endpoint.webhook.health?.pausedUntilMs ?? 0)
  }

  /** A stale head whose content is needed, or `NONE`. */
  private staleHead(endpoint: QueueEndpoint): number {
    if (endpoint.requestedHeads.length >= STALE_AHEAD) return NONE
    const first = this.heads.of(endpoint, STALE + LIVE + MISSING).first
    return first === NONE ? this.heads.of(endpoint, STALE + OLD + MISSING).first : first
  }

  /** Live and older deliveries alternate where both are due. Stale heads come last. */
  private choose(endpoint: QueueEndpoint, now: number): number {
    if (this.neededToSendMs(endpoint) > now) return this.staleHead(endpoint)
    const { heads } = this
    const live = heads.of(endpoint, LIVE + MISSING)
    const old = heads.of(endpoint, OLD + MISSING)
    if (!heads.isDue(live, now)) return old.first
    if (!heads.isDue(old, now)) return live.first
    endpoint.requestsOld = !endpoint.requestsOld
    return (endpoint.requestsOld ? old : live).first
  }
}
