/**
 * The heaps of an endpoint that hold the heads of its lanes. Which one holds a head follows from its entry alone: whether
 * it is taken, requested, live, stale or displaced, and whether its content is in memory. So a head is detached before, and
 * attached after, any of these changes.
 */
import {
  CONTENT,
  DUE,
  type Entries,
  EPOCH,
  IS_DISPLACED,
  IS_LIVE,
  IS_REQUESTED,
  IS_TAKEN,
  NONE,
} from './entries.js'
import { EntryHeap } from './entry-heap.js'
import type { QueueEndpoint } from './queue-endpoint.js'

/** How long a delivery that was not tried counts as live, ms. */
export const LIVE_MS = 10_000

// Kinds of waiting heads: a sum of these.
/** First attempts of deliveries that were accepted in the last `LIVE_MS`. */
export const LIVE = 0
/** Retries, and first attempts of older deliveries. */
export const OLD = 1
/** The content is not in memory and was not requested. */
export const MISSING = 2
/** Ends without being sent: of an older epoch than the endpoint, or displaced. */
export const STALE = 4

const EMPTY = new EntryHeap()

export class Heads {
  /** Endpoints with stale heads whose content is in memory, and some that had. */
  private readonly staleEndpoints = new Set<QueueEndpoint>()

  constructor(private readonly entries: Entries) {}

  /** Adds a head to the heap where it belongs. */
  attach(endpoint: QueueEndpoint, entry: number): void {
    this.heapOf(endpoint, entry).push(this.entries, entry)
  }

  /** Removes a head from the heap that it is in. */
  detach(endpoint: QueueEndpoint, entry: number): void {
    this.heapOf(endpoint, entry).remove(this.entries, entry)
  }

  /** The waiting heads of a kind. */
  of(endpoint: QueueEndpoint, kind: number): EntryHeap {
    return endpoint.waitingHeads[kind] ?? EMPTY
  }

  /** Whether there are heads whose content is neither in memory nor requested. */
  hasMissing({ waitingHeads }: QueueEndpoint): boolean {
    return (
      isFilled(waitingHeads[LIVE + MISSING]) ||
      isFilled(waitingHeads[OLD + MISSING]) ||
      isFilled(waitingHeads[STALE + LIVE + MISSING]) ||
      isFilled(waitingHeads[STALE + OLD + MISSING])
    )
  }

  /** The due time of the first of a heap; Infinity: it is empty. */
  dueMs(heap: EntryHeap): number {
    return heap.length === 0 ? Number.POSITIVE_INFINITY : this.entries.number(heap.first, DUE)
  }

  /** Whether the first of a heap is due. */
  isDue(heap: EntryHeap, now: number): boolean {
    return heap.length > 0 && this.entries.number(heap.first, DUE) <= now
  }

  /** The earliest due time of the heads that can be sent, now or once their content is read; `undefined`: there are none. */
  nextDueMs(endpoint: QueueEndpoint): number | undefined {
    let dueMs = Number.POSITIVE_INFINITY
    for (let kind = 0; kind < STALE; kind++) dueMs = Math.min(dueMs, this.dueMs(this.of(endpoint, kind)))
    return dueMs === Number.POSITIVE_INFINITY ? undefined : dueMs
  }

  /** Bytes of the heaps of an endpoint. */
  bytes({ waitingHeads, requestedHeads, takenHeads }: QueueEndpoint): number {
    return waitingHeads.reduce(
      (sum, heap) => sum + (heap?.bytes ?? 0),
      requestedHeads.bytes + takenHeads.bytes,
    )
  }

  /** Empties the heaps of an endpoint, whose entries are all freed. */
  clear({ waitingHeads, requestedHeads, takenHeads }: QueueEndpoint): void {
    waitingHeads.fill(undefined)
    requestedHeads.clear()
    takenHeads.clear()
  }

  /** Calls back for each taken head of an endpoint. */
  forEachTaken({ takenHeads }: QueueEndpoint, visit: (entry: number) => void): void {
    for (let index = 0; index < takenHeads.length; index++) visit(takenHeads.at(index))
  }

  /** Calls back for each head of an endpoint. */
  forEach(endpoint: QueueEndpoint, visit: (entry: number) => void): void {
    for (const heap of [...endpoint.waitingHeads, endpoint.requestedHeads, endpoint.takenHeads])
      for (let index = 0; heap && index < heap.length; index++) visit(heap.at(index))
  }

  /** An endpoint with stale heads whose content is in memory, or `undefined`. */
  staleEndpoint(): QueueEndpoint | undefined {
    for (const endpoint of this.staleEndpoints) {
      if (this.of(endpoint, STALE + LIVE).length + this.of(endpoint, STALE + OLD).length > 0) return endpoint
      this.staleEndpoints.delete(endpoint)
    }
    return undefined
  }

  /** Moves the waiting heads of older epochs to the stale ones. */
  raiseEpoch(endpoint: QueueEndpoint, epoch: number): void {
    const { waitingHeads } = endpoint
    const areAllStale = endpoint.newestEpoch < epoch
    const heaps = [LIVE, OLD, LIVE + MISSING, OLD + MISSING].map((kind) => this.of(endpoint, kind))
    endpoint.epoch = epoch
    for (const [kind, heap] of heaps.entries()) {
      if (heap.length === 0) continue
      const stale = this.of(endpoint, STALE + kind)
      if (areAllStale && stale.length === 0) {
        waitingHeads[kind] = undefined
        waitingHeads[STALE + kind] = heap
        if (kind < MISSING) this.staleEndpoints.add(endpoint)
        continue
      }
      waitingHeads[kind] = undefined
      for (let index = 0; index < heap.length; index++) this.attach(endpoint, heap.at(index))
    }
  }

  private heapOf(endpoint: QueueEndpoint, entry: number): EntryHeap {
    const { entries } = this
    if (entries.hasFlag(entry, IS_TAKEN)) return endpoint.takenHeads
    let kind = entries.hasFlag(entry, IS_LIVE) ? LIVE : OLD
    if (entries.word(entry, CONTENT) === NONE) {
      if (entries.hasFlag(entry, IS_REQUESTED)) return endpoint.requestedHeads
      kind += MISSING
    }
    if (entries.word(entry, EPOCH) < endpoint.epoch || entries.hasFlag(entry, IS_DISPLACED)) {
      kind += STALE
      if (kind < STALE + MISSING) this.staleEndpoints.add(endpoint)
    }
    const found = endpoint.waitingHeads[kind]
    if (found) return found
    const heap = new EntryHeap()
    endpoint.waitingHeads[kind] = heap
    return heap
  }
}

function isFilled(heap: EntryHeap | undefined): boolean {
  return heap !== undefined && heap.length > 0
}
