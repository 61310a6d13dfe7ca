/**
 * What is stored of events, deliveries and attempts, and how it is read. `queue-store` is the port through which it is
 * written; `store/contract` composes the ports.
 */
import type { Health } from '../webhooks/health.js'
import type { AttemptRecord, StoredAttempt } from './attempt-record.js'
import type {
  AttemptLogPage,
  AttemptLogQuery,
  AttemptQuery,
  DeliveryQuery,
  DeliverySearch,
  EndpointActivity,
  FoundDeliveries,
  ReplayableQuery,
  StoredDelivery,
} from './delivery-queries.js'
import type { ErasureStore } from './erasure-store.js'
import type { Delivery, DeliveryState } from './lifecycle.js'
import type { ListPart, PartQuery } from './list-part.js'

/**
 * A body without the sequence number of its event, which only the store knows (order of acceptance). The
 * whole body is `head + sequence + tail`, or `head` alone where there is no tail.
 */
export interface BodyTemplate {
  /** Text before the sequence number, or the whole body. */
  readonly head: string
  /** Text after the sequence number, possibly empty. Absent: the body contains no sequence number. */
  readonly tail?: string
  /** The whole body with the number `filledSequence`: written and read by `fillIn` only, so that the text exists once. */
  filled?: string
  /** The sequence number in `filled`. */
  filledSequence?: number
}

