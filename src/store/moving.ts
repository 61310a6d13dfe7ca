import type { Account } from '../accounts/account.js'
import type { ApiKeyRow } from '../accounts/api-key.js'
import type { User } from '../accounts/user.js'
import type { TokenRow } from '../auth/token.js'
import type { AttemptRecord } from '../delivery/attempt-record.js'
import type { InboxEntry } from '../delivery/inbox-store.js'
import type { Delivery } from '../delivery/lifecycle.js'
import type { Webhook } from '../webhooks/webhook.js'

/** What a store keeps, as rows that belong to no store: one writes them out, another takes them in. */

/** A call as one account knows it. */
export interface MovedCall {
  readonly accountId: string
  readonly callId: string
  /** The number of its newest event. */
  readonly sequence: number
  /** Store time of its newest event, ms. */
  readonly lastMs: number
  /** Its other legs, in the order in which they were seen. */
  readonly others: readonly string[]
}

export interface MovedEvent {
  /** Its place in the order of the whole store. */
  readonly position: number
  readonly id: string
  readonly accountId: string
  readonly callId?: string
  readonly hook: string
  /** Wall clock, Unix ms. */
  readonly timestampMs: number
  readonly traceparent?: string
  /** Whole, by `Delivery.variant`. */
  readonly bodies: readonly string[]
}

export interface MovedDelivery {
  /** Its place in the order of the whole store: the cursor of lists. */
  readonly position: number
  /** The place of its event. */
  readonly eventPosition: number
  /** As it is stored: what was in flight when its node died is in flight. */
  readonly delivery: Delivery
}

export interface MovedAttempt {
  /** Its place in the order of the whole store: the cursor of lists. */
  readonly position: number
  readonly record: AttemptRecord
}

/** An idempotency key and the event that it stands for. */
export interface MovedKey {
  readonly accountId: string
  readonly key: string
  readonly eventId: string
  readonly sequence: number
  readonly bodyHash: string
  /** Store time, ms. */
  readonly untilMs: number
  readonly callId?: string
}

/** Every kind of row. What a row refers to comes before it. */
export interface Moved {
  readonly accounts: Account
  /** Ids that are never given again. */
  readonly removedAccounts: string
  readonly apiKeys: ApiKeyRow
  readonly users: User
  readonly tokens: TokenRow
  /** Deleted ones too. */
  readonly webhooks: Webhook
  readonly calls: MovedCall
  readonly events: MovedEvent
  readonly deliveries: MovedDelivery
  readonly attempts: MovedAttempt
  readonly idempotencyKeys: MovedKey
  /** In the order in which they were put. */
  readonly inboxEntries: InboxEntry
}

export type MovedKind = keyof Moved

/** Some rows of one kind. */
export type MovedRows = {
  readonly [Kind in MovedKind]: { readonly kind: Kind; readonly rows: readonly Moved[Kind][] }
}[MovedKind]

/** How many rows there were of each kind. */
export type MovedCounts = Readonly<Partial<Record<MovedKind, number>>>

/** One move, as both of its ends remember it. */
export interface Move {
  readonly id: string
  /** Where it goes, in words: database, host and schema; never a user or a password. */
  readonly to: string
}

/**
 * A store that is moved elsewhere. Nobody else can open it until it is closed, so that it stands still.
 *
 * The target writes everything in one transaction, and `move.id` with it. `begin` comes before its commit, `end` after
 * it: after a crash in between, the target is asked whether it has the id, and the same move is tried again or ended.
 */
export interface MoveSource {
  /** What it is called, for sentences. */
  readonly name: string
  /** No position above this one was given out. */
  readonly lastPosition: number
  /** A move that was begun before, and may have been carried out. */
  readonly begun: Move | undefined
  /** Everything, in batches, as it stands in one moment. */
  rows(): AsyncIterable<MovedRows> | Iterable<MovedRows>
  /** From now on it opens for this move alone. Durable when it returns. */
  begin(move: Move): void
  /** It is elsewhere now. */
  end(move: Move): void
  /** The target has nothing of it: as if it had never begun. */
  abandon(): void
  close(): void
}
