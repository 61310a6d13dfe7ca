/** Whose call it is: ready functions for `accountOf`. */
import { wrong } from '../source/options.js'
import { sipAddress } from '../source/sip-address.js'
import type { KamailioLine } from './line.js'

/** The id of the account that a call belongs to, asked with every line of the call until it is told. */
export type KamailioAccountOf = (line: KamailioLine) => string | undefined

/**
 * The domain that owns a call: the dialog variable `account`, else the domain of the caller's address. Of the
 * dialog where there is one: in requests of the callee the parties are swapped.
 */
export function accountDomain(line: KamailioLine): string | undefined {
  const domain = line.dialog?.account ?? domainOf(line.dialog?.fromUri ?? line.fromUri)
  return domain?.toLowerCase() || undefined
}

/**
 * An `accountOf` for hosts whose accounts have a SIP domain each. The first of these that the table knows: the dialog
 * variable `account`, which holds a domain and no account id; the domain of the caller; of the one who is called; of
 * the request. So a call that comes from a carrier belongs to whom it is for.
 *
 * The caller writes From: whoever the proxy lets in can name a domain that is not theirs. Let the proxy set the
 * dialog variable to a domain that it has checked, before it tells of the call.
 *
 * @param accounts from domain to account id
 * @throws `InvalidOption` where `accounts` is no such table
 */
export function accountByDomain(accounts: Readonly<Record<string, string>>): KamailioAccountOf {
  if (typeof accounts !== 'object' || accounts === null || Array.isArray(accounts)) {
    throw wrong('accounts', 'of accountByDomain must be an object, from domain to account id')
  }
  const byDomain = new Map<string, string>()
  for (const [domain, id] of Object.entries(accounts)) {
    if (typeof id !== 'string' || id === '') throw wrong('accounts', 'must hold account ids, as texts')
    byDomain.set(domain.trim().toLowerCase(), id)
  }
  return (line) =>
    byDomain.get(accountDomain(line) ?? '') ??
    byDomain.get(domainOf(line.dialog?.fromUri ?? line.fromUri) ?? '') ??
    byDomain.get(domainOf(line.dialog?.toUri ?? line.toUri) ?? '') ??
    byDomain.get(domainOf(line.originalRequestUri) ?? '')
}

function domainOf(uri: string | undefined): string | undefined {
  return sipAddress(uri)?.domain
}
