import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileAddressPolicy, isLocalhost, parseAllowRule } from '../../src/values/address-policy.js'

const closed = compileAddressPolicy({ allowLocal: false, allow: [] })
const local = compileAddressPolicy({ allowLocal: true, allow: [] })
const allowing = (...allow: string[]) => compileAddressPolicy({ allowLocal: false, allow })

describe('compileAddressPolicy', () => {
  it('allows only loopback addresses and localhost names with allowLocal', () => {
    for (const ip of ['127.0.0.1', '127.255.255.255', '::1', '::ffff:127.0.0.1']) {
      expect([ip, closed.checkAddress(ip).blocked, local.checkAddress(ip).blocked]).toEqual([ip, true, false])
    }
    for (const ip of [
      '10.0.0.1',
      '192.168.0.1',
      '169.254.169.254',
      'fe80::1',
      'fd00::1',
      '0.0.0.0',
      '::',
      '::127.0.0.1',
      '64:ff9b::127.0.0.1',
      '2002:7f00:1::',
    ]) {
      expect([ip, local.checkAddress(ip).blocked]).toEqual([ip, true])
    }
    for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'a.b.localhost']) {
      expect(closed.checkHost(name)).toEqual({ blocked: true, reason: 'a localhost name' })
      expect(local.checkHost(name)).toEqual({ blocked: false, allowsAnyAddress: false })
    }
  })

  it('allows the addresses of a block, including mapped ones, but no neighbours', () => {
    const policy = allowing('10.1.0.0/16', 'fd00:1::/32', '192.168.7.7')
    for (const ip of ['10.1.0.0', '10.1.255.255', '::ffff:10.1.2.3', 'fd00:1::5', '192.168.7.7']) {
      expect([ip, policy.checkAddress(ip)]).toEqual([ip, { blocked: false }])
    }
    for (const ip of [
      '10.0.255.255',
      '10.2.0.0',
      'fd00:2::5',
      '192.168.7.8',
      '::10.1.2.3',
      '64:ff9b::10.1.2.3',
    ]) {
      expect([ip, policy.checkAddress(ip).blocked]).toEqual([ip, true])
    }
  })

  it('blocks embedded addresses inside an allowed IPv6 block', () => {
    const nat64 = allowing('64:ff9b::/96', '64:ff9b:1::/48')
    expect(nat64.checkAddress('64:ff9b::8.8.8.8')).toEqual({ blocked: false })
    expect(nat64.checkAddress('64:ff9b:1::8.8.8.8')).toEqual({ blocked: false })
    expect(nat64.checkAddress('64:ff9b::10.0.0.1').blocked).toBe(true)
    expect(nat64.checkAddress('64:ff9b:1:a00:0:100::808:808').blocked).toBe(true)
    expect(allowing('64:ff9b::/96', '10.0.0.0/8').checkAddress('64:ff9b::10.0.0.1')).toEqual({
      blocked: false,
    })
  })

  it('treats a block in mapped notation as an IPv4 block', () => {
    const policy = allowing('::ffff:10.0.0.0/104')
    expect(policy.checkAddress('10.9.9.9')).toEqual({ blocked: false })
    expect(policy.checkAddress('::ffff:10.9.9.9')).toEqual({ blocked: false })
    expect(policy.checkAddress('11.0.0.1')).toEqual({ blocked: false })
    expect(policy.checkAddress('192.168.0.1').blocked).toBe(true)
  })

  it('allows a listed host name in any spelling, but no subdomain or parent domain', () => {
    const policy = allowing('Hooks.Internal', 'bücher.example', 'localhost')
    for (const name of ['hooks.internal', 'hooks.internal.', 'xn--bcher-kva.example', 'localhost']) {
      expect([name, policy.checkHost(name)]).toEqual([name, { blocked: false, allowsAnyAddress: true }])
    }
    for (const name of ['a.hooks.internal', 'internal', 'hooks.internal.example']) {
      expect([name, policy.checkHost(name)]).toEqual([name, { blocked: false, allowsAnyAddress: false }])
    }
    expect(policy.checkHost('a.localhost').blocked).toBe(true)
  })

  it('checks address literals as spelled in URLs', () => {
    expect(closed.checkHost('8.8.8.8')).toEqual({
      blocked: false,
      allowsAnyAddress: true,
      address: '8.8.8.8',
    })
    expect(closed.checkHost('[2606:4700::1]')).toEqual({
      blocked: false,
      allowsAnyAddress: true,
      address: '2606:4700::1',
    })
    expect(closed.checkHost('[::1]')).toEqual({ blocked: true, reason: 'a loopback address' })
    expect(local.checkHost('[::1]')).toEqual({ blocked: false, allowsAnyAddress: true, address: '::1' })
  })

  it('blocks invalid host names', () => {
    for (const name of ['', '.', 'a..', '.a'])
      expect([name, local.checkHost(name).blocked]).toEqual([name, true])
  })
})

describe('parseAllowRule', () => {
  it.each([
    '*.example.com',
    '*',
    'a b',
    '',
    'http://a',
    'a/24',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::/129',
    '10.0.0.0/-1',
    'a:80',
    'user@a',
    '127.1',
    '0x7f000001',
    '10.0.0',
    'fe80::1%eth0',
    'a?b',
    'a\\b',
    '[::1',
    'a%20b',
  ])('rejects "%s" and names it', (text) => {
    expect(() => parseAllowRule(text)).toThrow(RangeError)
    expect(() => parseAllowRule(text)).toThrow(`allow: "${text}"`)
  })

  it('accepts every address and every prefix length', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (ip, prefix) => {
        expect(allowing(`${ip}/${prefix}`).checkAddress(ip)).toEqual({ blocked: false })
      }),
    )
    expect(parseAllowRule('[::1]')).toEqual(parseAllowRule('::1/128'))
  })
})

describe('isLocalhost', () => {
  it('matches only the reserved names', () => {
    expect(
      ['localhost', 'x.LocalHost.', 'localhost.com', 'notlocalhost', 'localhost..'].map(isLocalhost),
    ).toEqual([true, true, false, false, false])
  })
})
