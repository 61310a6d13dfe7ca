/** The input of a host's `accountOf`, and ready-made functions for common set-ups. */
import { invalidOption } from '../source/options.js'
import type { EslEvent } from './event.js'

/** The data of a leg at one of its events, as `accountOf` reads it. Values are the same in both event formats. */
export interface FreeswitchFacts {
  /**
   * Name of the event at which the account is resolved: `CHANNEL_CREATE`, …; `sofia::register` and the like of a device,
   * `callcenter::info` of an agent, `MESSAGE` of a text message.
   */
  readonly event: string
  /** The leg's current id; of what has no leg, the `callId` of its event. */
  readonly uuid: string
  /** A header by its exact name: `Caller-Context`, `Channel-Name`, … An array is one string, `ARRAY::a|:b`. */
  header(name: string): string | undefined
  /** A channel variable by its exact name, without `variable_`. */
  variable(name: string): string | undefined
}

/**
 * Returns the id of the account that a leg belongs to; `undefined`: this event does not show it, a later one may.
 * Called at each event of the leg until it returns an id. If it throws, that is reported as a `problem` and counts as
 * `undefined`.
 */
export type FreeswitchAccountOf = (facts: FreeswitchFacts) => string | undefined

/** @param uuid the leg's current id */
export function factsOf(uuid: string, event: EslEvent): FreeswitchFacts {
  return {
    event: event.header('Event-Subclass') ?? event.name,
    uuid,
    header: (name) => event.header(name),
    variable: (name) => event.header(`variable_${name}`),
  }
}

/**
 * The account is the value of a channel variable. The dial plan sets it with `set` (that leg) or `export` (also the legs
 * that it dials), so an inbound leg has it some milliseconds after its first event.
 *
 * @param name with or without `variable_`. Default `ecallmgr_Account-ID`, KAZOO's
 * @throws `InvalidOption` if `name` is not a non-empty string
 */
export function accountFromVariable(name = 'ecallmgr_Account-ID'): FreeswitchAccountOf {
  if (typeof name !== 'string' || name === '')
    throw invalidOption('name', 'of the variable must be a non-empty string')
  const key = name.startsWith('variable_') ? name : `variable_${name}`
  return ({ header }) => header(key)
}

/**
 * The account is the value of a SIP header of the INVITE: known from the first event on. Accept it only from trusted
 * phones and proxies; the switch copies it to the legs that it dials.
 *
 * @param name of the header: `X-Account`. The switch keeps headers with the prefix `X-` (`variable_sip_h_X-Account`)
 */
export function accountFromSipHeader(name: string): FreeswitchAccountOf {
  const key = `variable_sip_h_${name}`
  return ({ header }) => header(key)
}

/**
 * The account by SIP domain. For an inbound leg: the domain of the caller, else the domain that was called. For a leg
 * that the switch dials: the domain of the callee. For a device: that at which it is registered. For a text message: that
 * of its sender, else of its recipient. For an agent of mod_callcenter: that of its name (`1007@acme.example`). Loopback
 * legs have none.
 *
 * @param accounts account ids by domain, case-insensitive
 */
export function accountFromRealm(accounts: Readonly<Record<string, string>>): FreeswitchAccountOf {
  const byRealm = new Map(Object.entries(accounts).map(([realm, id]) => [realm.trim().toLowerCase(), id]))
  const accountOfRealm = (realm: string | undefined) =>
    realm === undefined ? undefined : byRealm.get(realm.toLowerCase())
  return ({ header }) => {
    if (header('Unique-ID') === undefined)
      return (
        accountOfRealm(
          header('from-host') ?? header('host') ?? header('from_host') ?? realmOfUri(header('from')),
        ) ?? accountOfRealm(header('to_host') ?? realmOfUri(header('to') ?? header('CC-Agent')))
      )
    return header('Call-Direction') === 'inbound'
      ? (accountOfRealm(header('variable_sip_from_host')) ??
          accountOfRealm(header('variable_sip_to_host')) ??
          accountOfRealm(header('variable_sip_req_host')))
      : (accountOfRealm(realmOfUri(header('variable_sip_req_uri'))) ??
          accountOfRealm(header('variable_sip_to_host')))
  }
}

/**
 * The account by dial plan context.
 *
 * @param accounts account ids by `Caller-Context`
 */
export function accountFromContext(accounts: Readonly<Record<string, string>>): FreeswitchAccountOf {
  const byContext = new Map(Object.entries(accounts))
  return ({ header }) => byContext.get(header('Caller-Context') ?? '')
}

/**
 * The account by gateway, else by SIP profile.
 *
 * @param accounts account ids by gateway (`variable_sip_gateway_name`) or profile (`variable_sofia_profile_name`, of a device
 * `profile-name`)
 */
export function accountFromEndpoint(accounts: Readonly<Record<string, string>>): FreeswitchAccountOf {
  const byName = new Map(Object.entries(accounts))
  return ({ header }) =>
    byName.get(header('variable_sip_gateway_name') ?? '') ??
    byName.get(header('variable_sofia_profile_name') ?? header('profile-name') ?? '')
}

/** The account is the variable `accountcode`, which directories and dial plans set for call detail records. */
export function accountFromAccountCode(): FreeswitchAccountOf {
  return accountFromVariable('accountcode')
}

function realmOfUri(uri: string | undefined): string | undefined {
  return uri?.slice(uri.lastIndexOf('@') + 1).replace(/[:;].*$/s, '')
}
