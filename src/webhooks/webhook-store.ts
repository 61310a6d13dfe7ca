import type { PageQuery } from '../accounts/account-store.js'
import type { Webhook } from './webhook.js'

/** Place of a webhook in the order of `page`. */
export type WebhookPosition = readonly [name: string, id: string]

export const positionOf = ({ id, settings }: Webhook): WebhookPosition => [settings.name, id]

/** One page of an account's webhooks, sorted by name, then id. */
export interface WebhookQuery extends PageQuery {
  /** True: only webhooks that have a `health` or are disabled; a store may return others beside them. Default false. */
  readonly onlyTroubled?: boolean
}

/**
 * The storage port of webhooks. Every call carries the account, so that no account sees another's rows.
 * Deletion is soft: a deleted webhook is invisible here, but its attempts stay readable.
 * Every promise may reject with `StoreUnavailable`.
 */
export interface WebhookStore {
  /** Inserts a new webhook. Rejects with `Conflict` (field `id`) when the id is taken. */
  insert(webhook: Webhook): Promise<void>
  /** Reads a webhook of this account that is not deleted. */
  read(accountId: string, webhookId: string): Promise<Webhook | undefined>
  /** The webhooks of these accounts that are not deleted, sorted by name, then id. */
  list(accountIds: readonly string[]): Promise<readonly Webhook[]>
  /**
   * One page of the webhooks of this account that are not deleted. The cost must not grow with the account's other webhooks,
   * unless the query has a condition.
   */
  page(accountId: string, query: WebhookQuery): Promise<readonly Webhook[]>
  /**
   * The webhooks of these accounts that are not deleted and listen to `hook` or to `all`, enabled or not: matching is a
   * decision, not a query. The cost must not grow with the webhooks of other accounts. Their `health` may be stale.
   */
  candidates(accountIds: readonly string[], hook: string): Promise<readonly Webhook[]>
  /**
   * Up to `limit` webhooks of all accounts that are not deleted and have a `health` or a `disableReason`, sorted by id
   * (UTF-16 code units); a store may return others beside them. `afterId`: only greater ids. Default: from the start.
   */
  unhealthy(limit: number, afterId?: string): Promise<readonly Webhook[]>
  /**
   * Up to `limit` webhooks of all accounts that are not deleted, sorted by id (UTF-16 code units). `afterId`: only greater
   * ids. Default: from the start.
   */
  ids(limit: number, afterId?: string): Promise<readonly Pick<Webhook, 'id' | 'accountId'>[]>
  /**
   * Replaces the row whose revision is `expectedRevision`. Resolves to false when another change came first or the
   * webhook is deleted. A row with a higher `epoch` cancels, for every reader at once, the deliveries of older epochs.
   * `health` belongs to the store, which writes it with settlements: the stored health is kept and the row's is ignored,
   * unless the webhook becomes enabled or gets another `uri`, which clears it, or gets another `resumedRevision`, which
   * ends its pause (`healthAfterChange`).
   */
  replace(webhook: Webhook, expectedRevision: number): Promise<boolean>
}
