/** JSON of accounts. */
import type { Account } from '../accounts/account.js'
import { resellerOf } from '../accounts/account-document.js'
import { toGregorian } from '../values/gregorian-time.js'
import type { JsonObject } from './webhook-json.js'

/** What the JSON of an account shows besides its row. */
interface AccountContext {
  /** The account, then its ancestors; absent: the stored reseller is shown. */
  readonly lineage?: readonly Account[]
  /** Whether the account's admins act on every account. */
  readonly isOperator: boolean
  readonly defaultTimezone: string
  /** Shown only to admins who ask for it. */
  readonly apiKey?: string
  /** The account was just deleted. */
  readonly deleted?: true
}

/** The whole account. Times are Gregorian seconds (KAZOO). */
export function accountJson(account: Account, context: AccountContext): JsonObject {
  const { lineage, isOperator, defaultTimezone, apiKey, deleted } = context
  const created = seconds(account.createdMs)
  return {
    id: account.id,
    name: account.name,
    realm: account.realm,
    enabled: account.enabled,
    language: account.language,
    timezone: account.timezone ?? defaultTimezone,
    flags: account.flags,
    ...account.extra,
    created,
    is_reseller: account.isReseller,
    reseller_id: lineage ? resellerOf(lineage) : account.resellerId,
    superduper_admin: isOperator,
    wnm_allow_additions: false,
    billing_mode: 'manual',
    api_key: apiKey,
    _read_only: { created, modified: seconds(account.modifiedMs), deleted },
  }
}

/** A host's directory may not know times. */
const seconds = (unixMs: number | undefined) => (unixMs === undefined ? undefined : toGregorian(unixMs))

const flagsOf = ({ flags }: Account) => flags ?? []

/** An account in lists of children, siblings and search results. */
export function accountSummaryJson({ id, name, realm }: Account, descendantsCount: number): JsonObject {
  return { id, name, realm, descendants_count: descendantsCount }
}

/** An account in lists of children and siblings. */
export function childJson(account: Account, descendantsCount: number): JsonObject {
  return { ...accountSummaryJson(account, descendantsCount), flags: flagsOf(account) }
}

/** @param tree ids from the token's account down to the account's parent */
export function descendantJson(account: Account, tree: readonly string[]): JsonObject {
  const { id, name, realm } = account
  return { id, name, realm, tree, flags: flagsOf(account) }
}

/** An account in the list of all accounts, for operators. */
export function anyAccountJson({ id, name, realm, enabled }: Account, tree: readonly string[]): JsonObject {
  return { id, name, realm, tree, enabled }
}

/** An account above another one. */
export function ancestorJson(account: Account): JsonObject {
  const { id, name, realm } = account
  return { id, name, realm, flags: flagsOf(account) }
}
