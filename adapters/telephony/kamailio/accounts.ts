/** Resolves the account of a call: ready-made functions for `accountOf`. */
import { invalidOption } from '../source/options.js'
import { sipAddress } from '../source/sip-address.js'
import type { KamailioLine } from './line.js'

/**
 * Returns the id of the account that a call belongs to; `undefined`: not known from this line, a later one may show it.
 * Called with every line of the call until it returns an id.
 */
export type KamailioAccountOf = (line: KamailioLine) => string | undefined

/**
 * The domain that owns a call, in lower case: the dialog variable `account`, else the domain of the caller's address.
 * The dialog's address is preferred: in requests of the callee the parties are swapped.
 */
export function accountDomain(line: KamailioLine): string | undefined {
  const domain = line.dialog?.account ?? domainOf(line.dialog?.fromUri ?? line.fromUri)
  return domain?.toLowerCase() || undefined
}

/**
 * An `accountOf` for hosts whose accounts have a SIP domain each. It looks up, in this order, the dialog variable
 * `account` (which holds a domain, not an account id) and the domains of the caller, of the callee and of the request. So
 * a call from a carrier belongs to the account that it is for.
 *
 * The caller chooses the From header, so anyone from whom the proxy accepts calls can name another account's domain. Let
 * the proxy set the dialog variable to a domain that it has verified, before it sends the first line of the call.
 *
 * @param accounts account ids by domain, case-insensitive
 * @throws `InvalidOption` if `accounts` is not an object of non-empty strings
 */
export function accountByDomain(accounts: Readonly<Record<string, string>>): KamailioAccountOf {
  if (typeof accounts !== 'object' || accounts === null || Array.isArray(accounts)) {
    throw invalidOption('accounts', 'of accountByDomain must be an object of account ids by domain')
  }
  const byDomain = new Map<string, string>()
  for (const [domain, id] of Object.entries(accounts)) {
    if (typeof id !== 'string' || id === '')
      throw invalidOption('accounts', 'must hold account ids, non-empty strings')
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
