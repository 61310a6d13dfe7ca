/**
 * The storage port of events, deliveries and attempts. `store/contract` composes the ports; the conformance
 * suite (`storeConformance` in `hookswitch/testkit`) checks every guarantee stated here.
 */
import type { Health } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { AttemptRecord, StoredAttempt } from './attempt-record.js'
import type {
  AttemptQuery,
  DeliveryQuery,
  DeliverySearch,
  FoundDeliveries,
  StoredDelivery,
} from './delivery-queries.js'
import type { ErasureStore } from './erasure-store.js'
import type { Delivery, DeliveryState } from './lifecycle.js'

/**
 * A body without the sequence number of its event, which only the store knows (order of acceptance). The
 * whole body is `head + sequence + tail`, or `head` alone where there is no tail.
 */
export interface BodyTemplate {
  /** Text before the sequence number, or the whole body. */
  readonly head: string
  /** Text after the sequence number, possibly empty. Absent: the body contains no sequence number. */
  readonly tail?: string
}

/** An event to accept. */
export interface NewEvent {
  /** Id of the event, unique in the store. */
  readonly id: string
  /** Its position (`positions.ts`), given to it when its group is formed; absent before. */
  position?: number
  /** Id of the account in which the event happened. */
  readonly accountId: string
  /** Id of its call leg. Events of one account and call are numbered together. */
  readonly callId?: string
  /** Id of the leg at the other end, which the store links to `callId` for `legs`. */
  readonly otherLegCallId?: string
  /** Kind of the event, as in the catalogue. */
  readonly hook: string
  /** When the event happened: wall clock, Unix ms. */
  readonly timestampMs: number
  /** False: the event gets no sequence number (a test, which is no event of a call). */
  readonly numbered: boolean
  /** The distinct bodies of the event; `Delivery.variant` is an index into them. */
  readonly bodies: readonly BodyTemplate[]
  /** W3C Trace Context in which the event was published. */
  readonly traceparent?: string
  /** `untilMs`: store time until which the key is remembered. */
  readonly idempotency?: { readonly key: string; readonly bodyHash: string; readonly untilMs: number }
}

/** A delivery to accept: waiting, without attempts. */
export type NewDelivery = Omit<
  Delivery,
  'state' | 'dueMs' | 'attempts' | 'tries' | 'interruptions' | 'fence' | 'reason' | 'acceptedMs' | 'endedMs'
> & {
  /** Its position: that of its event, or one to itself for a replay. Given when its group is formed; absent before. */
  position?: number
}

/**
 * What one transaction accepts: all of it or nothing. A delivery of an event that is stored already is a
 * replay and names the delivery that it repeats (`replayOf`).
 */
export interface Acceptance {
  /** The events, in order: those of one call are numbered in it. */
  readonly events: readonly NewEvent[]
  /** Their deliveries, in order: those of one lane are sent in it. */
  readonly deliveries: readonly NewDelivery[]
  /** Maximum number of deliveries waiting or in flight in the whole store; above it: `QueueFull`. */
  readonly maxPending: number
  /**
   * Ids of inbox entries that the transaction deletes. If one is missing, another node has relayed it:
   * `Conflict`, field `inboxIds`.
   */
  readonly inboxIds?: readonly string[]
}

/** The result for one accepted event. */
export interface AcceptedEvent {
  /** The event's id; for a duplicate, that of the first event with the same idempotency key. */
  readonly id: string
  /** 1, 2, … per account and call; 0: not numbered. */
  readonly sequence: number
  /** True: an event with this idempotency key was accepted before; nothing was written for this one. */
  readonly duplicate: boolean
}

/** An endpoint (a webhook seen as a receiver) with the time at which it has something to send. */
export interface ReadyEndpoint {
  /** Id of the webhook. */
  readonly webhookId: string
  /** The webhook's account: fairness and caps are per account. */
  readonly accountId: string
  /** Scheme, host and port of the webhook's URI: there is a cap per origin too. */
  readonly origin: string
  /** Whether its last attempt failed (`Health.failuresInRow`): it may not use all slots. */
  readonly failing: boolean
  /**
   * Store time at which its earliest lane head is due, not before the end of its pause, ms; `undefined`: idle
   * (nothing waits).
   */
  readonly dueMs: number | undefined
}

/** Requests due deliveries of some endpoints for one node. */
export interface ClaimRequest {
  /** The claiming node, as passed to `own`. */
  readonly owner: string
  /** The endpoints to claim from, each once; `slots` is the maximum number of deliveries to claim from it. */
  readonly endpoints: readonly {
    readonly webhookId: string
    readonly slots: number
    /** Whether retries get the odd slot while first attempts and retries both wait. Default is false. */
    readonly retriesFirst?: boolean
  }[]
  /** Maximum number of deliveries to claim in total. */
  readonly limit: number
  /** Store time, ms. */
  readonly now: number
}

