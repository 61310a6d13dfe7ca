/**
 * Parses IP addresses and decides whether a request may go to them, by the bytes of an address, never its spelling.
 *
 * Everything except public unicast is blocked unless the host's policy allows it. IPv6 forms that embed an IPv4 address
 * are also checked as that address, because a gateway on the path would unpack it.
 */
import ipaddr from 'ipaddr.js'

/** Whether an address is blocked. `reason` is a noun phrase for messages, such as "a private address". */
export type AddressCheck = { readonly blocked: false } | { readonly blocked: true; readonly reason: string }

/** An entry of the allow list: a host name, or a CIDR block as its first bytes and prefix length in bits. */
export type AllowRule =
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'block'; readonly bytes: readonly number[]; readonly prefix: number }

const ALLOWED: AddressCheck = Object.freeze({ blocked: false })
const blocked = (reason: string): AddressCheck => ({ blocked: true, reason })

/** The bytes (4 or 16) of an IP address in standard spelling; `undefined` for anything else, including zone ids. */
export function parseAddress(text: string): readonly number[] | undefined {
  return text.includes(':') ? parseV6(text) : parseV4(text)
}

function parseV4(text: string): readonly number[] | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  if (!match) return undefined
  const octets = match.slice(1)
  if (octets.some((octet) => Number(octet) > 255 || (octet.length > 1 && octet.startsWith('0'))))
    return undefined
  return octets.map(Number)
}

// Not by ipaddr.js, which reads `::1.2.3.4` as the mapped address and accepts hexadecimal and octal parts in the tail.
function parseV6(text: string): readonly number[] | undefined {
  if (text.length > 45) return undefined
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const head = groups(halves[0]!, halves.length === 1)
  const tail = halves.length === 2 ? groups(halves[1]!, true) : []
  if (!head || !tail) return undefined
  const missing = 16 - head.length - tail.length
  if (halves.length === 2 ? missing < 2 : missing !== 0) return undefined
  return [...head, ...new Array<number>(missing).fill(0), ...tail]
}

function groups(text: string, mayEndInV4: boolean): readonly number[] | undefined {
  if (text === '') return []
  const bytes: number[] = []
  const parts = text.split(':')
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) {
      const value = Number.parseInt(part, 16)
      bytes.push(value >> 8, value & 255)
      continue
    }
    const v4 = mayEndInV4 && index === parts.length - 1 ? parseV4(part) : undefined
    if (!v4) return undefined
    bytes.push(...v4)
  }
  return bytes
}

/** Whether two spellings are the same address; a mapped IPv4 address equals the plain one. */
export function isSameAddress(first: string, second: string): boolean {
  const a = parseAddress(first)
  const b = parseAddress(second)
  return a !== undefined && b !== undefined && unmapped(a).join() === unmapped(b).join()
}

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]
const hasPrefix = (bytes: readonly number[], first: readonly number[]): boolean =>
  first.every((byte, index) => bytes[index] === byte)
const isMapped = (bytes: readonly number[]): boolean => bytes.length === 16 && hasPrefix(bytes, MAPPED)
const unmapped = (bytes: readonly number[]): readonly number[] => (isMapped(bytes) ? bytes.slice(12) : bytes)

/** Whether the address lies in the block. False when their families differ. */
export function isInCidrBlock(bytes: readonly number[], block: readonly number[], prefix: number): boolean {
  if (bytes.length !== block.length) return false
  for (let bit = 0; bit < prefix; bit += 8) {
    const mask = prefix - bit >= 8 ? 255 : (255 << (8 - (prefix - bit))) & 255
    if ((bytes[bit / 8]! & mask) !== (block[bit / 8]! & mask)) return false
  }
  return true
}

/** Reasons for the ranges that ipaddr.js distinguishes (the IANA special-purpose registries). */
const RANGE_NAMES: Readonly<Record<string, string>> = {
  unspecified: 'an unspecified address',
  broadcast: 'a broadcast address',
  multicast: 'a multicast address',
  linkLocal: 'a link-local address',
  loopback: 'a loopback address',
  carrierGradeNat: 'a carrier-grade NAT address',
  private: 'a private address',
  uniqueLocal: 'a private address',
  ipv4Mapped: 'an IPv4-mapped address',
  rfc6145: 'an IPv4-translated address',
  rfc6052: 'a NAT64 address',
  '6to4': 'a 6to4 address',
  teredo: 'a Teredo address',
}

/** Public by the registries, but internal to a cloud: the Azure host agent. */
const CLOUD_INTERNAL = [[168, 63, 129, 16]]

function checkIPv4(bytes: readonly number[]): AddressCheck {
  const range: string = new ipaddr.IPv4([...bytes]).range()
  if (range !== 'unicast') return blocked(RANGE_NAMES[range] ?? 'a reserved address')
  return CLOUD_INTERNAL.some((address) => hasPrefix(bytes, address)) ? blocked('a reserved address') : ALLOWED
}

