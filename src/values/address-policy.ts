/** The host's own opening of the address guard: which names and addresses are allowed beside the public ones. */
import { inBlock, judgeBytes, parseAddress, type Rule, type Verdict } from './address.js'
import { parseUrl } from './parse-url.js'

export interface AddressPolicy {
  /** Opens 127.0.0.0/8, ::1 and the names `localhost` and `*.localhost`; nothing private or link-local. */
  readonly allowLocal: boolean
  /** Exact host names, IP addresses, and blocks in CIDR notation. */
  readonly allow: readonly string[]
}

/** A host as it stands in a URL: an address, a name whose addresses are to be judged, or one trusted by rule. */
export type HostVerdict =
  | { readonly blocked: true; readonly reason: string }
  | { readonly blocked: false; readonly trusted: boolean; readonly address?: string }

export interface CompiledPolicy {
  /** Judges `URL.hostname`, brackets of IPv6 included. A name that is `trusted` may have any address. */
  judgeHost(hostname: string): HostVerdict
  /** Judges one address of an answer. */
  judgeIp(ip: string): Verdict
}

const LOOPBACK: readonly Rule[] = [
  { kind: 'block', bytes: [127, 0, 0, 0], prefix: 8 },
  { kind: 'block', bytes: [...new Array<number>(15).fill(0), 1], prefix: 128 },
]

/** The name without the root's dot, in lower case. */
export function bareHost(hostname: string): string {
  const lower = hostname.toLowerCase()
  return lower.endsWith('.') ? lower.slice(0, -1) : lower
}

/** Whether the name is reserved for this machine (RFC 6761, 6.3). */
export function isLocalhost(hostname: string): boolean {
  const host = bareHost(hostname)
  return host === 'localhost' || host.endsWith('.localhost')
}

/**
 * Reads one entry of the allow list: `hooks.example.com`, `10.1.2.3`, `fd00::/8`. There are no wildcards: a name is
 * opened with every address it may have, so each one is meant.
 *
 * @throws RangeError naming the entry.
 */
export function parseRule(text: string): Rule {
  const bad = () => new RangeError(`allow: "${text}" is neither a host name, an IP address nor a CIDR block`)
  if (typeof text !== 'string' || !/^[^\s@?#\\%*]+$/.test(text)) throw bad()
  const [base, length, ...rest] = text.split('/')
  const bytes = parseAddress(base!.replace(/^\[(.*)\]$/, '$1'))
  if (bytes) {
    const bits = bytes.length * 8
    const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN
    if (!(prefix <= bits) || rest.length > 0) throw bad()
    return unmappedBlock(bytes, prefix)
  }
  if (length !== undefined) throw bad()
  const url = parseUrl(`http://${text}/`)
  // A spelling like 0x7f.1 is an address to the URL parser: say it plainly instead.
  if (url?.port !== '' || text.includes(':') || parseAddress(bareHost(url.hostname))) throw bad()
  return { kind: 'host', host: bareHost(url.hostname) }
}

// Mapped addresses are judged as the IPv4 ones they are, so a block of them is one of IPv4.
function unmappedBlock(bytes: readonly number[], prefix: number): Rule {
  const isMapped =
    bytes.length === 16 && prefix >= 96 && bytes.slice(0, 12).join() === '0,0,0,0,0,0,0,0,0,0,255,255'
  return isMapped
    ? { kind: 'block', bytes: bytes.slice(12), prefix: prefix - 96 }
    : { kind: 'block', bytes, prefix }
}

/**
 * Makes the guard of the host's options.
 *
 * @throws RangeError naming the entry of `allow` that is no rule.
 */
export function compilePolicy(policy: AddressPolicy): CompiledPolicy {
  const rules = [...policy.allow.map(parseRule), ...(policy.allowLocal ? LOOPBACK : [])]
  const hosts = new Set(rules.flatMap((rule) => (rule.kind === 'host' ? [rule.host] : [])))
  const blocks = rules.flatMap((rule) => (rule.kind === 'block' ? [rule] : []))
  const isOpened = (bytes: readonly number[]) =>
    blocks.some((block) => inBlock(bytes, block.bytes, block.prefix))

  function judgeIp(ip: string): Verdict {
    const bytes = parseAddress(ip)
    return bytes ? judgeBytes(bytes, isOpened) : { blocked: true, reason: 'not an IP address' }
  }

  function judgeHost(hostname: string): HostVerdict {
    const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
    if (hostname.startsWith('[') || parseAddress(address)) {
      const verdict = judgeIp(address)
      return verdict.blocked ? verdict : { blocked: false, trusted: true, address }
    }
    const host = bareHost(hostname)
    if (hosts.has(host)) return { blocked: false, trusted: true }
    if (host === '' || host.startsWith('.') || host.endsWith('.'))
      return { blocked: true, reason: 'not a host name' }
    if (isLocalhost(host) && !policy.allowLocal) return { blocked: true, reason: 'a name of this machine' }
    return { blocked: false, trusted: false }
  }

  return { judgeHost, judgeIp }
}
