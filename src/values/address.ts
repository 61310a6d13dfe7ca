/**
 * Where a request may go, judged on the bytes of an address, never on its spelling.
 *
 * Everything but public unicast is refused unless a rule of the host opens it. Forms of IPv6 that carry an IPv4
 * address are judged by that one as well: a gateway on the way would unpack it.
 */
import ipaddr from 'ipaddr.js'

/** Whether an address may be dialled; `reason` is a noun phrase for people, such as "a private address". */
export type Verdict = { readonly blocked: false } | { readonly blocked: true; readonly reason: string }

/** One opened door: a host name, or a block of addresses as first bytes and prefix length in bits. */
export type Rule =
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'block'; readonly bytes: readonly number[]; readonly prefix: number }

const OPEN: Verdict = Object.freeze({ blocked: false })
const blocked = (reason: string): Verdict => ({ blocked: true, reason })

/** The bytes (4 or 16) of an IP address in its standard spelling; `undefined` for anything else, zone ids included. */
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

// By hand: ipaddr.js reads `::1.2.3.4` as the mapped address and takes hexadecimal and octal parts in the tail.
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
export function sameAddress(one: string, other: string): boolean {
  const a = parseAddress(one)
  const b = parseAddress(other)
  return a !== undefined && b !== undefined && unmapped(a).join() === unmapped(b).join()
}

const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]
const startsWith = (bytes: readonly number[], first: readonly number[]): boolean =>
  first.every((byte, index) => bytes[index] === byte)
const isMapped = (bytes: readonly number[]): boolean => bytes.length === 16 && startsWith(bytes, MAPPED)
const unmapped = (bytes: readonly number[]): readonly number[] => (isMapped(bytes) ? bytes.slice(12) : bytes)

/** Whether the address lies in the block; the two must be of one family. */
export function inBlock(bytes: readonly number[], block: readonly number[], prefix: number): boolean {
  if (bytes.length !== block.length) return false
  for (let bit = 0; bit < prefix; bit += 8) {
    const mask = prefix - bit >= 8 ? 255 : (255 << (8 - (prefix - bit))) & 255
    if ((bytes[bit / 8]! & mask) !== (block[bit / 8]! & mask)) return false
  }
  return true
}

/** Names of the ranges as ipaddr.js knows them (the IANA special-purpose registries), put for people. */
const RANGES: Readonly<Record<string, string>> = {
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

// Public by the registries, yet the inside of a cloud: the host agent of Azure.
const CLOUD = [[168, 63, 129, 16]]

function judgeV4(bytes: readonly number[]): Verdict {
  const range: string = new ipaddr.IPv4([...bytes]).range()
  if (range !== 'unicast') return blocked(RANGES[range] ?? 'a reserved address')
  return CLOUD.some((own) => startsWith(bytes, own)) ? blocked('a reserved address') : OPEN
}

function judgeV6(bytes: readonly number[]): Verdict {
  const parts = Array.from({ length: 8 }, (_, i) => bytes[2 * i]! * 256 + bytes[2 * i + 1]!)
  const range: string = new ipaddr.IPv6(parts).range()
  if (range !== 'unicast') return blocked(RANGES[range] ?? 'a reserved address')
  if (startsWith(bytes, MAPPED.slice(0, 10).concat(0, 0))) return blocked('an IPv4-compatible address')
  // RFC 4291 and the IANA registry: global unicast has been given out of 2000::/3 only.
  return inBlock(bytes, [0x20, ...new Array<number>(15).fill(0)], 3) ? OPEN : blocked('a reserved address')
}

/** Every IPv4 address that a gateway could unpack from an IPv6 one. */
function embedded(bytes: readonly number[]): readonly (readonly number[])[] {
  const last = bytes.slice(12)
  const found: (readonly number[])[] = []
  // RFC 4291 mapped and compatible (`::` and `::1` are addresses of their own), RFC 7915 translated (SIIT)
  if (isMapped(bytes)) found.push(last)
  if (startsWith(bytes, new Array(12).fill(0)) && (bytes[12] || bytes[13] || bytes[14] || bytes[15]! > 1))
    found.push(last)
  if (startsWith(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0])) found.push(last)
  // NAT64: RFC 6052, well-known prefix; RFC 8215, where the prefix may be 48, 56, 64 or 96 bits long and the zeros of a
  // longer one read as no address of a shorter one
  if (startsWith(bytes, [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0])) found.push(last)
  if (startsWith(bytes, [0, 0x64, 0xff, 0x9b, 0, 1])) {
    const shorter = [pick(bytes, 6, 7, 9, 10), pick(bytes, 7, 9, 10, 11), pick(bytes, 9, 10, 11, 12)]
    found.push(last, ...shorter.filter((v4) => v4[0] !== 0))
  }
  // RFC 3056: 6to4; RFC 4380: Teredo, the server and the client with its bits turned
  if (startsWith(bytes, [0x20, 0x02])) found.push(bytes.slice(2, 6))
  if (startsWith(bytes, [0x20, 0x01, 0, 0]))
    found.push(
      bytes.slice(4, 8),
      last.map((byte) => byte ^ 255),
    )
  // RFC 5214: ISATAP, under any prefix
  if ((bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe) found.push(last)
  return found
}

const pick = (bytes: readonly number[], ...at: readonly number[]): readonly number[] =>
  at.map((i) => bytes[i]!)

/**
 * Whether an address may be dialled. `isOpened` says which addresses the host has opened by rule: those pass, yet what
 * an IPv6 form carries must itself be public or opened. A mapped address is as open as the IPv4 one that it is.
 */
export function judgeBytes(
  bytes: readonly number[],
  isOpened: (bytes: readonly number[]) => boolean,
): Verdict {
  if (isOpened(unmapped(bytes))) {
    if (bytes.length === 4 || isMapped(bytes)) return OPEN
  } else {
    const verdict = bytes.length === 4 ? judgeV4(bytes) : judgeV6(bytes)
    if (verdict.blocked || bytes.length === 4) return verdict
  }
  for (const v4 of embedded(bytes)) {
    if (isOpened(v4)) continue
    const verdict = judgeV4(v4)
    if (verdict.blocked) return blocked(`${verdict.reason} inside an IPv6 one`)
  }
  return OPEN
}

/** Whether an address is public unicast; anything that is not an IP address in its standard spelling is blocked. */
export function judgeAddress(ip: string): Verdict {
  const bytes = parseAddress(ip)
  return bytes ? judgeBytes(bytes, () => false) : blocked('not an IP address')
}