function checkIPv6(bytes: readonly number[]): AddressCheck {
  const parts = Array.from({ length: 8 }, (_, i) => bytes[2 * i]! * 256 + bytes[2 * i + 1]!)
  const range: string = new ipaddr.IPv6(parts).range()
  if (range !== 'unicast') return blocked(RANGE_NAMES[range] ?? 'a reserved address')
  if (hasPrefix(bytes, MAPPED.slice(0, 10).concat(0, 0))) return blocked('an IPv4-compatible address')
  // RFC 4291 and the IANA registry: global unicast is allocated from 2000::/3 only.
  return isInCidrBlock(bytes, [0x20, ...new Array<number>(15).fill(0)], 3)
    ? ALLOWED
    : blocked('a reserved address')
}

/** Every IPv4 address that a gateway could unpack from an IPv6 one. */
function embeddedIPv4(bytes: readonly number[]): readonly (readonly number[])[] {
  const last = bytes.slice(12)
  const found: (readonly number[])[] = []
  // RFC 4291: mapped and compatible (but `::` and `::1` embed none); RFC 7915: translated (SIIT)
  if (isMapped(bytes)) found.push(last)
  if (hasPrefix(bytes, new Array(12).fill(0)) && (bytes[12] || bytes[13] || bytes[14] || bytes[15]! > 1))
    found.push(last)
  if (hasPrefix(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0])) found.push(last)
  // NAT64: RFC 6052, well-known prefix; RFC 8215, where the prefix has 48, 56, 64 or 96 bits. Its length is unknown, so
  // every position is checked, except those that hold the zeros of a longer prefix
  if (hasPrefix(bytes, [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0])) found.push(last)
  if (hasPrefix(bytes, [0, 0x64, 0xff, 0x9b, 0, 1])) {
    const shorter = [bytesAt(bytes, 6, 7, 9, 10), bytesAt(bytes, 7, 9, 10, 11), bytesAt(bytes, 9, 10, 11, 12)]
    found.push(last, ...shorter.filter((v4) => v4[0] !== 0))
  }
  // RFC 3056: 6to4; RFC 4380: Teredo, the server and the client with inverted bits
  if (hasPrefix(bytes, [0x20, 0x02])) found.push(bytes.slice(2, 6))
  if (hasPrefix(bytes, [0x20, 0x01, 0, 0]))
    found.push(
      bytes.slice(4, 8),
      last.map((byte) => byte ^ 255),
    )
  // RFC 5214: ISATAP, under any prefix
  if ((bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe) found.push(last)
  return found
}

const bytesAt = (bytes: readonly number[], ...at: readonly number[]): readonly number[] =>
  at.map((i) => bytes[i]!)

/**
 * Checks an address. `isAllowed` tells which addresses the host's policy allows; they pass, but an IPv4 address embedded
 * in an IPv6 form must itself be public or allowed. A mapped address is allowed iff its IPv4 address is.
 */
export function checkAddressBytes(
  bytes: readonly number[],
  isAllowed: (bytes: readonly number[]) => boolean,
): AddressCheck {
  if (isAllowed(unmapped(bytes))) {
    if (bytes.length === 4 || isMapped(bytes)) return ALLOWED
  } else {
    const check = bytes.length === 4 ? checkIPv4(bytes) : checkIPv6(bytes)
    if (check.blocked || bytes.length === 4) return check
  }
  for (const v4 of embeddedIPv4(bytes)) {
    if (isAllowed(v4)) continue
    const check = checkIPv4(v4)
    if (check.blocked) return blocked(`${check.reason} inside an IPv6 one`)
  }
  return ALLOWED
}

/** Where an address is: on the internet, in this machine, or in a network that is not reached from the internet. */
export type Network = 'public' | 'private' | 'loopback'

/** The network of an IP address in standard spelling. An address behind NAT64 counts as the IPv4 address that it stands for. */
export function networkOf(ip: string): Network {
  const parsed = parseAddress(ip) ?? []
  const bytes = hasPrefix(parsed, [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0])
    ? parsed.slice(12)
    : unmapped(parsed)
  const isLoopback =
    bytes.length === 4 ? bytes[0] === 127 : bytes.every((byte, at) => byte === (at === 15 ? 1 : 0))
  if (isLoopback && bytes.length > 0) return 'loopback'
  return bytes.length > 0 && checkAddressBytes(bytes, () => false).blocked ? 'private' : 'public'
}

/** Checks that an address is public unicast. Anything that is not an IP address in standard spelling is blocked. @internal */
export function checkAddress(ip: string): AddressCheck {
  const bytes = parseAddress(ip)
  return bytes ? checkAddressBytes(bytes, () => false) : blocked('not an IP address')
}
