/** Reads where a leg leads: a phone of the switch, a gateway, or another line to a carrier. Pure. */
import type { Endpoint } from '../source/endpoint.js'
import type { EslEvent } from './event.js'

/** The kinds of endpoint by KAZOO's `Authorizing-Type`. */
const KINDS: ReadonlyMap<string, NonNullable<Endpoint['kind']>> = new Map([
  ['device', 'extension'],
  ['mobile', 'extension'],
  ['user', 'extension'],
  ['resource', 'trunk'],
])

/**
 * Returns the endpoint of a leg; `undefined`: the switch does not tell. A gateway is configured in a SIP profile. A phone has
 * authenticated as a user of the directory, or was dialled as one. A line that only its address authenticates has the name of
 * the access list.
 */
export function readEndpoint(event: EslEvent): Endpoint | undefined {
  const gateway = event.header('variable_sip_gateway_name') ?? event.header('variable_sip_gateway')
  if (gateway !== undefined) return { kind: 'gateway', name: gateway }
  const kind = KINDS.get(event.header('variable_ecallmgr_Authorizing-Type') ?? '')
  const id = event.header('variable_ecallmgr_Authorizing-ID')
  if (kind !== undefined && id !== undefined) return { kind, name: id }
  const user =
    userAt(event, 'variable_user_name', 'variable_domain_name') ??
    userAt(event, 'variable_dialed_user', 'variable_dialed_domain')
  if (user !== undefined) return { kind: 'extension', name: user }
  const list = event.header('variable_sip_acl_authed_by')
  return list === undefined ? undefined : { kind: 'trunk', name: list }
}

function userAt(event: EslEvent, userName: string, domainName: string): string | undefined {
  const user = event.header(userName)
  const domain = event.header(domainName)
  return user === undefined || domain === undefined ? user : `${user}@${domain}`
}
