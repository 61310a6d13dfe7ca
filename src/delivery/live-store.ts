/**
 * The storage port by which nodes exchange items of live streams: accepted events, and changes of webhooks.
 *
 * Theory of operation
 *
 * - An instance that has readers registers the accounts that it watches, for some seconds, and repeats that. The others write the
 *   items of these accounts, and nothing while nobody watches.
 * - Items are written in batches, numbered 1, 2, … by each writer, which writes one after the other. So a reader needs one
 *   number per writer as its cursor, sees every batch once and in order, and notices a missing one by its number.
 * - Items are best effort, and stored for seconds: a store may lose them all with a crash.
 * - Only `subscribe` is in use while nobody watches.
 */

/** Kinds of items. */
export type LiveKind = 'event' | 'webhook'

/** How long a batch can be read after it was written, ms. */
export const LIVE_RETENTION_MS = 20_000

/** Items that an instance watches. */
export interface LiveWatch {
  /** Id of their account; '': every account. */
  readonly accountId: string
  /** Whether those of the accounts below are watched too. */
  readonly descendants: boolean
  /** At least one. */
  readonly kinds: readonly LiveKind[]
}

/** An item as it is written. */
export interface LiveItem {
  /** Id of its account. */
  readonly accountId: string
  /** The call of an event, by which it is erased; absent: it has none. */
  readonly callId?: string
  /** Id of its event. The item is not written if the event is erased by then. Absent: it is of no event. */
  readonly eventId?: string
  /** The item as JSON. */
  readonly json: string
}

/** Items that are written together. */
export interface LiveBatch {
  /** The instance that writes it: one run of one process. */
  readonly writer: string
  /** 1, 2, …; a missing number stands for items that were lost. */
  readonly number: number
  /** In order. */
  readonly items: readonly LiveItem[]
}

/** A batch as it is read. */
export interface StoredLiveBatch {
  /** The instance that wrote it. */
  readonly writer: string
  /** Its number. */
  readonly number: number
  /** In order, without those that were erased. */
  readonly items: readonly Pick<LiveItem, 'accountId' | 'json'>[]
}

/** What a store calls back about live items. */
export interface LiveListener {
  /** What instances watch may have changed. */
  onWatched(): void
  /** There may be items to read. Only a hint: it may be missing. */
  onItems(): void
}

/** Passes live items between the instances that share a store. */
export interface LiveStore {
  /**
   * Replaces what an instance watches, for `ttlMs` milliseconds. No watches: it watches nothing any more.
   *
   * Rejects with `StoreUnavailable`.
   */
  watch(reader: string, watches: readonly LiveWatch[], ttlMs: number): Promise<void>
  /** What the other instances watch now. Rejects with `StoreUnavailable`. */
  watched(writer: string): Promise<readonly LiveWatch[]>
  /**
   * Writes a batch, and forgets those of the same writer up to the number `forget`. A repeated batch is written once. Items are
   * erased with their calls (`QueueStore.erase`), also those of a batch that is being written meanwhile.
   *
   * Rejects with `StoreUnavailable`; the batch may have been written then.
   */
  put(batch: LiveBatch, forget: number): Promise<void>
  /** Forgets the batches of a writer up to a number. Rejects with `StoreUnavailable`. */
  forget(writer: string, number: number): Promise<void>
  /** The highest number of each other writer that has batches. Rejects with `StoreUnavailable`. */
  ends(reader: string): Promise<ReadonlyMap<string, number>>
  /**
   * Batches of the other writers with higher numbers than these, those of one writer in order; writers take turns. A part of
   * them where they are many: `hasMore`. Batches that are older than `LIVE_RETENTION_MS` may be missing, and those that are more
   * than twice as old are.
   *
   * @param after the last numbers that were read; a writer that is not among them is read from its first batch
   */
  read(
    reader: string,
    after: ReadonlyMap<string, number>,
  ): Promise<{ readonly batches: readonly StoredLiveBatch[]; readonly hasMore: boolean }>
  /** Calls back within about a second of each change of what is watched. Returns a function that unsubscribes. */
  subscribe(listener: LiveListener): () => void
}
