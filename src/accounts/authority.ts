import type { Account } from './account.js'

/**
 * Whether a token of one account may act on another: on itself and on every account below it, on nothing else
 * (KAZOO `crossbar_util` account hierarchy).
 *
 * @param lineageOfTarget the account to be acted on, then its ancestors; empty when there is no such account
 */
export function hasAuthority(callerAccountId: string, lineageOfTarget: readonly Account[]): boolean {
  return lineageOfTarget.some((account) => account.id === callerAccountId)
}

/**
 * Whether logins and tokens of an account work: iff the account exists and is itself enabled. A disabled ancestor
 * does not lock what is below it: its own tokens are dead, so nobody acts through it (KAZOO looks at the account
 * alone, too).
 *
 * @param lineage the account, then its ancestors; empty when there is no such account
 */
export function isUsable(lineage: readonly Account[]): boolean {
  return lineage[0]?.enabled === true
}
