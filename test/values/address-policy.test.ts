import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePolicy, isLocalhost, parseRule } from '../../src/values/address-policy.js'

const closed = compilePolicy({ allowLocal: false, allow: [] })
const local = compilePolicy({ allowLocal: true, allow: [] })
const allowing = (...allow: string[]) => compilePolicy({ allowLocal: false, allow })

describe('compilePolicy', () => {
  it('opens loopback and localhost names with allowLocal, and nothing else', () => {
    for (const ip of ['127.0.0.1', '127.255.255.255', '::1', '::ffff:127.0.0.1']) {
      expect([ip, closed.judgeIp(ip).blocked, local.judgeIp(ip).blocked]).toEqual([ip, true, false])
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
      expect([ip, local.judgeIp(ip).blocked]).toEqual([ip, true])
    }
    for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'a.b.localhost']) {
      expect(closed.judgeHost(name)).toEqual({ blocked: true, reason: 'a name of this machine' })
      expect(local.judgeHost(name)).toEqual({ blocked: false, trusted: false })
    }
  })

  it('opens a block for its addresses, mapped ones included, and no neighbour', () => {
    const policy = allowing('10.1.0.0/16', 'fd00:1::/32', '192.168.7.7')
    for (const ip of ['10.1.0.0', '10.1.255.255', '::ffff:10.1.2.3', 'fd00:1::5', '192.168.7.7']) {
      expect([ip, policy.judgeIp(ip)]).toEqual([ip, { blocked: false }])
    }
    for (const ip of [
      '10.0.255.255',
      '10.2.0.0',
      'fd00:2::5',
      '192.168.7.8',
      '::10.1.2.3',
      '64:ff9b::10.1.2.3',
    ]) {
      expect([ip, policy.judgeIp(ip).blocked]).toEqual([ip, true])
    }
  })

  it('keeps blocked addresses closed inside an IPv6 block that a rule opens', () => {
    const nat64 = allowing('64:ff9b::/96', '64:ff9b:1::/48')
    expect(nat64.judgeIp('64:ff9b::8.8.8.8')).toEqual({ blocked: false })
    expect(nat64.judgeIp('64:ff9b:1::8.8.8.8')).toEqual({ blocked: false })
    expect(nat64.judgeIp('64:ff9b::10.0.0.1').blocked).toBe(true)
    expect(nat64.judgeIp('64:ff9b:1:a00:0:100::808:808').blocked).toBe(true)
    expect(allowing('64:ff9b::/96', '10.0.0.0/8').judgeIp('64:ff9b::10.0.0.1')).toEqual({ blocked: false })
  })

  it('reads a rule in mapped notation as the IPv4 block it is', () => {
    const policy = allowing('::ffff:10.0.0.0/104')
    expect(policy.judgeIp('10.9.9.9')).toEqual({ blocked: false })
    expect(policy.judgeIp('::ffff:10.9.9.9')).toEqual({ blocked: false })
    expect(policy.judgeIp('11.0.0.1')).toEqual({ blocked: false })
    expect(policy.judgeIp('192.168.0.1').blocked).toBe(true)
  })

  it('trusts an allowed host name, however it is written, and no name below or above it', () => {
    const policy = allowing('Hooks.Internal', 'bücher.example', 'localhost')
    for (const name of ['hooks.internal', 'hooks.internal.', 'xn--bcher-kva.example', 'localhost']) {
      expect([name, policy.judgeHost(name)]).toEqual([name, { blocked: false, trusted: true }])
    }
    for (const name of ['a.hooks.internal', 'internal', 'hooks.internal.example']) {
      expect([name, policy.judgeHost(name)]).toEqual([name, { blocked: false, trusted: false }])
    }
    expect(policy.judgeHost('a.localhost').blocked).toBe(true)
  })

  it('judges literals as they stand in a URL', () => {
    expect(closed.judgeHost('8.8.8.8')).toEqual({ blocked: false, trusted: true, address: '8.8.8.8' })
    expect(closed.judgeHost('[2606:4700::1]')).toEqual({
      blocked: false,
      trusted: true,
      address: '2606:4700::1',
    })
    expect(closed.judgeHost('[::1]')).toEqual({ blocked: true, reason: 'a loopback address' })
    expect(local.judgeHost('[::1]')).toEqual({ blocked: false, trusted: true, address: '::1' })
  })

  it('blocks what is no host name', () => {
    for (const name of ['', '.', 'a..', '.a'])
      expect([name, local.judgeHost(name).blocked]).toEqual([name, true])
  })
})

describe('parseRule', () => {
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
  ])('refuses "%s", naming it', (text) => {
    expect(() => parseRule(text)).toThrow(RangeError)
    expect(() => parseRule(text)).toThrow(`allow: "${text}"`)
  })

  it('takes every address and every prefix length', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (ip, prefix) => {
        expect(allowing(`${ip}/${prefix}`).judgeIp(ip)).toEqual({ blocked: false })
      }),
    )
    expect(parseRule('[::1]')).toEqual(parseRule('::1/128'))
  })
})

describe('isLocalhost', () => {
  it('knows the reserved names only', () => {
    expect(
      ['localhost', 'x.LocalHost.', 'localhost.com', 'notlocalhost', 'localhost..'].map(isLocalhost),
    ).toEqual([true, true, false, false, false])
  })
})
