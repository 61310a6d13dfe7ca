/** Dependencies and ports that the parts of the store share. */
import type { Clock, InboxStore, LiveListener, Log, QueueStore } from 'hookswitch/store'
import type { Memory } from './commit-memory.js'
import type { Session } from './session.js'

/** Dependencies of every part of an open store. */
export interface Deps {
  readonly session: Session
  /** A session whose statements may take an hour, each on a connection that is closed afterwards. */
  maintenanceSession(): Session
  /** Name of the schema, quoted: the qualifier of every table. */
  readonly schema: string
  /** Notification channel of the nodes that share this schema; not quoted. */
  readonly channel: string
  /** Clock for tests and simulations, instead of the server's; `undefined`: the clock of the server. */
  readonly clock: Clock | undefined
  /** The timeline of the server's log; `undefined`: unknown. */
  timeline(): string | undefined
  /** Clock of the node that opened the store, for monotonic time. */
  nodeClock(): Clock
  readonly log: Log
}

/** What has changed of live items: what is watched, or the items. */
export type LiveSignal = 'watched' | 'items'

/** The part of the queue store that reads, prunes and erases. */
export type Queries = Pick<
  QueueStore,
  | 'webhookOf'
  | 'delivery'
  | 'deliveries'
  | 'listPart'
  | 'countReplayable'
  | 'eventOf'
  | 'search'
  | 'attempts'
  | 'lastSuccesses'
  | 'activity'
  | 'eventBodies'
  | 'attemptLog'
  | 'legs'
  | 'prune'
  | 'historyBytes'
  | 'pruneOldest'
  | 'erase'
  | 'mentions'
  | 'scrub'
>

/** The part of the queue store that a node works with (`queue.ts`). */
export interface Queue {
  readonly deliveries: Omit<QueueStore, keyof Queries>
  readonly inbox: InboxStore
  readonly memory: Memory
  /**
   * Notifies this node or, by NOTIFY, the others, after a commit: the owner of this shard may have something to do. Never
   * throws.
   */
  notify(shard: number): void
  /** Notifies all nodes, this one included, by NOTIFY. Never throws. */
  notifyLive(signal: LiveSignal): void
  /** Calls back about live items. Returns a function that unsubscribes. */
  subscribeLive(listener: LiveListener): () => void
  /** Another server has taken over, which may lack the last commits: nodes load their shards before they write again. */
  serverReplaced(): void
  /** Starts to listen and to poll. Call it after the migrations. */
  open(): Promise<void>
  /** Stops both, after the calls in progress. */
  close(): Promise<void>
}
