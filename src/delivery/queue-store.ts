/**
 * The storage port of the queue.
 *
 * Theory of operation
 *
 * - Webhooks are divided into shards, and each shard has one owner at a time. The owner's memory is the queue of its
 *   shards: lanes, heads, due times, what is in flight. The store is the log of that queue. It tells nobody what to send
 *   next, and a delivery that is about to be sent changes no row.
 * - Everything that a node wants to write goes into groups, one at a time: `commit` writes a group in one transaction.
 * - A delivery is stored once when it is accepted, updated after a failed attempt, and ends with a record.
 * - Before the first byte of an attempt is sent, a group has stored its start. After a crash, the next owner finds the
 *   starts of the dead node: a delivery that still has `attempts = attempt - 1` was interrupted.
 * - `fence` identifies one term of a node. A node whose lease ended has another one, and its old groups write nothing.
 * - `version` counts what others did to the deliveries of a node: webhooks that were edited, disabled or deleted, and
 *   erasures. A group of an older version writes nothing; the node reads `changes`, applies them, and commits again. So
 *   a disabled webhook starts nothing more once its change is committed, and erased data does not come back.
 * - A delivery that a node accepts for a shard of another node is stored with a handoff, which that node takes with `poll`.
 *
 * The conformance suite (`storeConformance` in `hookswitch/testkit`) checks every guarantee stated here.
 */
import type { HookswitchError } from '../errors.js'
import type { Webhook } from '../webhooks/webhook.js'
import type {
  Acceptance,
  AcceptedEvent,
  DeliveryContent,
  DeliveryReads,
  Settlement,
} from './delivery-store.js'

/** One term of a node as the owner of shards. */
export interface Lease {
  /** The node, as passed to `own`: one run of one process. */
  readonly owner: string
  /** Raised whenever a lease that had ended is granted again. */
  readonly fence: number
}

/** The shards of a node, and what it needs to know of the others. */
export interface NodeLease extends Lease {
  /** Number of the node, 0–127, part of its positions; no other living node has it. */
  readonly node: number
  /** A position that no row of the store exceeds, at the time of the call. Positions that the node makes are higher. */
  readonly position: number
  /** Numbers of the shards that the node owns now, each 0–63, ascending. */
  readonly shards: readonly number[]
  /** The part of `shards` that other nodes should get: start nothing there, and `handOver` each when nothing is in flight. */
  readonly leaving: readonly number[]
  /** Store time until which the lease holds, ms; Infinity where the store is not shared. */
  readonly aliveUntilMs: number
  /** The store's clock now, ms: never before an earlier value that a delivery or pause depends on. */
  readonly storeMs: number
  /**
   * The time of day by the clock of the store's machine now, Unix ms: without the corrections that keep `storeMs` from
   * going back. Requests are signed with it. Absent: the store uses the clock of this machine.
   */
  readonly clockMs?: number
  /** Deliveries that wait or are in flight in the shards of other nodes, as they reported it last. */
  readonly pendingElsewhere: number
}

/** A node with a lease, as the store knows it. */
export interface StoredNode {
  /** The node, as passed to `own`. */
  readonly owner: string
  /** Store time until which its lease holds, ms; Infinity where the store is not shared. */
  readonly aliveUntilMs: number
  /** Number of its shards, 0–64. */
  readonly shards: number
  /** Number of those that other nodes should get. */
  readonly leaving: number
}

/** Identifies a delivery. */
export interface DeliveryKey {
  /** Id of its webhook. */
  readonly webhookId: string
  /** Its position, unique among the deliveries of its webhook. */
  readonly position: number
}

/** An attempt that is about to begin. */
export interface Start extends DeliveryKey {
  /** Number of the attempt, 1, 2, …: the stored `attempts` of the delivery plus one. */
  readonly attempt: number
  /** The delivery's epoch. */
  readonly epoch: number
}

/** Starts that are stored and forgotten together. */
export interface Starts {
  /** 1, 2, …: unique among the starts of one lease. */
  readonly key: number
  /** At least one. They may belong to deliveries that the same group accepts. */
  readonly deliveries: readonly Start[]
}

/** What one transaction writes. Its parts are applied in the order `accepted`, `ended`, `starting`. */
export interface Group {
  /**
   * The lease under which the group is written. `undefined`: the node has none at the moment. Then the group only
   * accepts, and every delivery gets a handoff for the owner of its shard, now or later.
   */
  readonly lease: Lease | undefined
  /** The version that the node has applied (`changes`, or `load` and `own` before). Ignored without a lease. */
  readonly version: number
  /** Store time, ms. */
  readonly now: number
  /** In order: events of one call are numbered in it. Each is written whole or not at all, and fails alone. */
  readonly accepted: readonly Acceptance[]
  /** Next states of deliveries of the node's shards, each with its attempt record and endpoint change; each is fenced alone. */
  readonly ended: readonly Settlement[]
  /** Absent: nothing starts. */
  readonly starting?: Starts
  /** Keys of starts, of this lease, that are over: all their deliveries have ended, wait again, or were never sent. */
  readonly finished: readonly number[]
  /** Deliveries that wait or are in flight in the shards of this node. */
  readonly pending: number
  /**
   * True: an earlier commit of the same group rejected, and may have been written. Events that are stored already are
   * accepted, with their stored number, as long as the whole acceptance is; settlements whose effect is already stored (the
   * row has `next.attempts` and `next.state`, or is gone and its record is stored) are settled; starts are stored once, and
   * those that are refused this time are no longer stored. An acceptance that only removes inbox entries is accepted if they are
   * gone.
   */
  readonly isRepeat: boolean
}

