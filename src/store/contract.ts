import type { AccountStore } from '../accounts/account-store.js'
import type { TokenStore } from '../auth/token-store.js'
import type { CallIndexStore } from '../delivery/call-index-store.js'
import type { HoldStore } from '../delivery/hold-store.js'
import type { InboxStore } from '../delivery/inbox-store.js'
import type { LiveStore } from '../delivery/live-store.js'
import type { QueueStore } from '../delivery/queue-store.js'
import type { ReplayStore } from '../delivery/replay-store.js'
import type { OpenLegStore } from '../legs/open-leg-store.js'
import type { Clock, Log } from '../ports.js'
import type { StatsStore } from '../stats/stats-store.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'
import type { EncryptionStore } from './encryption-store.js'

/** What a store guarantees beyond the contract; declared by each store, checked by the conformance suite. */
export interface StoreSupports {
  /** Accepted events survive the process. */
  readonly durable: boolean
  /** Several nodes may use the store at once: shard leases expire and are renewed. */
  readonly sharedBetweenNodes: boolean
  /** `publish(event, { tx })` can write in the host's own transaction; the store has an `inbox`. */
  readonly transactions: boolean
  /**
   * Nodes pass items of live streams to each other; the store has `live`. Default false: streams show the events and changes of
   * webhooks of their own node.
   */
  readonly liveItems?: boolean
}

/**
 * A store, everything that the service keeps: the ports of all domains, and the guarantees that involve several of them.
 *
 * - `deliveries.commit` writes a group in one transaction: events, deliveries, sequence numbers and idempotency keys;
 *   attempt records, next states, the endpoints' health and their disabling; the starts of attempts.
 * - `webhooks.replace` with a higher epoch cancels the webhook's pending deliveries for every reader at once, and raises the
 *   version of the node that owns its shard.
 *
 * `storeConformance` in `hookswitch/testkit` checks every guarantee of these interfaces.
 */
export interface Store {
  /** The guarantees of this store beyond the contract. */
  readonly supports: StoreSupports
  /** Opens connections and runs schema migrations. `hs.start()` calls it once, before any other method. */
  open(deps: { readonly clock: Clock; readonly log: Log }): Promise<void>
  /** The key that encrypts secrets at rest, in stores that keep one; used when the host passes no `secret`. */
  secret?(): Promise<string>
  /**
   * Replaces the key that `secret` returns, durably and atomically: `rotateSecret` calls it last. Present iff `secret` is.
   * Rejects with `InvalidOption` (field `to`) for a key that the store cannot keep.
   */
  replaceSecret?(secret: string): Promise<void>
  /** Releases connections, timers and handles. Every later call rejects with `StoreUnavailable`. */
  close(): Promise<void>
  /** Accounts, API keys and users. Not used when the host provides a directory. */
  readonly accounts: AccountStore
  /** Access tokens. */
  readonly tokens: TokenStore
  /** Webhooks and their settings. */
  readonly webhooks: WebhookStore
  /** Events, deliveries, attempts and the leases of nodes: the log of the queues in the memory of the nodes. */
  readonly deliveries: QueueStore
  /** Open legs of event sources, which survive a restart where the store is durable. */
  readonly openLegs: OpenLegStore
  /** What is held. */
  readonly holds: HoldStore
  /** Replay jobs. */
  readonly replays: ReplayStore
  /** Which service secrets are in use, and everything that is encrypted with them. */
  readonly encryption: EncryptionStore
  /** Counts of attempts over time. */
  readonly stats: StatsStore
  /** Events that no webhook wanted, and the calls of numbers. */
  readonly callIndex: CallIndexStore
  /** Present iff `supports.transactions`. */
  readonly inbox?: InboxStore
  /** Present iff `supports.liveItems`. */
  readonly live?: LiveStore
}
