import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkAddress,
  isInCidrBlock,
  isSameAddress,
  networkOf,
  parseAddress,
} from '../../src/values/address.js'
import { propertyRuns } from '../support/property-runs.js'

const v4 = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join('.')
const number = (ip: string) => ip.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
const hex = (ip: string) => {
  const [a, b, c, d] = ip.split('.').map(Number) as [number, number, number, number]
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}
const inverted = (ip: string) => v4(~number(ip) >>> 0)

/** First and last address of every range that is not public unicast (IANA special-purpose registry), and of cloud ranges. */
const BLOCKED_V4: readonly (readonly [string, string])[] = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['168.63.129.16', '168.63.129.16'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.31.196.0', '192.31.196.255'],
  ['192.52.193.0', '192.52.193.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['192.175.48.0', '192.175.48.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
]

/** The ways in which an IPv6 address can embed an IPv4 address. */
const EMBEDDINGS: Readonly<Record<string, (ip: string) => string>> = {
  mapped: (ip) => `::ffff:${ip}`,
  'mapped, in hexadecimal': (ip) => `::ffff:${hex(ip)}`,
  'mapped, in full': (ip) => `0:0:0:0:0:FFFF:${hex(ip)}`,
  compatible: (ip) => `::${ip}`,
  translated: (ip) => `::ffff:0:${ip}`,
  NAT64: (ip) => `64:ff9b::${ip}`,
  'local NAT64': (ip) => `64:ff9b:1::${ip}`,
  '6to4': (ip) => `2002:${hex(ip)}::1`,
  'Teredo client': (ip) => `2001:0:4136:e378:8000:63bf:${hex(inverted(ip))}`,
  'Teredo server': (ip) => `2001:0:${hex(ip)}:8000:63bf:3fff:fdd2`,
  ISATAP: (ip) => `2a00:1450:4001:82f:0:5efe:${hex(ip)}`,
  'ISATAP of a global address': (ip) => `2a00:1450:4001:82f:200:5efe:${hex(ip)}`,
}

const isBlockedV4 = (value: number) =>
  BLOCKED_V4.some(([first, last]) => value >= number(first) && value <= number(last))

describe('checkAddress', () => {
  it.each(BLOCKED_V4)('blocks %s to %s, but not their neighbours', (first, last) => {
    expect(checkAddress(first).blocked).toBe(true)
    expect(checkAddress(last).blocked).toBe(true)
    for (const value of [number(first) - 1, number(last) + 1]) {
      if (value < 0 || value > 0xffffffff) continue
      expect([v4(value), checkAddress(v4(value)).blocked]).toEqual([v4(value), isBlockedV4(value)])
    }
  })

  it('matches the table for any IPv4 address', () => {
    const near = fc
      .constantFrom(...BLOCKED_V4.flat().map(number))
      .chain((edge) => fc.integer({ min: Math.max(0, edge - 3), max: Math.min(0xffffffff, edge + 3) }))
    fc.assert(
      fc.property(fc.oneof(near, fc.integer({ min: 0, max: 0xffffffff })), (value) => {
        expect(checkAddress(v4(value)).blocked).toBe(isBlockedV4(value))
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })

  it.each(Object.keys(EMBEDDINGS))('blocks every blocked IPv4 address inside an IPv6 one: %s', (name) => {
    const wrap = EMBEDDINGS[name]!
    for (const [first, last] of BLOCKED_V4) {
      for (const ip of [first, last])
        expect([wrap(ip), checkAddress(wrap(ip)).blocked]).toEqual([wrap(ip), true])
    }
  })

  it.each(Object.keys(EMBEDDINGS).filter((name) => !name.startsWith('ISATAP')))(
    'blocks even a public IPv4 address inside an IPv6 one: %s',
    (name) => {
      expect(checkAddress(EMBEDDINGS[name]!('8.8.8.8')).blocked).toBe(true)
    },
  )

  it('allows an ISATAP address whose prefix and IPv4 address are public', () => {
    expect(checkAddress(EMBEDDINGS.ISATAP!('8.8.8.8'))).toEqual({ blocked: false })
  })

  it.each([
    '::',
    '::1',
    '::2',
    '1::',
    '100::1',
    '64:ff9b:2::1',
    '1fff:ffff::',
    '2001::1',
    '2001:2::1',
    '2001:10::1',
    '2001:1ff:ffff::',
    '2001:db8::1',
    '2002::1',
    '3fff::1',
    '3fff:fff:ffff::',
    '4000::',
    '5f00::1',
    '2620:4f:8000::1',
    'fc00::1',
    'fd00:ec2::254',
    'fdff::1',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'ff02::1',
    'ffff::',
  ])('blocks %s', (ip) => {
    expect(checkAddress(ip).blocked).toBe(true)
  })

  it.each([
    '2001:200::1',
    '2001:4860:4860::8888',
    '2606:4700:4700::1111',
    '2a00:1450:4001:82f::200e',
    '2400:cb00::',
  ])('allows %s', (ip) => {
    expect(checkAddress(ip)).toEqual({ blocked: false })
  })

  it.each([
    '',
    'example.com',
    '1',
    '0x7f.1',
    '127.1',
    '0177.0.0.1',
    '8.8.8.8.',
    ' 8.8.8.8',
    '８.8.8.8',
    '8.8.8.8/32',
    '[::1]',
    '2606::1%eth0',
    'fe80::1%1',
    '::ffff:8.8.8.8%1',
    '1:2:3:4:5:6:7:8:9',
    '::1::',
    ':::',
    '1.2.3.4::',
    '::08.8.8.8',
  ])('blocks "%s", which is not an address', (text) => {
    expect(checkAddress(text)).toEqual({ blocked: true, reason: 'not an IP address' })
  })

  it('returns a readable reason', () => {
    expect(checkAddress('127.0.0.1')).toEqual({ blocked: true, reason: 'a loopback address' })
    expect(checkAddress('169.254.169.254')).toEqual({ blocked: true, reason: 'a link-local address' })
    expect(checkAddress(EMBEDDINGS.ISATAP!('10.0.0.1'))).toEqual({
      blocked: true,
      reason: 'a private address inside an IPv6 one',
    })
  })
})

describe('parseAddress', () => {
  it('accepts exactly the addresses that node:net accepts', () => {
    const part = fc.constantFrom(
      '0',
      '1',
      'ffff',
      'a00',
      '00ff',
      '12345',
      '',
      ':',
      '1.2.3.4',
      '01',
      '255',
      '256',
      '.',
    )
    const malformed = fc.array(fc.tuple(part, fc.constantFrom(':', '::', '.', '')), { maxLength: 9 })
    const text = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      malformed.map((parts) => parts.flat().join('')),
    )
    fc.assert(
      fc.property(text, (ip) => {
        expect([ip, parseAddress(ip)?.length ?? 0]).toEqual([
          ip,
          [0, 4, 16][isIP(ip) === 6 ? 2 : isIP(ip) === 4 ? 1 : 0],
        ])
      }),
      { numRuns: propertyRuns(5_000) },
    )
  })

  it('returns the bytes', () => {
    expect(parseAddress('1.2.3.4')).toEqual([1, 2, 3, 4])
    expect(parseAddress('::1.2.3.4')).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])
    expect(parseAddress('1:2::FFfe:8')).toEqual([0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 255, 254, 0, 8])
  })
})

describe('isSameAddress', () => {
  it('ignores differences in spelling and mapping', () => {
    expect(isSameAddress('::1', '0:0:0:0:0:0:0:1')).toBe(true)
    expect(isSameAddress('::ffff:1.2.3.4', '1.2.3.4')).toBe(true)
    expect(isSameAddress('1.2.3.4', '1.2.3.5')).toBe(false)
    expect(isSameAddress('x', 'x')).toBe(false)
  })
})

describe('isInCidrBlock', () => {
  it('compares whole and partial bytes', () => {
    expect(isInCidrBlock([10, 1, 127, 9], [10, 1, 0, 0], 17)).toBe(true)
    expect(isInCidrBlock([10, 1, 128, 9], [10, 1, 0, 0], 17)).toBe(false)
    expect(isInCidrBlock([10, 1, 128, 9], [99, 0, 0, 0], 0)).toBe(true)
    expect(isInCidrBlock([10, 1, 128, 9], new Array(16).fill(0), 0)).toBe(false)
  })
})

it.each([
  ['loopback', ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']],
  [
    'private',
    [
      '10.1.2.3',
      '172.16.0.1',
      '192.168.1.1',
      '100.64.0.1',
      '169.254.1.1',
      'fd00::1',
      'fe80::1',
      '64:ff9b::10.1.2.3',
    ],
  ],
  ['public', ['192.0.43.8', '::ffff:192.0.43.8', '2606:4700::1', '64:ff9b::192.0.43.8']],
] as const)('the network of an address is %s', (network, addresses) => {
  expect(addresses.map(networkOf)).toEqual(addresses.map(() => network))
})