/** What became of one acceptance. */
export type AcceptanceResult =
  | {
      readonly kind: 'accepted'
      /** One per event. */
      readonly events: readonly AcceptedEvent[]
      /**
       * True: another node has accepted events of one of these calls since this node last did. Their deliveries may come
       * earlier in a lane: `poll` before any of these is sent. Also true where the store cannot tell, as for the repeat of a
       * group.
       */
      readonly mayHaveGap: boolean
    }
  /**
   * Nothing of it was written. `Conflict` for an idempotency key that was used with another body, for an inbox entry that
   * is gone (field `inboxIds`), for a taken id (field `id`); `NotFound` for a webhook or a replayed event that does not
   * exist.
   */
  | { readonly kind: 'refused'; readonly error: HookswitchError }

/** What became of one settlement. */
export type EndedResult =
  /** `disabled`: the webhook, if this settlement disabled it. */
  | { readonly kind: 'settled'; readonly disabled?: Webhook }
  /** Nothing was written: the delivery is gone, or has another number of attempts. */
  | { readonly kind: 'fenced' }

/** The result of a group. */
export type GroupResult =
  | {
      readonly kind: 'committed'
      /** In the order of `Group.accepted`. */
      readonly accepted: readonly AcceptanceResult[]
      /** In the order of `Group.ended`. */
      readonly ended: readonly EndedResult[]
      /**
       * Indexes of `Group.starting.deliveries` that must not be sent: the delivery was refused, is a duplicate, is gone, or is
       * of an older epoch than its webhook. Ascending.
       */
      readonly notStarted: readonly number[]
      /** The version after the group, if the group itself raised it by disabling webhooks; otherwise `Group.version`. */
      readonly version: number
    }
  /** Nothing was written: the lease ended, or another one was granted. */
  | { readonly kind: 'fenced' }
  /** Nothing was written: read `changes` first. */
  | { readonly kind: 'outdated' }

/**
 * Waiting deliveries, column by column: a million of them are loaded at once. Row `i` of every column belongs to one
 * delivery. Deliveries of one lane are in order.
 */
export interface WaitingDeliveries {
  /** Number of rows. */
  readonly count: number
  /** Ids of the webhooks that `webhook` refers to. */
  readonly webhookIds: readonly string[]
  /** Index into `webhookIds`. */
  readonly webhook: Uint32Array
  /** Positions. */
  readonly position: Float64Array
  /** `laneKey` of its lane; 0: it has the lane to itself. */
  readonly lane: Float64Array
  /** Sequence number of its event: the order within a lane. 0: not numbered, or a replay; then the position is the order. */
  readonly sequence: Uint32Array
  /** Store time, ms, before which it is not sent: that of its next retry. 0: it has none. */
  readonly dueMs: Float64Array
  /** Epochs of the webhook at accept. */
  readonly epoch: Uint32Array
  /** Attempts recorded. */
  readonly attempts: Uint32Array
  /** Attempts charged to the budget. */
  readonly tries: Uint32Array
  /** Interrupted attempts in a row. */
  readonly interruptions: Uint8Array
  /** Store time of the first failure, ms; 0: there was none. */
  readonly failedMs: Float64Array
}

/** A part of what the queue of some shards is built from. */
export interface LoadedPart {
  /** The version at the time of the call: changes after it are in `changes`. */
  readonly version: number
  /** The waiting deliveries of this part. */
  readonly waiting: WaitingDeliveries
  /** The webhooks of `waiting.webhookIds`, disabled and deleted ones too. */
  readonly webhooks: readonly Webhook[]
  /**
   * Starts of earlier owners of these shards whose outcome was never stored (`attempts = attempt - 1`), each once, however
   * often it was stored. Last part only.
   */
  readonly interrupted: readonly Start[]
  /** Where the next part continues; absent: this is the last one. */
  readonly cursor?: string
  /**
   * Identifies the log of the store. Another value than at the load before: another server has taken over, perhaps without
   * the last commits. The node then requests its lease again, and counts what is missing. Absent: that cannot happen, or
   * the store cannot tell. First part only.
   */
  readonly history?: string
}

/** What others did to the deliveries of a node. */
export interface Changes {
  /** The version that includes these changes. */
  readonly version: number
  /** The present rows of webhooks that were edited, disabled or deleted, once each. */
  readonly webhooks: readonly Webhook[]
  /** Deliveries that were erased or whose webhooks were removed with their rows. */
  readonly removed: readonly DeliveryKey[]
  /** True: the changes are too old or too many to list. `load` all shards again. */
  readonly mustReload: boolean
}