/** A node's exclusive hold on one delivery in flight. */
export interface Claim {
  /** `in_flight`, with the fence of this claim. */
  readonly delivery: Delivery
  /** The whole body. */
  readonly body: string
  /** W3C Trace Context of the event. */
  readonly traceparent?: string
}

/** The claimed deliveries, and the endpoints after the claim. */
export interface ClaimResult {
  /** The claimed deliveries, each with its body. */
  readonly claims: readonly Claim[]
  /** The current webhooks of these claims, by id. */
  readonly webhooks: ReadonlyMap<string, Webhook>
  /** Each requested endpoint, as it is after the claim. An unknown webhook may be missing. */
  readonly endpoints: readonly ReadyEndpoint[]
}

/**
 * The next state of a claimed or waiting delivery with everything that belongs to it. Written whole or not at
 * all.
 */
export interface Settlement {
  /** The node that settles, as passed to `own`. */
  readonly owner: string
  /** Id of the delivery. */
  readonly deliveryId: string
  /** Id of its webhook, which decides the shard. */
  readonly webhookId: string
  /** The state and fence that the delivery must still have; otherwise the settlement is fenced. */
  readonly expect: {
    readonly state: 'in_flight' | 'waiting'
    readonly fence: number
    readonly attempts?: number
  }
  /** Position of the delivery (`QueueStore`). */
  readonly position?: number
  /** The fields that the settlement writes to the delivery. */
  readonly next: {
    readonly state: DeliveryState
    /** Store time, ms; required iff `state` is `waiting`. */
    readonly dueMs?: number
    readonly attempts: number
    readonly tries: number
    readonly interruptions: number
    readonly reason?: string
  }
  /** Absent: there is nothing to record (the delivery returns unsent). */
  readonly record?: AttemptRecord
  /** Present if the endpoint changes. Ignored when the webhook has another epoch by now. */
  readonly endpoint?: {
    readonly epoch: number
    /** The new health; null: clean; absent: unchanged. */
    readonly health?: Health | null
    /** Disables the webhook for this reason at this time (wall clock, Unix ms). */
    readonly disable?: { readonly reason: string; readonly atMs: number }
  }
}

/** The result of one settlement: `settled`, or `fenced` (nothing was written). */
export type SettlementResult =
  /** `endpoint`: its state after the settlement. `disabled`: the webhook, if this settlement disabled it. */
  | { readonly kind: 'settled'; readonly endpoint: ReadyEndpoint; readonly disabled?: Webhook }
  /** Nothing was written. */
  | { readonly kind: 'fenced' }

/** The shards of a node. */
export interface Ownership {
  /** Numbers of the shards that the node owns now, each 0–63. */
  readonly shards: readonly number[]
  /** Store time until which the lease holds, ms; Infinity where the store is not shared. */
  readonly aliveUntilMs: number
  /** The store's clock now, ms: never before an earlier value that a delivery or pause depends on. */
  readonly storeMs: number
}

