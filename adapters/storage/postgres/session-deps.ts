/** Dependencies and ports that the parts of the store share. */
import type { Clock, DeliveryStore, InboxStore, Log } from 'hookswitch/store'
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
  /** Clock of the node that opened the store, for monotonic time. */
  nodeClock(): Clock
  readonly log: Log
}

/** The part of the delivery store that reads, prunes and erases. */
export type Queries = Pick<
  DeliveryStore,
  | 'webhookOf'
  | 'delivery'
  | 'deliveries'
  | 'search'
  | 'attempts'
  | 'lastSuccesses'
  | 'legs'
  | 'pending'
  | 'prune'
  | 'erase'
  | 'mentions'
  | 'scrub'
>

/** The part of the delivery store that accepts, claims and settles (`queue.ts`). */
export interface Queue {
  readonly deliveries: Omit<DeliveryStore, keyof Queries>
  readonly inbox: InboxStore
  /**
   * Notifies this node and, by NOTIFY, the others, after a commit: this endpoint may be due earlier than they know, or
   * has stale deliveries. Never throws.
   */
  notify(webhookId: string, isStale: boolean): void
  /** Starts to listen and to poll. Call it after the migrations. */
  open(): Promise<void>
  /** Stops both, after the calls in progress. */
  close(): Promise<void>
}
