/** An event as the host wrote it in a transaction of its own: accepted when that commits, delivered when admitted. */
export interface InboxEntry {
  /** The event's id. */
  readonly id: string
  readonly accountId: string
  readonly callId?: string
  /** The checked event, as JSON. The store looks into it for nothing but erasure. */
  readonly event: string
  /** W3C Trace Context in which it was published. */
  readonly traceparent?: string
}

/**
 * The storage door of events that come in the host's own transactions. Such a transaction touches one row of ours:
 * more would block strangers on shared rows. A node admits the row after the commit, with an `Acceptance` of its own
 * that names it in `admits`.
 */
export interface InboxStore {
  /**
   * Writes one entry in the host's open transaction `tx`, and neither reads nor locks anything else. A store whose
   * driver is synchronous has written it when this returns. Throws or rejects with `InvalidOption` (field `tx`) for a
   * thing that is no connection to this store, and with what the driver says when the row cannot be written.
   */
  put(tx: unknown, entry: InboxEntry): Promise<void> | void
  /**
   * Up to `limit` committed entries of the owner's shards (`inboxShard`), each shard's in the order in which they were
   * put. One node admits what belongs to one call, so that two never turn its order round.
   */
  staged(owner: string, limit: number): Promise<readonly InboxEntry[]>
}
