/** The storage port of erasure: deletes everything stored about calls, a number or an account. */

/** What to erase of an account: some calls, or everything. */
export interface Erasure {
  /** Id of the account. Data of other accounts is not erased. */
  readonly accountId: string
  /** Absent: all calls, everything that belongs to no call, and deleted webhooks. */
  readonly callIds?: readonly string[]
}

/** The result of one step of a text search. */
export interface Mentions {
  /** The calls whose bodies contain the text. */
  readonly callIds: readonly string[]
  /**
   * Where the next step continues, a position that erasure does not move; `undefined`: the search is
   * complete.
   */
  readonly cursor: number | undefined
}

/** The storage port of erasure. Every promise may reject with `StoreUnavailable`. */
export interface ErasureStore {
  /**
   * Deletes up to `limit` rows of these calls, pending deliveries included: events of this account, and
   * deliveries to its webhooks whatever the account of their event; with them bodies, attempts, sequence
   * numbers, legs, idempotency keys and inbox entries. Deliveries in flight are fenced afterwards, and their
   * lanes continue. Resolves to the number of rows; 0: nothing is left.
   */
  erase(what: Erasure, limit: number): Promise<number>
  /**
   * Searches up to `limit` of the account's stored events and inbox entries, oldest first, for a number or
   * name in a body (`isMentioned`). Slow: bodies have no index.
   */
  mentions(accountId: string, text: string, cursor: number | undefined, limit: number): Promise<Mentions>
  /**
   * When it resolves, erased rows have left no readable trace in the store's files, as far as the store
   * writes these files itself.
   */
  scrub(): Promise<void>
}
