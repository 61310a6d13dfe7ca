import type { Account } from '../accounts/account.js'
import type { Webhook } from '../webhooks/webhook.js'

/** What of an event decides whom it is for. */
export interface Matchable {
  readonly hook: string
  readonly accountId: string
  readonly isInternalLeg?: boolean
}

/**
 * Whether a webhook wants an event.
 *
 * It must be enabled and of an enabled account; listen to this kind or to `all`; be of the event's account, or of
 * one above it with `includeSubaccounts`; and internal (loopback) legs are only for those that asked for them.
 * Rule: KAZOO `webhooks_util:maybe_fire_hook`.
 *
 * @param lineage the event's account, then its ancestors up to the root
 */
export function matches(webhook: Webhook, event: Matchable, lineage: readonly Account[]): boolean {
  const { enabled, hook, includeSubaccounts, includeInternalLegs } = webhook.settings
  if (!enabled || webhook.deletedMs !== undefined) return false
  if (hook !== 'all' && hook !== event.hook) return false
  if (event.isInternalLeg === true && !includeInternalLegs) return false
  if (webhook.accountId !== event.accountId && !includeSubaccounts) return false
  return lineage.some((account) => account.id === webhook.accountId && account.enabled)
}
