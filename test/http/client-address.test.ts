import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errorCode } from '../../src/errors.js'
import { parseTrustedProxies, resolveClientAddress } from '../../src/http/client-address.js'

const trusted = parseTrustedProxies(['10.0.0.0/8', '::1', 'fd00::/8'])

describe('resolveClientAddress', () => {
  it.each([
    ['198.51.100.7', undefined, '198.51.100.7'],
    ['198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '203.0.113.9, 10.9.9.9', '203.0.113.9'],
    ['10.0.0.1', '10.2.2.2,10.3.3.3', '10.2.2.2'],
    ['10.0.0.1', '203.0.113.9:1234', '203.0.113.9'],
    ['10.0.0.1', '[2001:db8::5]:1234', '2001:db8::5'],
    ['10.0.0.1', '2001:DB8:0:0::5', '2001:db8::5'],
    ['10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9, 0x7f.1', '10.0.0.1'],
    ['10.0.0.1', 'x, 203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['::ffff:198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['::1', '::ffff:203.0.113.9', '203.0.113.9'],
    ['fe80::1%eth0', '203.0.113.9', 'fe80::1'],
    [undefined, '203.0.113.9', undefined],
    ['/run/socket', '203.0.113.9', '/run/socket'],
  ])('for peer %s and X-Forwarded-For %j is %s', (peer, forwarded, expected) => {
    expect(resolveClientAddress(peer, forwarded, trusted)).toBe(expected)
  })

  it('is the peer, whatever the header contains, if no proxy is trusted', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.string(), (peer, forwarded) => {
        expect(resolveClientAddress(peer, forwarded, [])).toBe(peer)
      }),
    )
  })

  it('is never an entry to the left of the nearest untrusted proxy', () => {
    fc.assert(
      fc.property(fc.array(fc.ipV4()), fc.string(), (list, noise) => {
        const forwarded = [noise, ...list, '198.51.100.7'].join(', ')
        expect(resolveClientAddress('10.0.0.1', forwarded, trusted)).toBe('198.51.100.7')
      }),
    )
  })
})

describe('parseTrustedProxies', () => {
  it.each([
    '',
    'localhost',
    '10.0.0.0/33',
    '10.0.0/8',
    '::/129',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    '10.0.0.0/08',
    '300.1.1.1',
  ])('rejects %j and names the option', (entry) => {
    let code: unknown
    try {
      parseTrustedProxies([entry])
    } catch (thrown) {
      code = errorCode(thrown)
      expect(thrown).toMatchObject({ field: 'trustProxy' })
    }
    expect(code).toBe('InvalidOption')
  })
})
