import type { Health } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { AttemptRecord, StoredAttempt } from './attempt-record.js'
import type { AttemptQuery, DeliveryQuery, StoredDelivery } from './delivery-queries.js'
import type { ErasureStore } from './erasure-store.js'
import type { Delivery, DeliveryState } from './lifecycle.js'

/**
 * A body that is whole but for its event's sequence number, which only the store knows (order of acceptance):
 * `head + sequence + tail`, or `head` alone where there is no tail.
 */
export interface BodyTemplate {
  readonly head: string
  readonly tail?: string
}

/** An event to be accepted. */
export interface NewEvent {
  readonly id: string
  readonly accountId: string
  readonly callId?: string
  readonly otherLegCallId?: string
  readonly hook: string
  /** Wall clock, Unix ms. */
  readonly timestampMs: number
  /** False: takes no number of its call (a test, which is no event of a call). */
  readonly numbered: boolean
  /** Distinct bodies, referred to by `Delivery.variant`. */
  readonly bodies: readonly BodyTemplate[]
  /** W3C Trace Context in which it was published. */
  readonly traceparent?: string
  readonly idempotency?: { readonly key: string; readonly bodyHash: string; readonly untilMs: number }
}

/** A delivery to be accepted: waiting, never tried. */
export type NewDelivery = Omit<
  Delivery,
  'state' | 'dueMs' | 'attempts' | 'tries' | 'interruptions' | 'fence' | 'reason' | 'acceptedMs' | 'endedMs'
>

/** What is accepted in one transaction: all of it or nothing. A delivery of a stored event names the one it repeats (`replayOf`). */
export interface Acceptance {
  readonly events: readonly NewEvent[]
  readonly deliveries: readonly NewDelivery[]
  /** Most deliveries that may be waiting or in flight in the whole store; above it `QueueFull`. */
  readonly maxPending: number
  /** Ids of inbox entries that are removed with it: when one is gone, another node was first (`Conflict`, field `admits`). */
  readonly admits?: readonly string[]
}

export interface AcceptedEvent {
  /** The event's own id, or that of the first one with the same idempotency key. */
  readonly id: string
  /** 1, 2, … per account and call; 0 where not numbered. */
  readonly sequence: number
  /** True: this key was accepted before; nothing was written for it. */
  readonly duplicate: boolean
}

/** An endpoint (a webhook seen as a receiver) that has something to send at `dueMs`. */
export interface ReadyEndpoint {
  readonly webhookId: string
  /** The webhook's account: fairness and caps are per account. */
  readonly accountId: string
  /** Scheme, host and port of its URI: a cap is per origin too. */
  readonly origin: string
  /** Whether its last attempt failed (`Health.failuresInRow`): it is not trusted with all places. */
  readonly failing: boolean
  /** Store time of the earliest due head, not before the end of the endpoint's pause; `undefined`: idle. */
  readonly dueMs: number | undefined
}

export interface ClaimRequest {
  readonly owner: string
  /** Endpoints named by the node, each once, with the room it has; fewer may be had, never more. */
  readonly endpoints: readonly {
    readonly webhookId: string
    readonly room: number
    /** Who gets the odd place while first attempts and retries both wait: retries, or (default) first attempts. */
    readonly retriesFirst?: boolean
  }[]
  readonly limit: number
  /** Store time, ms. */
  readonly now: number
}

export interface Claim {
  /** `in_flight`, with the fence of this claim. */
  readonly delivery: Delivery
  readonly body: string
  /** Of its event. */
  readonly traceparent?: string
}

export interface ClaimResult {
  readonly claims: readonly Claim[]
  /** The webhooks of these claims as they are now, by id. */
  readonly webhooks: ReadonlyMap<string, Webhook>
  /** Each endpoint that was named, as it stands after the claim. */
  readonly endpoints: readonly ReadyEndpoint[]
}

/** How a claim, or a waiting delivery, goes on. Written whole or not at all. */
export interface Settlement {
  readonly owner: string
  readonly deliveryId: string
  readonly webhookId: string
  /** What the delivery must still be: else the settlement is fenced. */
  readonly expect: { readonly state: 'in_flight' | 'waiting'; readonly fence: number }
  readonly next: {
    readonly state: DeliveryState
    /** Required iff `state` is `waiting`. */
    readonly dueMs?: number
    readonly attempts: number
    readonly tries: number
    readonly interruptions: number
    readonly reason?: string
  }
  /** Absent: nothing to record (released unsent at close). */
  readonly record?: AttemptRecord
  /** Present where it changes something: ignored when the webhook's epoch is another one by now. */
  readonly endpoint?: {
    readonly epoch: number
    /** The new health; null: clean. */
    readonly health?: Health | null
    /** Disable the webhook for this reason at this time (wall clock, Unix ms). */
    readonly disable?: { readonly reason: string; readonly atMs: number }
  }
}