/**
 * Marks an error of `commit`: the store knows that nothing of the group was written. Then publishers get the error at once
 * and may publish again.
 */
export function notWritten<Thrown extends Error>(error: Thrown): Thrown {
  return Object.assign(error, { isNotWritten: true })
}

/** Whether an error of `commit` is marked by `notWritten`. */
export function isNotWritten(thrown: unknown): boolean {
  return thrown instanceof Error && 'isNotWritten' in thrown
}

/** What a node learns by polling. */
export interface Polled {
  /**
   * Deliveries that other nodes accepted for this node's shards, and the node's own handoffs of earlier leases; each is returned
   * once. A store that is not shared forgets them when it is closed: the next owner loads all that waits.
   */
  readonly waiting: WaitingDeliveries
  /** The webhooks of `waiting.webhookIds`. */
  readonly webhooks: readonly Webhook[]
  /** The store's present version of this node. Above `Group.version`: read `changes`. */
  readonly version: number
  /** See `NodeLease`. */
  readonly pendingElsewhere: number
  /** True: another node has crashed. `renew` the lease now, which takes its shards. */
  readonly mustRenew?: boolean
}

/**
 * Stores events, deliveries and attempts for queues in the memory of nodes. Every call is atomic, `load` per part. `now` is
 * always an argument and is store time; only `own` and `renew` return the store's clock. It does not go back while a
 * delivery waits or an endpoint is paused, and does not stand still, whatever happens to the clock that the store reads; in
 * a durable store this holds over a restart. Where that clock jumps forward, no lease ends that a node was about to renew.
 * Every promise may reject with `StoreUnavailable`. Whether a group was written is then unknown, unless the error says that
 * it was not (`isNotWritten`).
 */
export interface QueueStore extends DeliveryReads {
  /**
   * Takes this node's share of the free and expired shards for `leaseMs` milliseconds. Idempotent. Where the store is not
   * shared, the last caller owns all shards and the previous owner is fenced: it is an earlier run of the same node.
   */
  own(owner: string, leaseMs: number): Promise<NodeLease>
  /**
   * Renews the lease for `leaseMs` milliseconds, takes shards that became free up to a fair share, and names shards above it
   * as `leaving`. Shards of a node whose lease has ended become free, and its fence is raised, so that a group of it that
   * is under way is either committed before or writes nothing. A lease that has ended is granted again, with a higher
   * fence: the node must load all its shards again. A store that knows that the process of a node has crashed ends its
   * lease at once (`Polled.mustRenew`).
   */
  renew(owner: string, leaseMs: number): Promise<NodeLease>
  /** Gives up shards of `NodeLease.leaving` in which nothing is in flight. Their deliveries wait for the next owner. */
  handOver(lease: Lease, shards: readonly number[]): Promise<void>
  /**
   * Gives up all shards of the owner, and forgets the starts of its lease: nothing is in flight. Those of its earlier leases
   * are left to the next owners.
   */
  release(owner: string): Promise<void>

  /** The nodes whose leases nobody has ended, sorted by name; those of a node that crashed too, until another one renews. */
  nodes(): Promise<readonly StoredNode[]>

  /**
   * The waiting deliveries of some shards of this node, part by part, and what earlier owners left in flight there. Begin
   * with `cursor` undefined. The node commits no group between the first part and the last. `undefined`: the lease has
   * ended.
   */
  load(lease: Lease, shards: readonly number[], cursor?: string): Promise<LoadedPart | undefined>
  /** Forgets the starts that earlier owners left in these shards: the node has settled what `load` named as interrupted. */
  completeTakeover(lease: Lease, shards: readonly number[]): Promise<void>

  /**
   * Writes a group in one transaction. One `commit`, `load` or `poll` of a node is in progress at a time. A store that
   * has written before it returns may return the result itself, so that the node does not wait for it. Errors are rejections.
   */
  commit(group: Group): Promise<GroupResult> | GroupResult
  /** Deliveries with their bodies; `undefined` for one that is gone. In the order of the keys. `state` is `waiting`. */
  bodies(keys: readonly DeliveryKey[]): Promise<readonly (DeliveryContent | undefined)[]>
  /** What others did since this version. `undefined`: the lease has ended. */
  changes(lease: Lease, sinceVersion: number): Promise<Changes | undefined>
  /** Takes the handoffs for this node's shards. `undefined`: the lease has ended. */
  poll(lease: Lease): Promise<Polled | undefined>
  /** A webhook by id, whether enabled, disabled or deleted. May be called while `commit` is in progress. */
  webhookOf(webhookId: string): Promise<Webhook | undefined>

  /**
   * Calls back when a node may have something to do that it did not cause itself: `poll` finds handoffs, `changes` finds
   * changes, shards became free, or the inbox has entries. A store that is not shared calls back for each change of a
   * webhook, each erasure and each inbox entry. Returns a function that unsubscribes.
   */
  subscribe(listener: () => void): () => void
}
