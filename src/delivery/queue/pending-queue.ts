import type { Webhook } from '../../webhooks/webhook.js'
import type { Claim, ReadyEndpoint, Settlement } from '../delivery-store.js'
import type { DeliveryKey, WaitingDeliveries } from '../queue-store.js'
import type { QueueEndpoint } from './queue-endpoint.js'
import type { QueuedDelivery } from './queued-delivery.js'

/** What is known of a waiting or taken delivery. */
export interface QueuePosition {
  readonly isTaken: boolean
  /** Store time, ms, at which it is due; `undefined`: it is taken, or not the head of its lane. */
  readonly dueMs: number | undefined
  /** Deliveries before it in its lane; those beyond 1,000 are not counted. */
  readonly ahead: number
}

/** The waiting and taken deliveries of one node. Times are store time, ms. */
export interface PendingQueue {
  /** Waiting and taken deliveries. */
  readonly size: number
  /** Bytes of entries, indexes and heaps: all that a delivery costs whose content is not in memory. */
  readonly bytes: number
  /** Deliveries that wait and whose content is in memory. */
  readonly waitingContents: number
  /** Whether `takeStale` would return a delivery. */
  readonly hasStale: boolean
  /** `undefined`: unknown, or evicted because nothing was pending for a long time. */
  endpoint(webhookId: string): QueueEndpoint | undefined
  endpoints(): Iterable<QueueEndpoint>
  /**
   * Adds an endpoint, or replaces its webhook, unless the known row has a higher revision. A higher epoch makes the older
   * deliveries stale: `take` never returns them. The health of the row is used as it is.
   */
  setWebhook(webhook: Webhook): QueueEndpoint
  /**
   * Adds a delivery that this node accepted: into its lane by sequence number, then position. As the head of its lane it
   * is due at `now`. Its content stays in memory while that of fewer than `maxContents` waiting deliveries is. False: its
   * key is known already.
   */
  add(delivery: QueuedDelivery, now: number): boolean
  /**
   * Adds waiting deliveries from the store, except those whose keys are known. Their endpoints were set by `setWebhook`. The
   * order of a lane is that of sequence numbers, or positions where there are none, in whatever order they arrive; only a
   * taken head stays the head. Returns the endpoints that changed.
   */
  load(rows: WaitingDeliveries, now: number): readonly QueueEndpoint[]
  /**
   * Takes up to `slots` due heads of the current epoch whose content is in memory. First attempts get half of the slots
   * (rounded up; down if `retriesFirst`), retries the rest; either kind uses what the other leaves. The oldest due first in
   * each kind. Does not look at the pause of the endpoint.
   */
  take(endpoint: QueueEndpoint, slots: number, retriesFirst: boolean, now: number): QueuedDelivery[]
  /** A taken delivery was not sent: it waits again as the head of its lane until `dueMs`. */
  putBack(delivery: QueuedDelivery, dueMs: number): void
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
  /**
   * Up to `limit` deliveries whose content is needed next, in turns over the endpoints: heads that are due and not paused,
   * and stale heads. Marks them as requested, until `fill` or `unrequest`.
   */
  missing(limit: number, now: number): DeliveryKey[]
  /** When `missing` has something to return; `undefined`: not before another call. */
  nextMissingMs(): number | undefined
  /** The contents that were requested; `undefined` removes the delivery. Returns the endpoints that changed. */
  fill(
    keys: readonly DeliveryKey[],
    contents: readonly (Claim | undefined)[],
    now: number,
  ): readonly QueueEndpoint[]
  /** The contents could not be read: they may be requested again. */
  unrequest(keys: readonly DeliveryKey[]): void
  /**
   * Takes up to `limit` heads of older epochs whose content is in memory, each once until `putBack`. The caller cancels
   * them; after `end`, the next of the lane follows.
   */
  takeStale(limit: number): QueuedDelivery[]
  /** Drops all waiting deliveries of these shards. Taken ones stay until `end`, `retry` or `remove`. */
  dropShards(shards: readonly number[] | 'all'): void
  /**
   * The due time of the earliest head whose content is in memory or can be requested, not before the end of the pause of
   * the endpoint. `dueMs` undefined: nothing waits, or only heads whose content is on its way.
   */
  ready(endpoint: QueueEndpoint): ReadyEndpoint
  /** `undefined`: the delivery neither waits nor is taken. */
  position(key: DeliveryKey): QueuePosition | undefined
}

export interface PendingQueueOptions {
  /** Contents of waiting deliveries from which on `add` keeps none. */
  readonly maxContents: number
  /** The shard of a webhook, 0–63. */
  readonly shardOf: (webhookId: string) => number
  /** Seed of the hash tables: unknown to who chooses the ids of calls. */
  readonly hashSeed?: number
}

/** Creates an empty queue. */
export declare function createPendingQueue(options: PendingQueueOptions): PendingQueue