/** An event to accept. */
export interface NewEvent {
  /** Id of the event, unique in the store. */
  readonly id: string
  /** Its position (`positions.ts`), given to it when its group is formed; undefined before. */
  position?: number | undefined
  /** Id of the account in which the event happened. */
  readonly accountId: string
  /** Id of its call leg. Events of one account and call are numbered together. */
  readonly callId?: string
  /** Id of the leg at the other end, or of the whole call, which the store links to `callId` for `legs`. */
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
  | 'state'
  | 'dueMs'
  | 'attempts'
  | 'tries'
  | 'interruptions'
  | 'reason'
  | 'failedMs'
  | 'acceptedMs'
  | 'endedMs'
> & {
  /** Its position: that of its event, or one to itself for a replay. Given when its group is formed; undefined before. */
  position?: number | undefined
}

/**
 * What is accepted together: all of it or nothing. A delivery of an event that is stored already is a
 * replay and names the delivery that it repeats (`replayOf`).
 */
export interface Acceptance {
  /** The events, in order: those of one call are numbered in it. */
  readonly events: readonly NewEvent[]
  /** Their deliveries, in order: those of one lane are sent in it. */
  readonly deliveries: readonly NewDelivery[]
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
  /** Whether it is paused because it fails: requests are probes, one at a time, which need no slots. */
  readonly probed: boolean
  /** Requests at once, if fewer than others may have; Infinity: as many. */
  readonly limit: number
  /**
   * Store time at which its earliest lane head is due, not before the end of its pause, ms; `undefined`: idle
   * (nothing waits).
   */
  readonly dueMs: number | undefined
}

/** What finds the body of a delivery. */
export type BodyKey = Pick<Delivery, 'eventId' | 'variant'>

/** A delivery with what is sent. */
export interface DeliveryContent {
  /** The delivery as it is stored. */
  readonly delivery: Delivery
  /** The whole body. */
  readonly body: string
  /** W3C Trace Context of the event. */
  readonly traceparent?: string
}

/**
 * The next state of a delivery with everything that belongs to it. Written whole or not at all.
 */
export interface Settlement {
  /** Id of the delivery. */
  readonly deliveryId: string
  /** Id of its webhook, which decides the shard. */
  readonly webhookId: string
  /** Its position. */
  readonly position: number
  /** What the stored delivery must still have; otherwise the settlement is fenced. */
  readonly expect: { readonly attempts: number }
  /** The fields that the settlement writes to the delivery. */
  readonly next: {
    readonly state: DeliveryState
    /** Store time, ms; required iff `state` is `waiting`. */
    readonly dueMs?: number
    readonly attempts: number
    readonly tries: number
    readonly interruptions: number
    readonly reason?: string
    /** Store time of its first failure that its receiver had a part in, ms; absent: there was none. */
    readonly failedMs?: number
  }
  /** Absent: nothing is recorded, because successes are not. The end of the delivery stays visible. */
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

/** What every store answers about deliveries and attempts, and how it forgets them. Every promise may reject with `StoreUnavailable`. */
export interface DeliveryReads extends ErasureStore {
  /** One delivery of this account, or of any (`undefined`); `undefined` when unknown or pruned. */
  delivery(accountId: string | undefined, deliveryId: string): Promise<StoredDelivery | undefined>
  /** Newest first, unless `ascending`. */
  deliveries(query: DeliveryQuery): Promise<readonly StoredDelivery[]>
  /**
   * The next part of a list of which most rows may not match. A query of the part (its `cursor` and `end`) examines some
   * thousands of rows at most: those near the range. What was recorded more than an hour after its attempt, was accepted more than
   * an hour after it got its position, or is of a clock that is wrong by more than that may be outside of all parts.
   */
  listPart(query: PartQuery): Promise<ListPart>
  /**
   * The number of deliveries that a replay would repeat, by the id of their webhook; webhooks without any are missing.
   * 1,000,000 of 5,000 webhooks, in five calls, are counted within 2 s, unless `hooks` or `reason` are given.
   */
  countReplayable(query: ReplayableQuery): Promise<ReadonlyMap<string, number>>
  /**
   * Deliveries of all accounts, newest first. One call may examine only a part of the deliveries, so that a rare match
   * blocks nobody else: the result then has fewer than `limit` deliveries, and a cursor.
   */
  search(query: DeliverySearch): Promise<FoundDeliveries>
  /**
   * Kind, account and call of an event of which a delivery is stored, replays too, to a webhook of this account, or of any
   * (`undefined`); `undefined`: there is none. Reads no delivery that it does not need.
   */
  eventOf(
    accountId: string | undefined,
    eventId: string,
  ): Promise<{ readonly accountId: string; readonly hook: string; readonly callId?: string } | undefined>
  /** Newest first, unless `ascending`. The cursor stays stable while records are added. */
  attempts(query: AttemptQuery): Promise<readonly StoredAttempt[]>
  /**
   * Bodies of up to 1,000 deliveries, waiting or ended, by event and variant, in the order of the keys; `undefined` where the
   * event is unknown, or its body is not stored any more.
   */
  eventBodies(keys: readonly BodyKey[]): Promise<readonly (string | undefined)[]>
  /**
   * Records with a position above `after`, and the position at which to go on; never waits for other transactions. Where the
   * store is shared, a record may become visible up to 10 s after one with a higher position.
   */
  attemptLog(query: AttemptLogQuery): Promise<AttemptLogPage>
  /**
   * The time of the last recorded success (`AttemptRecord.atMs`) of each of these webhooks, among its newest 1,000
   * records. A webhook without one is missing.
   */
  lastSuccesses(webhookIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /**
   * The backlog and the last attempt of each of these webhooks, of up to 1,000. A webhook with neither may be missing. The
   * cost grows with `maxPending`, not with the deliveries that are stored.
   *
   * @param maxPending counts end at this number; the deliveries with the lowest positions are counted
   */
  activity(webhookIds: readonly string[], maxPending: number): Promise<ReadonlyMap<string, EndpointActivity>>
  /**
   * The ids of this call and its other legs, as far as this account has events or deliveries of them; empty:
   * unknown. Where another account's event is still stored for this account, it may name a leg whose call this account
   * has erased.
   */
  legs(accountId: string, callId: string): Promise<readonly string[]>

  /**
   * Deletes up to `limit` rows that are past their retention: attempts recorded before `beforeMs`, terminal deliveries that
   * ended before it with their events, and expired idempotency keys; of each webhook the oldest deliveries that were
   * delivered, with their attempts, while those together have more than `attemptsPerWebhook` attempts. Replays are
   * kept as long as their originals may be, which they mark: neither they nor what was not delivered is counted. Never
   * deletes a pending delivery or its attempts. Resolves to the number of rows, where events that go with their last attempt
   * need not count; to `limit` where it has more to look at. A call with a limit of 500 takes less than 50 ms, and no lock
   * is held for longer.
   */
  prune(
    limits: { readonly attemptsPerWebhook: number; readonly beforeMs: number; readonly limit: number },
    now: number,
  ): Promise<number>

  /**
   * About how many bytes the history takes: events, attempts and deliveries, with their indexes, without space that is free
   * for reuse. Cheap enough to be called every minute. `undefined`: the store cannot tell.
   */
  historyBytes(): Promise<number | undefined>
  /**
   * Deletes up to `limit` ended deliveries with their attempts: the oldest that were delivered first, then the oldest of the
   * rest, replays among them. Never deletes a pending delivery or its attempts. Resolves to the number of deliveries, and
   * at least to 1 where it has more to look at; 0: none is left.
   */
  pruneOldest(limit: number): Promise<number>
}
