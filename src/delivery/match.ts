import type { Account } from 'hookswitch'
import type { Webhook } from 'hookswitch/store'
import { ALL_HOOKS, OBJECT_HOOK } from '../webhooks/catalogue.js'
import { passesFilter } from '../webhooks/event-filter.js'
import { isMetaHook } from '../webhooks/meta-hooks.js'

/** The fields of an event that matching reads. */
export interface Matchable {
  /** The event’s kind. */
  readonly hook: string
  /** The event’s account. */
  readonly accountId: string
  /** True for an internal (loopback) leg. */
  readonly isInternalLeg?: boolean | undefined
  /** `object`: the type of the document. */
  readonly documentType?: string | undefined
  /** `object`: what happened to it. */
  readonly documentAction?: string | undefined
}

/** The payload of an event, by which webhooks may filter. */
export type Payload = Readonly<Record<string, unknown>>

/**
 * Why a webhook does not get an event: it or its account is disabled (`disabled`, `account_disabled`); it is for another
 * kind of event (`hook`), not listed in its `only` (`only`), or another kind of document (`document`); the leg is internal
 * (`internal_leg`); the event is of an account below and `includeSubaccounts` is false, or of one outside (`account`); its
 * `filter` does not pass (`filter`).
 */
export type Mismatch =
  | 'disabled'
  | 'account_disabled'
  | 'hook'
  | 'only'
  | 'document'
  | 'internal_leg'
  | 'account'
  | 'filter'

/**
 * Why a webhook does not get an event; `undefined`: it gets it.
 *
 * The webhook and its account must be enabled; its `hook` must be the event's kind, or `all`, which leaves out
 * events about webhooks (`webhooks/meta-hooks`); it must belong
 * to the event's account, or to an ancestor of it and have `includeSubaccounts`. Events of internal
 * (loopback) legs also need `includeInternalLegs`. A webhook of the hook `object` chooses documents by its
 * custom data. Source: KAZOO `webhooks_util:maybe_fire_hook`, `webhooks_object:match_action_type`. Ours: with
 * `only`, its kind must be listed, and with `filter`, its payload must pass.
 *
 * @param lineage the event's account, then its ancestors up to the root
 * @param payload the payload without custom data and sequence number; only webhooks with a filter need it. Default: empty
 */
export function mismatchOf(
  webhook: Webhook,
  event: Matchable,
  lineage: readonly Account[],
  payload: Payload = {},
): Mismatch | undefined {
  const { enabled, hook, only, filter, includeSubaccounts, includeInternalLegs } = webhook.settings
  if (!enabled || webhook.deletedMs !== undefined) return 'disabled'
  if (hook !== ALL_HOOKS) {
    if (hook !== event.hook) return 'hook'
  } else if (only) {
    if (!only.includes(event.hook)) return 'only'
  } else if (isMetaHook(event.hook)) return 'hook'
  if (hook === OBJECT_HOOK && !isChosen(webhook, event)) return 'document'
  if (event.isInternalLeg === true && !includeInternalLegs) return 'internal_leg'
  if (webhook.accountId !== event.accountId && !includeSubaccounts) return 'account'
  if (filter && !passesFilter(filter, payload)) return 'filter'
  const account = lineage.find(({ id }) => id === webhook.accountId)
  if (!account) return 'account'
  return account.enabled ? undefined : 'account_disabled'
}

/** Whether a webhook gets an event (`mismatchOf`). */
export function matches(
  webhook: Webhook,
  event: Matchable,
  lineage: readonly Account[],
  payload: Payload = {},
): boolean {
  return mismatchOf(webhook, event, lineage, payload) === undefined
}

/** Whether the `type` and `action` of the webhook's custom data are those of the event, or `all`. */
function isChosen(webhook: Webhook, { documentType, documentAction }: Matchable): boolean {
  const { type = ALL_HOOKS, action = ALL_HOOKS } = webhook.settings.customData ?? {}
  return (type === ALL_HOOKS || type === documentType) && (action === ALL_HOOKS || action === documentAction)
}
