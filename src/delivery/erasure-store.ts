/** What is to be erased of an account: some calls, or everything that was ever sent about it. */
export interface Erasure {
  readonly accountId: string
  /** Absent: all calls, and what belongs to none; also webhooks that were deleted. */
  readonly callIds?: readonly string[]
}

/** Calls in which a text was found, as far as was looked. */
export interface Mentions {
  readonly callIds: readonly string[]
  /** Where to go on, a position that erasing does not move; `undefined`: everything was looked at. */
  readonly cursor: number | undefined
}

/** The storage door of erasure. */
export interface ErasureStore {
  /**
   * Removes up to `limit` rows of what is kept of these calls, pending deliveries too: events of this account and
   * deliveries to its webhooks, wherever the event came from; with them bodies, attempts, numbers, legs, idempotency
   * keys and inbox entries. What is in flight is fenced afterwards, and its lane goes on. How many; 0: nothing is left.
   */
  erase(what: Erasure, limit: number): Promise<number>
  /**
   * Looks through up to `limit` of the account's kept events and inbox entries, oldest first, for a number or
   * name in a body (`isMentioned`): the calls of those that have it. Slow by nature: nothing is indexed by what bodies say.
   */
  mentions(accountId: string, text: string, cursor: number | undefined, limit: number): Promise<Mentions>
  /** Erased rows leave no readable trace in the store's files when this resolves, as far as the store writes them itself. */
  scrub(): Promise<void>
}
