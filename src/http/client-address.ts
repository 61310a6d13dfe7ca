import ipaddr from 'ipaddr.js'
import { HookswitchError } from '../errors.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Proxies whose word counts, read from addresses and CIDRs. */
export type TrustedProxies = readonly (readonly [network: Address, bits: number])[]

/**
 * Reads the option `trustProxy`.
 *
 * @param entries addresses and CIDRs: `10.0.0.0/8`, `::1`
 * @throws `InvalidOption` naming the entry
 */
export function trustedProxies(entries: readonly string[]): TrustedProxies {
  return entries.map((entry) => {
    const [host = '', bits, ...rest] = String(entry).split('/')
    const address = addressOf(host)
    const width = address?.kind() === 'ipv4' ? 32 : 128
    const prefix = bits === undefined ? width : /^(0|[1-9][0-9]{0,2})$/.test(bits) ? Number(bits) : -1
    if (!address || rest.length > 0 || prefix < 0 || prefix > width) {
      const message = `trustProxy: '${entry}' is neither an address nor a CIDR`
      throw new HookswitchError('InvalidOption', message, { field: 'trustProxy' })
    }
    return [address, prefix] as const
  })
}

/** An address; one that IPv6 only wraps (`::ffff:10.0.0.1`) is the IPv4 address it means. */
function addressOf(text: string): Address | undefined {
  // ipaddr.js also reads `10.1` and `0x7f.1`: no proxy writes those.
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

/** One entry of `X-Forwarded-For`: some proxies add a port, IPv6 then stands in brackets. */
function entryAddress(entry: string): Address | undefined {
  const text = entry.trim()
  const bracketed = /^\[([^\]]+)\](?::[0-9]+)?$/.exec(text)
  if (bracketed) return addressOf(bracketed[1]!)
  const withPort = /^([0-9.]+):[0-9]+$/.exec(text)
  return addressOf(withPort ? withPort[1]! : text)
}

/**
 * Whose address a request has: the peer's, unless the peer is a trusted proxy; then the nearest one to us in
 * `X-Forwarded-For` that is not itself a trusted proxy. Entries further left are the client's own words and never
 * read; a broken entry ends the reading at the proxy that passed it on.
 *
 * @param peer address of the connection's other end; `undefined` where the server does not know
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string | undefined {
  const address = peer === undefined ? undefined : addressOf(peer.replace(/%.*$/, ''))
  if (!address) return peer
  let client = address
  if (forwardedFor !== undefined && trusted.length > 0) {
    const entries = forwardedFor.split(',')
    while (isTrusted(client, trusted) && entries.length > 0) {
      const next = entryAddress(entries.pop()!)
      if (!next) break
      client = next
    }
  }
  return client.toString()
}
