/** The storage port of the inbox: events that the host wrote in its own transaction. */

/**
 * An event in the inbox: accepted when the host's transaction commits, delivered after the relay has taken
 * it.
 */
export interface InboxEntry {
  /** The event's id. */
  readonly id: string
  /** Id of the account of the event. */
  readonly accountId: string
  /** Id of the call leg of the event. Entries of one account and call are in one shard. */
  readonly callId?: string
  /** The checked event as JSON. The store reads it only for erasure. */
  readonly event: string
  /** W3C Trace Context in which the event was published. */
  readonly traceparent?: string
}

/**
 * A host's transaction writes one row of this package and no shared row, so it never blocks other transactions.
 * After the commit a node relays the entry, with an `Acceptance` that names it in `inboxIds`.
 */
export interface InboxStore {
  /**
   * Writes entries, at least one, in the host's open transaction `tx`, and neither reads nor locks anything else. A store
   * with a synchronous driver has written them when this returns; one on a server sends one statement, since the connection is
   * the host's. Throws or rejects with `InvalidOption` (field `tx`) when `tx` is not a connection to this store, and with the
   * driver's error when a row cannot be written: then the host's transaction has failed.
   */
  put(tx: unknown, entries: readonly InboxEntry[]): Promise<void> | void
  /**
   * Up to `limit` committed entries of the owner's shards (`inboxShard`), in order of `put` within each
   * shard. All entries of one call are in one shard, so that one node relays them and their order is kept.
   */
  staged(owner: string, limit: number): Promise<readonly InboxEntry[]>
}
