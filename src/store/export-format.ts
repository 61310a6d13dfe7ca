/**
 * The store-independent export format: a store exports its rows, and another store imports them in one transaction.
 */

import type { Account } from '../accounts/account.js'
import type { ApiKeyRow } from '../accounts/api-key.js'
import type { User } from '../accounts/user.js'
import type { TokenRow } from '../auth/token.js'
import type { AttemptRecord } from '../delivery/attempt-record.js'
import type { InboxEntry } from '../delivery/inbox-store.js'
import type { Delivery } from '../delivery/lifecycle.js'
import type { OpenLeg } from '../legs/open-leg-store.js'
import type { Webhook } from '../webhooks/webhook.js'

/** One call of one account. */
export interface ExportedCall {
  /** Id of the account. */
  readonly accountId: string
  /** Id of the call leg. */
  readonly callId: string
  /** Sequence number of its newest event. */
  readonly sequence: number
  /** Store time (ms) of its newest event. */
  readonly lastMs: number
  /** Call ids of its other legs, in the order in which they appeared. */
  readonly others: readonly string[]
}

/** An accepted event with its bodies. */
export interface ExportedEvent {
  /** Store-wide position: order of acceptance. */
  readonly position: number
  /** Id of the event. */
  readonly id: string
  /** Id of the account in which it happened. */
  readonly accountId: string
  /** Id of its call leg. */
  readonly callId?: string
  /** Kind of the event, as in the catalogue. */
  readonly hook: string
  /** When the event happened: wall clock, Unix ms. */
  readonly timestampMs: number
  /** Its number in its call: the order of deliveries in a lane; 0: not numbered. */
  readonly sequence: number
  /** W3C Trace Context in which it was published. */
  readonly traceparent?: string
  /** Complete bodies, indexed by `Delivery.variant`. */
  readonly bodies: readonly string[]
}

/** A delivery, pending or ended. */
export interface ExportedDelivery {
  /** The cursor of lists, unique among the deliveries of its webhook: that of its event, or its own for a replay. */
  readonly position: number
  /** Position of its event. */
  readonly eventPosition: number
  /** The stored row; a delivery whose node died in flight is still `in_flight`. */
  readonly delivery: Delivery
}

/** An attempt record. */
export interface ExportedAttempt {
  /** Store-wide position: the cursor of lists. */
  readonly position: number
  /** The stored record. */
  readonly record: AttemptRecord
}

/** An idempotency key and the event it was first used for. */
export interface ExportedIdempotencyKey {
  /** Id of the account: keys are unique per account. */
  readonly accountId: string
  /** The idempotency key, 1–255 printable characters. */
  readonly key: string
  /** Id of the first event with this key. */
  readonly eventId: string
  /** Sequence number of that event. */
  readonly sequence: number
  /** Hash of that event, to recognize another event with the same key. */
  readonly bodyHash: string
  /** End of the key's window: store time, ms. */
  readonly untilMs: number
  /** Id of the call leg of that event. */
  readonly callId?: string
}

/** An open leg of an event source. */
export interface ExportedOpenLeg extends OpenLeg {
  /** Name of the source. */
  readonly source: string
  /** Store time (ms) at which it was added. */
  readonly addedMs: number
}

/** Row type of each kind, in export order: a row follows the rows it refers to. */
export interface ExportedRowTypes {
  /** Accounts, in any order. */
  readonly accounts: Account
  /** Ids of removed accounts, which are never reused. */
  readonly removedAccounts: string
  /** Ids of removed users, which are never reused in their account. */
  readonly removedUsers: { readonly accountId: string; readonly id: string }
  /** API keys, hashed and encrypted. */
  readonly apiKeys: ApiKeyRow
  /** Users of accounts. */
  readonly users: User
  /** Access tokens, hashed. */
  readonly tokens: TokenRow
  /** Webhooks, including deleted ones. */
  readonly webhooks: Webhook
  /** Calls with their last sequence number. */
  readonly calls: ExportedCall
  /** Events with their bodies. */
  readonly events: ExportedEvent
  /** Deliveries, pending and ended. */
  readonly deliveries: ExportedDelivery
  /** Attempt records. */
  readonly attempts: ExportedAttempt
  /** Stored idempotency keys. */
  readonly idempotencyKeys: ExportedIdempotencyKey
  /** In insertion order. */
  readonly inboxEntries: InboxEntry
  /** Open legs of all sources. */
  readonly openLegs: ExportedOpenLeg
  /** What is held: ids of accounts, and `*` for all. */
  readonly holds: string
  /** The record of the service secrets (`EncryptionStore.record`): at most one. */
  readonly encryptionRecords: string
}

/** A kind of exported rows. */
export type ExportedKind = keyof ExportedRowTypes

/** A batch of rows of one kind. */
export type ExportedRows = {
  readonly [Kind in ExportedKind]: { readonly kind: Kind; readonly rows: readonly ExportedRowTypes[Kind][] }
}[ExportedKind]

/** Number of rows of each kind. */
export type ExportedCounts = Readonly<Partial<Record<ExportedKind, number>>>

/** Identifies one export; source and target both store it. */
export interface StoreExport {
  /** Id of the export, created by the target. */
  readonly id: string
  /** Description of the target: database, host and schema; never a user or a password. */
  readonly to: string
}

/**
 * A store opened for export. It holds the store's exclusive lock until `close`, so nothing changes meanwhile.
 *
 * The target writes all rows and the export's id in one transaction. `begin` precedes that commit and `end` follows it.
 * After a crash in between, the target is checked for the id, and the same export is repeated or ended.
 */
export interface ExportSource {
  /** Name of the source, for messages. */
  readonly name: string
  /** Highest position in use. */
  readonly lastPosition: number
  /** Store time now, ms: the due times of what waits are in it. Absent: the newest time of the rows is used. */
  readonly storeMs?: number
  /** An export that began earlier and may have been committed by its target. */
  readonly pendingExport: StoreExport | undefined
  /** All rows, in batches: a snapshot of one moment. */
  rows(): AsyncIterable<ExportedRows> | Iterable<ExportedRows>
  /** Marks the store: from now on it opens for this export only. Durable on return. */
  begin(move: StoreExport): void
  /** Marks the store as exported: it does not open any more. */
  end(move: StoreExport): void
  /** Removes the mark; the target must not contain the export. */
  abandon(): void
  /** Releases the lock. */
  close(): void
}
