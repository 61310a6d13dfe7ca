/**
 * The storage port of replay jobs: what was requested, and how far it is. The replays themselves are deliveries.
 *
 * A job needs no record of each delivery that it has replayed: a replay names its original (`Delivery.replayOf`), and
 * `StoredDelivery.replays` says so of the original.
 */

/** The state of a replay job. The last two are terminal. */
export type ReplayState = 'running' | 'paused' | 'cancelled' | 'completed'

/** A replay job as it is stored. */
export interface StoredReplay {
  /** 32 lower-case hex digits. Its shard (`shardOf`) decides which node works on it. */
  readonly id: string
  /** The account that it belongs to. Absent: it is over all accounts, and belongs to the operators. */
  readonly accountId?: string
  /** Where it is. */
  readonly state: ReplayState
  /** When it was requested: store time, ms. */
  readonly createdMs: number
  /** When it reached a terminal state: store time, ms. Absent before. */
  readonly endedMs?: number
  /** 1 at first, raised by every change. */
  readonly revision: number
  /** What only the service reads, a JSON document of at most 64 KiB: the selection and the progress. */
  readonly doc: string
}

/** Selects replay jobs, newest first. */
export interface ReplayListQuery {
  /** Only jobs of this account. Absent: of all accounts and of the operators. */
  readonly accountId?: string
  /** Only jobs behind this one, in the order of the list. */
  readonly after?: { readonly createdMs: number; readonly id: string }
  /** Maximum number of jobs to return. */
  readonly limit: number
}

/** The storage port of replay jobs. Every promise may reject with `StoreUnavailable`. */
export interface ReplayStore {
  /** Stores a new job. Does nothing if there is one with this id: the call was repeated. */
  create(replay: StoredReplay): Promise<void>
  /** One job; `undefined` when unknown or pruned. */
  read(id: string): Promise<StoredReplay | undefined>
  /** Newest first (`createdMs`), those of one time by id, descending. */
  list(query: ReplayListQuery): Promise<readonly StoredReplay[]>
  /** Up to `limit` jobs that run or are paused, oldest first. The cost must not grow with the jobs that have ended. */
  unfinished(limit: number): Promise<readonly StoredReplay[]>
  /**
   * Replaces a job whose stored revision is `replay.revision - 1`.
   *
   * @returns false: it has another revision, or is gone; nothing was written
   */
  replace(replay: StoredReplay): Promise<boolean>
  /** Removes up to `limit` jobs that ended before this store time (ms). Resolves to their number. */
  prune(beforeMs: number, limit: number): Promise<number>
  /** Removes up to `limit` jobs of an account, whatever their state. Resolves to their number; 0: nothing is left. */
  erase(accountId: string, limit: number): Promise<number>
}
