/** Whose call it is: ready functions for `accountOf`. */
import { sipAddress } from '../source/sip-address.js'
import type { KamailioLine } from './line.js'

/** The id of the account that a call belongs to, asked with every line of the call until it is told. */
export type KamailioAccountOf = (line: KamailioLine) => string | undefined

/**
 * The domain that owns a call: the dialog variable `account`, else the domain of the caller's address. Of the
 * dialog where there is one: in requests of the callee the parties are swapped.
 */
export function accountDomain(line: KamailioLine): string | undefined {
  const domain = line.dialog?.account ?? sipAddress(line.dialog?.fromUri ?? line.fromUri)?.domain
  return domain?.toLowerCase() || undefined
}

/** An `accountOf` for hosts whose accounts have a SIP domain each: a table from domain to account id. */
export function accountByDomain(accounts: Readonly<Record<string, string>>): KamailioAccountOf {
  const byDomain = new Map(Object.entries(accounts).map(([domain, id]) => [domain.trim().toLowerCase(), id]))
  return (line) => byDomain.get(accountDomain(line) ?? '')
}
