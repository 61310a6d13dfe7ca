/**
 * The storage port of the call index: events that no webhook wanted, and the calls of numbers.
 *
 * Nodes write it in batches, at most a second after the events were accepted: `publish` does not wait for it, and a crash may
 * lose the last batch. Deliveries never depend on it.
 */
import type { Erasure } from './erasure-store.js'

/** An accepted event that no webhook wanted. */
export interface UnwantedEvent {
  /** Id of the event. */
  readonly id: string
  /** Id of the account in which it happened. */
  readonly accountId: string
  /** Id of its call leg, or its ordering key. */
  readonly callId: string
  /** Kind of the event. */
  readonly hook: string
  /** Its number within the call. */
  readonly sequence: number
  /** When it happened: wall clock, Unix ms. */
  readonly timestampMs: number
  /** When it was accepted: wall clock, Unix ms. */
  readonly acceptedMs: number
  /** What published it (`PublishOptions.source`). */
  readonly source: string
  /** Whether its leg is internal. */
  readonly isInternalLeg: boolean
}

/** A call, as the index knows it. */
export interface IndexedCall {
  /** Id of the account of its events. */
  readonly accountId: string
  /** Id of the call leg. */
  readonly callId: string
  /** What published its first event. */
  readonly source: string
  /** When that was accepted: wall clock, Unix ms. */
  readonly acceptedMs: number
}

/** A number of a call. */
export interface CallNumber extends IndexedCall {
  /** A keyed hash of the number, 1 to 2^48; 0: the call has no number. */
  readonly number: number
  /** Id of an event of the call that has the number. */
  readonly eventId: string
}

/** The rows of the call index: events that no webhook wanted, and numbers of calls. */
export type CallIndexKind = 'events' | 'numbers'

/** Stores the call index. Every promise may reject with `StoreUnavailable`. */
export interface CallIndexStore {
  /**
   * Writes a batch in one transaction. An event that is stored already is ignored. What belongs to an event that the store
   * does not have (any more) is not written: it was erased.
   */
  write(batch: {
    readonly events: readonly UnwantedEvent[]
    readonly numbers: readonly CallNumber[]
  }): Promise<void>
  /**
   * Unwanted events, newest first: the event of `eventId`, those of `callIds`, or those of `accountId`; both if two are given.
   * At least one is. The cost grows with `limit` alone.
   */
  events(query: {
    readonly accountId?: string
    readonly callIds?: readonly string[]
    readonly eventId?: string
    readonly limit: number
  }): Promise<readonly UnwantedEvent[]>
  /**
   * Calls that have any of these numbers, or this id; possibly several times. Of one account newest first. Over all accounts,
   * `limit` of them in any order. The cost grows with `limit` alone.
   */
  calls(query: {
    readonly accountId?: string
    readonly numbers?: readonly number[]
    readonly callId?: string
    readonly limit: number
  }): Promise<readonly IndexedCall[]>
  /** Removes up to `limit` rows of the account's calls. Resolves to their number; 0: nothing is left. */
  erase(what: Erasure, limit: number): Promise<number>
  /**
   * The place of the newest event or number that is not among the newest `keep` of an account, or of all; 0: there is none.
   * The cost grows with `keep`, so that it is read once, before the rows up to it are removed.
   */
  excess(kind: CallIndexKind, keep: number, accountId?: string): Promise<number>
  /** Removes up to `limit` events or numbers of an account, oldest first, up to a place. Resolves to their number. */
  trim(kind: CallIndexKind, accountId: string, upTo: number, limit: number): Promise<number>
  /**
   * Removes up to `limit` of each kind: those that were accepted before a time, and those up to a place. Resolves to the number
   * of rows, and at least to `limit` where it has more to remove.
   */
  prune(
    limits: Readonly<Record<CallIndexKind, { readonly beforeMs: number; readonly upTo: number }>>,
    limit: number,
  ): Promise<number>
}