export type Settled =
  /** `endpoint`: how it stands now, for the node's schedule. `webhook`: present when it was disabled. */
  | { readonly kind: 'settled'; readonly endpoint: ReadyEndpoint; readonly disabled?: Webhook }
  | { readonly kind: 'fenced' }

export interface Ownership {
  readonly shards: readonly number[]
  /** Store time until which this node may act; Infinity where the store is not shared. */
  readonly aliveUntilMs: number
  /** The store's clock now, ms. */
  readonly storeMs: number
}

/**
 * The storage door of events, deliveries and attempts: the queue is a view of the deliveries.
 *
 * Every call is atomic. `now` is always an argument, in store time; only `own` and `renew` tell what that is.
 * Every promise may reject with `StoreUnavailable`.
 */
export interface DeliveryStore extends ErasureStore {
  /**
   * Writes events and deliveries in one transaction, numbers the events of a call 1, 2, … in this order, and
   * makes the first of each empty lane its head, due `now`. An event whose idempotency key is known with the same
   * body hash is a duplicate: its deliveries are left out. Another hash rejects with `Conflict`. A delivery of an
   * event, or to a webhook, that is not there (pruned by now) rejects with `NotFound`.
   */
  accept(acceptance: Acceptance, now: number): Promise<readonly AcceptedEvent[]>

  /**
   * Takes this node's share of free or expired shards for `leaseMs`. Idempotent. Where the store is not shared, the
   * last to ask owns all, and the one before is fenced: it is the former life of the same node.
   */
  own(owner: string, leaseMs: number): Promise<Ownership>
  /**
   * Keeps them, takes what has become free up to a fair share, and gives back what is more: nothing is claimed there
   * any more, what is in flight there may still be settled, and others get the shard when nothing is, or when the
   * lease ends. The shards owned now. A lease that ended is taken anew: what was in flight then is an orphan.
   */
  renew(owner: string, leaseMs: number): Promise<Ownership>
  /** Gives all back. */
  release(owner: string): Promise<void>

  /** Every endpoint of the owner's shards that is not idle. */
  ready(owner: string): Promise<readonly ReadyEndpoint[]>
  /**
   * Takes due heads of the named endpoints: owned by the caller's live lease, of the webhook's epoch, not deleted, not
   * paused. Disabling raises the epoch, so what has the current one on a disabled webhook is a test, which is sent.
   * While first attempts and retries of one endpoint both wait, each get half of its room, an odd place as was asked.
   * Of an endpoint that is probed (`isProbed`) one at most, the one that is due longest. Never one delivery twice.
   */
  claim(request: ClaimRequest): Promise<ClaimResult>
  /**
   * All in one transaction, each fenced by itself: next state, record, health, disabling; a terminal state
   * promotes the next of the lane, due `now`. Refused (`fenced`) when the owner no longer owns the shard or the
   * delivery is not what was expected.
   */
  settle(settlements: readonly Settlement[], now: number): Promise<readonly Settled[]>

  /**
   * Deliveries in flight, in the owner's shards, that nobody works on: claimed under an earlier lease, its own or
   * another's, or by a claim that rejected although the store had carried it out (a connection cut while it answered).
   */
  orphans(owner: string, limit: number): Promise<readonly Delivery[]>
  /** Waiting deliveries, in the owner's shards, whose webhook has a newer epoch. */
  stale(owner: string, limit: number): Promise<readonly Delivery[]>
  /** Reads a webhook whether live, disabled or deleted. */
  webhookOf(webhookId: string): Promise<Webhook | undefined>

  /**
   * Calls back when endpoints became ready or deliveries stale, with what is known of them; `undefined`: look
   * for yourself (`ready`, `stale`). Returns the way to stop.
   */
  subscribe(listener: (ready: readonly ReadyEndpoint[] | undefined) => void): () => void

  delivery(accountId: string, deliveryId: string): Promise<StoredDelivery | undefined>
  /** Newest first, unless ascending. */
  deliveries(query: DeliveryQuery): Promise<readonly StoredDelivery[]>
  /** Newest first, unless ascending; a stable cursor while records are added. */
  attempts(query: AttemptQuery): Promise<readonly StoredAttempt[]>
  /** This call and its other legs, as far as this account has seen events or deliveries of them; empty: unknown. */
  legs(accountId: string, callId: string): Promise<readonly string[]>
  /** Waiting and in flight, in the whole store. */
  pending(): Promise<number>

  /**
   * Removes up to `limit` rows that nobody needs: attempts beyond `attemptsPerWebhook` or recorded before
   * `beforeMs`, terminal deliveries ended before it with their events, keys past their window. Never a pending
   * delivery. How many.
   */
  prune(
    limits: { readonly attemptsPerWebhook: number; readonly beforeMs: number; readonly limit: number },
    now: number,
  ): Promise<number>
}
