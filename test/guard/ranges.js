// @ts-check
/**
 * The addresses that must never be called, implemented a second time from the IANA registries, with integers instead of
 * bytes and independently of the package.
 */

/** IANA IPv4 Special-Purpose Address Registry, multicast, and the reserved range above it. */
const FOUR = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
].map((text) => {
  const [base = '', length] = text.split('/')
  return { base: numberOfFour(base), bits: BigInt(Number(length)) }
})

/** IANA IPv6 Special-Purpose Address Registry and multicast, as first groups. */
const SIX = /** @type {const} */ ([
  [0n, 127n],
  [1n, 128n],
  [0x100n << 112n, 64n],
  [(0x2001n << 112n) | (0xdb8n << 96n), 32n],
  [0xfcn << 120n, 7n],
  [0xfe80n << 112n, 10n],
  [0xfec0n << 112n, 10n],
  [0xffn << 120n, 8n],
])

const isIn = (
  /** @type {bigint} */ value,
  /** @type {bigint} */ base,
  /** @type {bigint} */ bits,
  /** @type {bigint} */ width,
) => value >> (width - bits) === base >> (width - bits)

/** @param {string} text */
function numberOfFour(text) {
  return text.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n)
}

/** @param {string} text as sockets report it */
function numberOfSix(text) {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  const plain = dotted
    ? `${dotted[1]}${(numberOfFour(String(dotted[2])) >> 16n).toString(16)}:${(numberOfFour(String(dotted[2])) & 0xffffn).toString(16)}`
    : text
  const [head = '', tail] = plain.split('::')
  const groups = (/** @type {string} */ part) => (part === '' ? [] : part.split(':'))
  const left = groups(head)
  const right = tail === undefined ? [] : groups(tail)
  const all = [...left, ...new Array(8 - left.length - right.length).fill('0'), ...right]
  return all.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n)
}

/** The IPv4 addresses that an IPv6 address may embed. @param {bigint} six */
function embedded(six) {
  const low = six & 0xffffffffn
  /** @type {bigint[]} */
  const found = []
  const upper = six >> 32n
  // Compatible, mapped (RFC 4291), translated (RFC 2765), NAT64 (RFC 6052, RFC 8215).
  if (upper === 0n || upper === 0xffffn || upper === 0xffffn << 16n) found.push(low)
  if (upper === 0x64ff9bn << 64n || isIn(six, 0x64ff9b0001n << 80n, 48n, 128n)) found.push(low)
  // 6to4 (RFC 3056), Teredo (RFC 4380), ISATAP (RFC 5214).
  if (six >> 112n === 0x2002n) found.push((six >> 80n) & 0xffffffffn)
  if (six >> 96n === 0x20010000n) found.push(low ^ 0xffffffffn)
  if (((six >> 32n) & 0xfcffffffn) === 0x5efen) found.push(low)
  return found
}

const isForbiddenFour = (/** @type {bigint} */ value) =>
  FOUR.some(({ base, bits }) => isIn(value, base, bits, 32n))

/** @param {string} address an IP address; a mapped address counts as its IPv4 address */
export function isForbidden(address) {
  if (!address.includes(':')) return isForbiddenFour(numberOfFour(address))
  const six = numberOfSix(address)
  if (six >> 32n === 0xffffn) return isForbiddenFour(six & 0xffffffffn)
  return SIX.some(([base, bits]) => isIn(six, base, bits, 128n)) || embedded(six).some(isForbiddenFour)
}

/** @param {string} left @param {string} right whether both are the same address in any spelling */
export function isSame(left, right) {
  const value = (/** @type {string} */ text) =>
    text.includes(':') ? numberOfSix(text) : numberOfFour(text) | (0xffffn << 32n)
  return value(left) === value(right)
}
