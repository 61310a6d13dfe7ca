/** What a host's `accountOf` is asked with, and ready ones for common set-ups. */
import { wrong } from '../source/options.js'
import type { SwitchEvent } from './event.js'

/** What is known of a leg at one of its events. Values are the same in both formats. */
export interface FreeswitchFacts {
  /** The event at which the account is asked for: `CHANNEL_CREATE`, … */
  readonly event: string
  /** The leg, as the switch names it now. */
  readonly uuid: string
  /** A header by its exact name: `Caller-Context`, `Channel-Name`, … An array is one text, `ARRAY::a|:b`. */
  header(name: string): string | undefined
  /** A channel variable by its exact name, without `variable_`. */
  variable(name: string): string | undefined
}

/**
 * The id of the account that a leg belongs to; `undefined`: this event does not tell, a later one may. Asked with each
 * event of the leg until it tells. What it throws is a `problem` and counts as `undefined`.
 */
export type FreeswitchAccountOf = (facts: FreeswitchFacts) => string | undefined

/** An event as facts. */
export function factsOf(uuid: string, { name, header }: SwitchEvent): FreeswitchFacts {
  return { event: name, uuid, header, variable: (variable) => header(`variable_${variable}`) }
}

/**
 * The account is the value of a channel variable. The dial plan sets it with `set` (that leg) or `export` (also the legs
 * that it dials), so an inbound leg has it some milliseconds after its begin.
 *
 * @param name with or without `variable_`. Default `ecallmgr_Account-ID`, KAZOO's
 */
export function accountFromVariable(name = 'ecallmgr_Account-ID'): FreeswitchAccountOf {
  if (typeof name !== 'string' || name === '') throw wrong('name', 'of the variable must be a text')
  const key = name.startsWith('variable_') ? name : `variable_${name}`
  return ({ header }) => header(key)
}

/**
 * The account is the value of a SIP header of the INVITE: known at once. Take it only from phones and proxies that you
 * trust; the switch copies it to the legs that it dials.
 *
 * @param name of the header: `X-Account`. The switch keeps those that begin with `X-` (`variable_sip_h_X-Account`)
 */
export function accountFromSipHeader(name: string): FreeswitchAccountOf {
  const key = `variable_sip_h_${name}`
  return ({ header }) => header(key)
}

/**
 * The account by the SIP domain: that of the caller of an inbound leg, else the one it called; that of the callee of a leg
 * that the switch dials. Loopback legs have none.
 *
 * @param accounts account ids by domain, any case
 */
export function accountFromRealm(accounts: Readonly<Record<string, string>>): FreeswitchAccountOf {
  const byRealm = new Map(Object.entries(accounts).map(([realm, id]) => [realm.trim().toLowerCase(), id]))
  const of = (realm: string | undefined) =>
    realm === undefined ? undefined : byRealm.get(realm.toLowerCase())
  return ({ header }) =>
    header('Call-Direction') === 'inbound'
      ? (of(header('variable_sip_from_host')) ??
        of(header('variable_sip_to_host')) ??
        of(header('variable_sip_req_host')))
      : (of(realmOf(header('variable_sip_req_uri'))) ?? of(header('variable_sip_to_host')))
}

/**
 * The account by the dial plan context that the leg is in.
 *
 * @param accounts account ids by `Caller-Context`
 */
export function accountFromContext(accounts: Readonly<Record<string, string>>): FreeswitchAccountOf {
  const byContext = new Map(Object.entries(accounts))
  return ({ header }) => byContext.get(header('Caller-Context') ?? '')
}

/**
 * The account by the SIP profile, or for a leg through a gateway by its name.
 *
 * @param accounts account ids by profile (`variable_sofia_profile_name`) or gateway (`variable_sip_gateway_name`)
 */
export function accountFromEndpoint(accounts: Readonly<Record<string, string>>): FreeswitchAccountOf {
  const byName = new Map(Object.entries(accounts))
  return ({ header }) =>
    byName.get(header('variable_sip_gateway_name') ?? '') ??
    byName.get(header('variable_sofia_profile_name') ?? '')
}

/** The account is the variable `accountcode`, as directories and dial plans set it for call records. */
export function accountFromAccountCode(): FreeswitchAccountOf {
  return accountFromVariable('accountcode')
}

function realmOf(uri: string | undefined): string | undefined {
  return uri?.slice(uri.lastIndexOf('@') + 1).replace(/[:;].*$/s, '')
}
