/** The address policy: which host names and addresses a request may go to. Pure; names are resolved by `send`. */
import {
  type AddressCheck,
  type AllowRule,
  checkAddressBytes,
  isInCidrBlock,
  parseAddress,
} from './address.js'
import { parseUrl } from './parse-url.js'

/** What the host allows in addition to public addresses. */
export interface AddressPolicy {
  /** Allows 127.0.0.0/8, ::1 and the names `localhost` and `*.localhost`, but no private or link-local address. */
  readonly allowLocal: boolean
  /** Exact host names, IP addresses, and blocks in CIDR notation. */
  readonly allow: readonly string[]
}

/**
 * The check of a URL's host. `allowsAnyAddress`: no further check is needed, because the host is a permitted address
 * (then also `address`) or a name on the allow list; otherwise every resolved address must be checked.
 */
export type HostCheck =
  | { readonly blocked: true; readonly reason: string }
  | { readonly blocked: false; readonly allowsAnyAddress: boolean; readonly address?: string }

/** An address policy, ready for checks. */
export interface CompiledAddressPolicy {
  /** Checks `URL.hostname`, an IPv6 address in brackets included. */
  checkHost(hostname: string): HostCheck
  /** Checks one resolved address. */
  checkAddress(ip: string): AddressCheck
}

const LOOPBACK: readonly AllowRule[] = [
  { kind: 'block', bytes: [127, 0, 0, 0], prefix: 8 },
  { kind: 'block', bytes: [...new Array<number>(15).fill(0), 1], prefix: 128 },
]

/** The name in lower case, without the trailing dot of the DNS root. */
export function normalizeHostname(hostname: string): string {
  const lower = hostname.toLowerCase()
  return lower.endsWith('.') ? lower.slice(0, -1) : lower
}

/** Whether the name is reserved for the local host (RFC 6761, 6.3). */
export function isLocalhost(hostname: string): boolean {
  const host = normalizeHostname(hostname)
  return host === 'localhost' || host.endsWith('.localhost')
}

/**
 * Parses one entry of the allow list: `hooks.example.com`, `10.1.2.3`, `fd00::/8`. Wildcards are not supported: an
 * allowed name is allowed with any address, so each one must be listed deliberately.
 *
 * @throws RangeError naming the entry
 * @internal
 */
export function parseAllowRule(text: string): AllowRule {
  const invalid = () =>
    new RangeError(`allow: "${text}" is neither a host name, an IP address nor a CIDR block`)
  if (typeof text !== 'string' || !/^[^\s@?#\\%*]+$/.test(text)) throw invalid()
  const [base, length, ...rest] = text.split('/')
  const bytes = parseAddress(base!.replace(/^\[(.*)\]$/, '$1'))
  if (bytes) {
    const bits = bytes.length * 8
    const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN
    if (!(prefix <= bits) || rest.length > 0) throw invalid()
    return unmappedBlock(bytes, prefix)
  }
  if (length !== undefined) throw invalid()
  const url = parseUrl(`http://${text}/`)
  // The URL parser reads spellings like 0x7f.1 as addresses: only the standard spelling is accepted here.
  if (url?.port !== '' || text.includes(':') || parseAddress(normalizeHostname(url.hostname))) throw invalid()
  return { kind: 'host', host: normalizeHostname(url.hostname) }
}

/** Mapped addresses are checked as IPv4 addresses, so a block of them becomes an IPv4 block. */
function unmappedBlock(bytes: readonly number[], prefix: number): AllowRule {
  const isMapped =
    bytes.length === 16 && prefix >= 96 && bytes.slice(0, 12).join() === '0,0,0,0,0,0,0,0,0,0,255,255'
  return isMapped
    ? { kind: 'block', bytes: bytes.slice(12), prefix: prefix - 96 }
    : { kind: 'block', bytes, prefix }
}

/**
 * Compiles an address policy.
 *
 * @throws RangeError naming the invalid entry of `allow`
 */
export function compileAddressPolicy(policy: AddressPolicy): CompiledAddressPolicy {
  const rules = [...policy.allow.map(parseAllowRule), ...(policy.allowLocal ? LOOPBACK : [])]
  const hosts = new Set(rules.flatMap((rule) => (rule.kind === 'host' ? [rule.host] : [])))
  const blocks = rules.flatMap((rule) => (rule.kind === 'block' ? [rule] : []))
  const isAllowed = (bytes: readonly number[]) =>
    blocks.some((block) => isInCidrBlock(bytes, block.bytes, block.prefix))

  function checkAddress(ip: string): AddressCheck {
    const bytes = parseAddress(ip)
    return bytes ? checkAddressBytes(bytes, isAllowed) : { blocked: true, reason: 'not an IP address' }
  }

  function checkHost(hostname: string): HostCheck {
    const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
    if (hostname.startsWith('[') || parseAddress(address)) {
      const check = checkAddress(address)
      return check.blocked ? check : { blocked: false, allowsAnyAddress: true, address }
    }
    const host = normalizeHostname(hostname)
    if (hosts.has(host)) return { blocked: false, allowsAnyAddress: true }
    if (host === '' || host.startsWith('.') || host.endsWith('.'))
      return { blocked: true, reason: 'an invalid host name' }
    if (isLocalhost(host) && !policy.allowLocal) return { blocked: true, reason: 'a localhost name' }
    return { blocked: false, allowsAnyAddress: false }
  }

  return { checkHost, checkAddress }
}
