/** Pure access rules over an account's lineage (the account followed by its ancestors). */
import type { Account } from './account.js'

/**
 * Whether an account is the first of a lineage or one of its ancestors: a caller may act on its own account and on
 * every account below it, and on nothing else (KAZOO `crossbar_util` account hierarchy).
 *
 * @param accountId the caller's account
 * @param lineage the target account, then its ancestors; empty when the target does not exist
 */
export function isSelfOrAncestor(accountId: string, lineage: readonly Account[]): boolean {
  return lineage.some((account) => account.id === accountId)
}

/**
 * Whether logins and tokens of an account work: the account exists and is itself enabled. A disabled ancestor does
 * not lock its descendants; the ancestor's own tokens are invalid, so nobody acts through it. (KAZOO also checks only
 * the account itself.)
 *
 * @param lineage the account, then its ancestors; empty when the account does not exist
 */
export function isAccountEnabled(lineage: readonly Account[]): boolean {
  return lineage[0]?.enabled === true
}