/** What every store answers about deliveries and attempts, and how it forgets them. Every promise may reject with `StoreUnavailable`. */
export interface DeliveryReads extends ErasureStore {
  /** One delivery of this account; `undefined` when unknown or pruned. */
  delivery(accountId: string, deliveryId: string): Promise<StoredDelivery | undefined>
  /** Newest first, unless `ascending`. */
  deliveries(query: DeliveryQuery): Promise<readonly StoredDelivery[]>
  /**
   * Deliveries of all accounts, newest first. One call may examine only a part of the deliveries, so that a rare match
   * blocks nobody else: the result then has fewer than `limit` deliveries, and a cursor.
   */
  search(query: DeliverySearch): Promise<FoundDeliveries>
  /** Newest first, unless `ascending`. The cursor stays stable while records are added. */
  attempts(query: AttemptQuery): Promise<readonly StoredAttempt[]>
  /**
   * The time of the last recorded success (`AttemptRecord.atMs`) of each of these webhooks, among its newest 1,000
   * records. A webhook without one is missing.
   */
  lastSuccesses(webhookIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * The ids of this call and its other legs, as far as this account has events or deliveries of them; empty:
   * unknown.
   */
  legs(accountId: string, callId: string): Promise<readonly string[]>

  /**
   * Deletes up to `limit` rows that are past their retention: attempts beyond `attemptsPerWebhook` or
   * recorded before `beforeMs`, terminal deliveries that ended before it with their events, and expired
   * idempotency keys. Never deletes a pending delivery. Resolves to the number of rows.
   */
  prune(
    limits: { readonly attemptsPerWebhook: number; readonly beforeMs: number; readonly limit: number },
    now: number,
  ): Promise<number>
}

/**
 * Stores events, deliveries and attempts. The queue is a view of the delivery rows.
 *
 * Every call is atomic. `now` is always an argument and is store time; only `own` and `renew` return the
 * store's clock. It does not go back while a delivery waits or an endpoint is paused, and does not stand still,
 * whatever happens to the clock that the store reads; in a durable store this holds over a restart. Where that
 * clock jumps forward, no lease ends that a node was about to renew. Every promise may reject with `StoreUnavailable`.
 */
export interface DeliveryStore extends DeliveryReads {
  /**
   * Writes events and deliveries in one transaction. Numbers the events of a call 1, 2, … in the given order.
   * The first delivery of each empty lane becomes its head, due `now`.
   *
   * An event whose idempotency key is stored with the same body hash is a duplicate: its deliveries are not
   * written. A stored key with another hash rejects with `Conflict`. A delivery of an event or to a webhook
   * that does not exist (pruned meanwhile) rejects with `NotFound`. More than `maxPending` deliveries reject
   * with `QueueFull`.
   */
  accept(acceptance: Acceptance, now: number): Promise<readonly AcceptedEvent[]>

  /**
   * Takes this node's share of the free and expired shards for `leaseMs` milliseconds. Idempotent. Where the
   * store is not shared, the last caller owns all shards and the previous owner is fenced: it is an earlier
   * run of the same node.
   */
  own(owner: string, leaseMs: number): Promise<Ownership>
  /**
   * Renews the lease for `leaseMs` milliseconds, takes shards that became free up to a fair share, and gives
   * up shards above it. In a shard that is being given up, nothing more is claimed, but deliveries in flight
   * may still be settled; another node gets the shard when none of its deliveries is in flight, or when the
   * lease ends. A lease that has ended is granted again: deliveries in flight under the old one are orphans.
   * Resolves to the shards owned now.
   */
  renew(owner: string, leaseMs: number): Promise<Ownership>
  /** Gives up all shards of the owner. */
  release(owner: string): Promise<void>

  /** Every endpoint in the owner's shards that is not idle. */
  ready(owner: string): Promise<readonly ReadyEndpoint[]>
  /**
   * Claims due lane heads of the requested endpoints and sets them `in_flight` with a new fence. A head is
   * claimed only if its shard is owned by the caller under a live lease, its epoch is that of the webhook,
   * and the webhook is neither deleted nor paused. (Disabling raises the epoch. So a delivery with the
   * current epoch of a disabled webhook is a test, and is sent.) While first attempts and retries of an
   * endpoint both wait, each kind gets half of its slots; `retriesFirst` decides an odd one. From an endpoint
   * that is probed (`isProbed`) at most one delivery is claimed: the one that has been due longest. No
   * delivery is claimed twice.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>
  /**
   * Writes settlements in one transaction: next state, attempt record, endpoint health and disabling. A
   * terminal state promotes the next delivery of the lane, due `now`. Each settlement is fenced separately:
   * it is refused (`fenced`) when the owner no longer owns the shard, or when the delivery does not have the
   * expected state and fence. The results are in the order of the settlements.
   */
  settle(settlements: readonly Settlement[], now: number): Promise<readonly SettlementResult[]>

  /**
   * Up to `limit` deliveries in flight in the owner's shards on which no node works: claimed under an earlier
   * lease of this or another node, or by a claim that rejected although it had committed (the connection
   * broke before the response).
   */
  orphans(owner: string, limit: number): Promise<readonly Delivery[]>
  /** Up to `limit` waiting deliveries in the owner's shards whose webhook has a newer epoch. */
  stale(owner: string, limit: number): Promise<readonly Delivery[]>
  /** A webhook by id, whether enabled, disabled or deleted. */
  webhookOf(webhookId: string): Promise<Webhook | undefined>

  /**
   * Calls back when endpoints become ready or deliveries become stale. `ready`: the endpoints, where the
   * store knows them; `undefined`: the listener must query `ready` and `stale`. Returns a function that
   * unsubscribes.
   */
  subscribe(listener: (ready: readonly ReadyEndpoint[] | undefined) => void): () => void

  /** The number of deliveries waiting or in flight in the whole store. */
  pending(): Promise<number>
}
