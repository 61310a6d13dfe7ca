import type { AccountStore } from '../accounts/account-store.js'
import type { TokenStore } from '../auth/token-store.js'
import type { DeliveryStore } from '../delivery/delivery-store.js'
import type { InboxStore } from '../delivery/inbox-store.js'
import type { Clock, Log } from '../ports.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'

/** What a store can promise. */
export interface StoreSupports {
  /** Accepted events survive the process. */
  readonly durable: boolean
  /** Several nodes may work on it at once: leases are renewed, caches re-checked. */
  readonly sharedBetweenNodes: boolean
  /** `publish(event, { tx })` inside the host's own transaction. */
  readonly transactions: boolean
}

/**
 * Everything hookswitch keeps, in one place, so that what belongs together is one transaction:
 *
 * - accept = events + deliveries + sequence numbers + idempotency keys;
 * - settle = attempt record + next state + promotion of the lane + health + disabling;
 * - replacing a webhook by one of a higher epoch cancels its pending deliveries for every reader at once.
 *
 * `storeConformance` in `hookswitch/testkit` checks every promise of these interfaces.
 */
export interface Store {
  readonly supports: StoreSupports
  /** Opens connections, runs migrations. Called once by `hs.start()`, before anything else. */
  open(doors: { readonly clock: Clock; readonly log: Log }): Promise<void>
  /** The key for secrets at rest, where the store keeps one itself; used when the host gives none. */
  secret?(): Promise<string>
  close(): Promise<void>
  readonly accounts: AccountStore
  readonly tokens: TokenStore
  readonly webhooks: WebhookStore
  readonly deliveries: DeliveryStore
  /** Present where `supports.transactions`. */
  readonly inbox?: InboxStore
}
