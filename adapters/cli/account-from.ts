/** Where a switch's events name the account of a call, and the realm of its addresses: as flags and parameters say it. */
import type { ParameterReader } from './switch-parameters.js'

/** Where the account of a call is read. The value is an account id, except for `realm`. */
export type AccountFrom =
  | { readonly kind: 'variable' | 'sip-header'; readonly name: string }
  | { readonly kind: 'realm' | 'context' | 'endpoint' | 'account-code' }

/** Where the realm of an Asterisk leg's addresses is read: the realm of its account, a variable, or always the same. */
export type RealmFrom =
  | { readonly kind: 'account' }
  | { readonly kind: 'variable' | 'fixed'; readonly name: string }

const NAME = /^[\w.-]{1,128}$/
const DOMAIN = /^[\w.-]{1,253}$/

/** Reads `variable:NAME`, `sip-header:NAME`, `realm`, `context`, `endpoint` or `account-code`. */
export const accountFromParameter: ParameterReader<AccountFrom> = (text, problem) => {
  const [kind = '', ...rest] = text.split(':')
  const name = rest.join(':')
  if (kind === 'variable' || kind === 'sip-header') {
    if (!NAME.test(name)) throw problem(`needs a name: ${kind}:NAME`)
    return { kind, name }
  }
  if (kind === 'realm' || kind === 'context' || kind === 'endpoint' || kind === 'account-code') {
    if (rest.length > 0) throw problem(`${kind} takes no name`)
    return { kind }
  }
  const possible = 'variable:NAME, sip-header:NAME, realm, context, endpoint or account-code'
  throw problem(`must be ${possible}`)
}

/** Reads `account`, `variable:NAME` or `fixed:DOMAIN`. */
export const realmFromParameter: ParameterReader<RealmFrom> = (text, problem) => {
  const [kind = '', ...rest] = text.split(':')
  const name = rest.join(':')
  if (kind === 'account' && rest.length === 0) return { kind }
  if (kind === 'variable' && NAME.test(name)) return { kind, name }
  if (kind === 'fixed' && DOMAIN.test(name)) return { kind, name }
  throw problem('must be account, variable:NAME or fixed:DOMAIN')
}
