/** JSON of what was looked up. */
import type { JsonObject } from './webhook-json.js'

/** Kinds of things that can be looked up. */
export const LOOKED_UP_TYPES = ['webhook', 'delivery', 'event', 'call', 'account'] as const

/** Something that has the id or the name that was looked up. */
export interface LookedUp {
  readonly type: (typeof LOOKED_UP_TYPES)[number]
  readonly id: string
  /** Id of the account that it belongs to; of an account its own. */
  readonly accountId: string
  /** Name of that account; absent if it was removed. */
  readonly accountName?: string | undefined
  /** The name of a webhook, the kind of a delivery or event, the realm of an account. */
  readonly label?: string | undefined
}

/** Returns the JSON of what was found. */
export const lookedUpJson = ({ type, id, accountId, accountName, label }: LookedUp): JsonObject => ({
  type,
  id,
  account_id: accountId,
  account_name: accountName,
  label,
})
