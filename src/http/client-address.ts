/** Determines the address of the client behind trusted proxies. Pure. */
import ipaddr from 'ipaddr.js'
import { HookswitchError } from '../errors.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Networks of the proxies whose `X-Forwarded-For` is trusted. */
export type TrustedProxies = readonly (readonly [network: Address, bits: number])[]

/**
 * Parses the option `trustProxy`.
 *
 * @param entries addresses and CIDRs: `10.0.0.0/8`, `::1`
 * @throws `InvalidOption` naming the entry
 */
export function parseTrustedProxies(entries: readonly string[]): TrustedProxies {
  return entries.map((entry) => {
    const [host = '', bits, ...rest] = String(entry).split('/')
    const address = parseAddress(host)
    const width = address?.kind() === 'ipv4' ? 32 : 128
    const prefix = bits === undefined ? width : /^(0|[1-9][0-9]{0,2})$/.test(bits) ? Number(bits) : -1
    if (!address || rest.length > 0 || prefix < 0 || prefix > width) {
      const message = `trustProxy: '${entry}' is neither an address nor a CIDR`
      throw new HookswitchError('InvalidOption', message, { field: 'trustProxy' })
    }
    return [address, prefix] as const
  })
}

/** No address is longer, with the zone that some systems write behind `%`. */
const MAX_ADDRESS_LENGTH = 128

/** Parses an address; an IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) becomes the IPv4 address. */
function parseAddress(text: string): Address | undefined {
  // The patterns of ipaddr.js take long for long texts.
  if (text.length > MAX_ADDRESS_LENGTH) return undefined
  // ipaddr.js also accepts `10.1` and `0x7f.1`, which no proxy writes.
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !(text.includes(':') && ipaddr.IPv6.isValid(text))) {
    return undefined
  }
  return ipaddr.process(text)
}

function isTrusted(address: Address, trusted: TrustedProxies): boolean {
  return trusted.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network as never, bits),
  )
}

/** Parses one entry of `X-Forwarded-For`. Some proxies add a port; an IPv6 address is then in brackets. */
function parseForwardedEntry(entry: string): Address | undefined {
  const text = entry.trim()
  const bracketed = /^\[([^\]]+)\](?::[0-9]+)?$/.exec(text)
  if (bracketed) return parseAddress(bracketed[1]!)
  const withPort = /^([0-9.]+):[0-9]+$/.exec(text)
  return parseAddress(withPort ? withPort[1]! : text)
}

/**
 * Returns the client's address: the peer's, unless the peer is a trusted proxy; then the rightmost address in
 * `X-Forwarded-For` that is not a trusted proxy. Entries further left can be forged by the client and are not read.
 * At a malformed entry the search stops at the proxy that forwarded it.
 *
 * @param peer address of the connection's remote end; `undefined` if the server does not know it
 * @param forwardedFor the header `X-Forwarded-For`
 */
export function resolveClientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string | undefined {
  const address = peer === undefined ? undefined : parseAddress(peer.split('%', 1)[0]!)
  if (!address) return peer
  let client = address
  if (forwardedFor !== undefined && trusted.length > 0) {
    const entries = forwardedFor.split(',')
    while (isTrusted(client, trusted) && entries.length > 0) {
      const next = parseForwardedEntry(entries.pop()!)
      if (!next) break
      client = next
    }
  }
  return client.toString()
}

/**
 * Determines addresses of clients behind proxies.
 *
 * @param trustProxy addresses and networks (CIDR) of the proxies whose `X-Forwarded-For` is trusted
 * @returns a function of the address of a connection's remote end and the header `X-Forwarded-For`
 * @throws `InvalidOption` (field `trustProxy`) naming the entry
 */
export function clientAddressResolver(
  trustProxy: readonly string[],
): (peer: string | undefined, forwardedFor: string | undefined) => string | undefined {
  const trusted = parseTrustedProxies(trustProxy)
  return (peer, forwardedFor) => resolveClientAddress(peer, forwardedFor, trusted)
}
