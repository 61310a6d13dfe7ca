/**
 * The storage port of open legs: what an event source needs to publish the later events of the legs that are open at its
 * switch, so that it can continue them after a restart. Independent of events and deliveries.
 */

/** Maximum size of `OpenLeg.state`, bytes of UTF-8. */
export const MAX_LEG_STATE_BYTES = 4_096

/** A leg that has begun and not ended. */
export interface OpenLeg {
  /** Id of the leg: the `callId` of its events. */
  readonly callId: string
  /** Id of the account of the leg. */
  readonly accountId: string
  /**
   * What its source needs to publish the later events of the leg: a JSON document of at most 4,096 bytes. It is read by
   * the source only, and searched for a number to erase.
   */
  readonly state: string
}

/** Changes of the open legs of one source. A leg occurs at most once. */
export interface OpenLegChanges {
  /** Legs that are added, or replace the stored leg with this call id. */
  readonly put: readonly OpenLeg[]
  /** Call ids of legs that are removed; unknown ones are ignored. */
  readonly remove: readonly string[]
}

/** The open legs of an account to erase. */
export interface OpenLegErasure {
  /** Id of the account. */
  readonly accountId: string
  /** Absent: all legs of the account. */
  readonly callIds?: readonly string[]
}

/**
 * The storage port of open legs. Every promise may reject with `StoreUnavailable`.
 *
 * A leg is identified by its source and its call id. Several nodes may listen to one switch and write the same legs: the
 * last write of a leg wins.
 */
export interface OpenLegStore {
  /**
   * Applies all changes in one transaction.
   *
   * @param source name of the source, unique among the switches of a host
   * @param now store time, milliseconds; a new leg keeps it for `prune`
   */
  write(source: string, changes: OpenLegChanges, now: number): Promise<void>
  /**
   * Up to `limit` legs of a source with a call id behind `after`, in the order of call ids, which is the store's own.
   *
   * @param after the last call id of the previous page; `undefined`: from the start
   */
  list(source: string, after: string | undefined, limit: number): Promise<readonly OpenLeg[]>
  /** Removes up to `limit` legs of the account, of all sources. Resolves to their number; 0: nothing is left. */
  erase(what: OpenLegErasure, limit: number): Promise<number>
  /** Call ids of the account's legs whose id or state contains a number or name (`isMentioned`). */
  mentions(accountId: string, text: string): Promise<readonly string[]>
  /**
   * Removes up to `limit` legs that were added before `beforeMs` (store time): their source listens no more. Resolves to
   * their number.
   */
  prune(beforeMs: number, limit: number): Promise<number>
}
