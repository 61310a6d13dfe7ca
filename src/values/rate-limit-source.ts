import ipaddr from 'ipaddr.js'

/**
 * What an address counts as where clients are limited: an IPv4 address is unchanged, also when IPv4-mapped, an IPv6 address is
 * reduced to its /64, which one client has to itself.
 */
export function rateLimitSource(address: string): string {
  if (!ipaddr.isValid(address)) return address.slice(0, 64)
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return (parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')
}
