import type { Clock, DeliveryStore, InboxStore, Log } from 'hookswitch/store'
import type { Session } from './session.js'

/** What every part of an open store works with. */
export interface Doors {
  readonly session: Session
  /** One whose statements may take an hour, each on a connection that is closed afterwards. */
  patient(): Session
  /** The schema's name, quoted: what stands before the dot of every table. */
  readonly schema: string
  /** What nodes that work on this schema tell each other on; not quoted. */
  readonly channel: string
  /** Store time, for tests and simulations; `undefined`: the server's own clock. */
  readonly clock: Clock | undefined
  readonly log: Log
}

/** What the store reads back, removes and erases. */
export type Readback = Pick<
  DeliveryStore,
  | 'webhookOf'
  | 'delivery'
  | 'deliveries'
  | 'attempts'
  | 'legs'
  | 'pending'
  | 'prune'
  | 'erase'
  | 'mentions'
  | 'scrub'
>

/** The queue: made by `postgresQueue(doors)` in `group-queue.ts`. */
export interface Queue {
  readonly deliveries: Omit<DeliveryStore, keyof Readback>
  readonly inbox: InboxStore
  /**
   * Tells this node and, by NOTIFY, the others, after a commit: this endpoint may be due earlier than they know, or has
   * deliveries that became stale. Never throws.
   */
  tell(webhookId: string, stale: boolean): void
  /** Begins to listen, and to look by itself now and then. After the migrations. */
  open(): Promise<void>
  /** Ends both; what is under way ends first. */
  close(): Promise<void>
}
