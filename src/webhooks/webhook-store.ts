import type { Webhook } from './webhook.js'

/**
 * The storage door of webhooks. Two accounts never see each other's rows: every call carries the account.
 * Deleting is soft: a deleted webhook is invisible here, its attempts stay readable.
 * Every promise may reject with `StoreUnavailable`.
 */
export interface WebhookStore {
  insert(webhook: Webhook): Promise<void>
  /** A live webhook of this account. */
  read(accountId: string, webhookId: string): Promise<Webhook | undefined>
  /** Live webhooks of these accounts, sorted by name, then id. */
  list(accountIds: readonly string[]): Promise<readonly Webhook[]>
  /**
   * Live webhooks of these accounts that listen to `hook` or to `all`, enabled or not: matching is a decision,
   * not a query. Must not grow with the webhooks of other accounts. Their `health` may be that of an earlier time.
   */
  candidates(accountIds: readonly string[], hook: string): Promise<readonly Webhook[]>
  /**
   * Replaces the row whose revision is `expectedRevision`. False when another change came first, or it is gone.
   * A row with a higher `epoch` cancels, for every reader at once, the deliveries of older epochs. `health` is the
   * store's, written by settlements: what is stored stays, whatever this row says, unless the webhook becomes
   * enabled or leads to another `uri` (`keepsHealth`): then it starts clean.
   */
  replace(webhook: Webhook, expectedRevision: number): Promise<boolean>
}
