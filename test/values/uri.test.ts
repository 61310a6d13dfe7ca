import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import { canonicalizeUri, MAX_URI_LENGTH } from '../../src/values/uri.js'
import { webUrl } from '../support/hostile-text.js'
import { propertyRuns } from '../support/property-runs.js'

const closed = compileAddressPolicy({ allowLocal: false, allow: [] })
const local = compileAddressPolicy({ allowLocal: true, allow: [] })

function canonical(text: string) {
  const result = canonicalizeUri(text)
  if ('problem' in result) throw new Error(`${text}: ${result.problem}`)
  return result
}

describe('canonicalizeUri', () => {
  it.each([
    ['http://Example.COM', 'http://example.com/'],
    ['HTTPS://example.com:443/a', 'https://example.com/a'],
    ['http://example.com:8080/a/../b?x=1&y=%41', 'http://example.com:8080/b?x=1&y=%41'],
    ['http://example.com/a#part', 'http://example.com/a'],
    ['http://example.com/?q#', 'http://example.com/?q'],
    ['http://bücher.example/ä', 'http://xn--bcher-kva.example/%C3%A4'],
    ['http://[2606:4700:0:0:0:0:0:1]/', 'http://[2606:4700::1]/'],
    ['http://example.com./', 'http://example.com./'],
    ['http://example.com/@user', 'http://example.com/@user'],
    ['http://134744072/', 'http://8.8.8.8/'],
  ])('converts %s to %s', (text, uri) => {
    expect(canonical(text).uri).toBe(uri)
  })

  it.each([
    ['', /absolute/],
    ['example.com', /absolute/],
    ['ftp://example.com/', /absolute/],
    ['file:///etc/passwd', /absolute/],
    ['http:example.com', /absolute/],
    ['http:///example.com', /absolute/],
    ['//example.com', /absolute/],
    ['javascript:1', /absolute/],
    ['http://', /absolute/],
    ['http://?', /absolute/],
    ['http://user@example.com/', /user name/],
    ['http://u:p@example.com/', /user name/],
    ['http://@example.com/', /user name/],
    ['http://example.com:0/', /port 0/],
    ['http://example.com:65536/', /valid/],
    ['http://exa mple.com/', /spaces/],
    [' http://example.com/', /spaces/],
    ['http://example.com/\n', /spaces/],
    ['http://example.com/\ta', /spaces/],
    ['http://example.com\\@evil.com/', /backslashes/],
    ['http://example.com/a\u0000', /control/],
    ['http://example.com/\u00a0', /spaces/],
    ['http://exam\u00adple.com/', /control/],
    ['http://example.com/\u202e', /control/],
    ['http://example.com/\ud800', /control/],
    ['http://[::1/', /valid/],
    ['http://[fe80::1%25eth0]/', /valid/],
    ['http://1.2.3.4.5/', /valid/],
    ['http://256.1.1.1/', /valid/],
    ['http://a%00b/', /valid/],
    ['http://ex^ample.com/', /valid/],
  ])('rejects %j', (text, reason) => {
    expect(canonicalizeUri(text)).toEqual({ problem: expect.stringMatching(reason) })
  })

  it('limits the length both as given and when encoded', () => {
    const base = 'http://example.com/'
    const available = MAX_URI_LENGTH - base.length
    expect(canonical(base + 'a'.repeat(available)).uri).toHaveLength(MAX_URI_LENGTH)
    expect(canonicalizeUri(base + 'a'.repeat(available + 1))).toHaveProperty('problem')
    expect(canonicalizeUri(base + 'ä'.repeat(available))).toEqual({
      problem: 'must be at most 2048 characters when encoded',
    })
  })

  it('is idempotent', () => {
    const piece = fc.constantFrom(
      'a',
      'A',
      '.',
      '..',
      '/',
      '//',
      '?',
      '#',
      '%',
      '%41',
      '%2e',
      '%zz',
      ':',
      '80',
      '443',
      '@',
      '[',
      ']',
      '::1',
      'ä',
      '日',
      '１２７',
      '0x7f',
      '127',
      '1',
      'xn--',
      '-',
      '_',
      '~',
      '|',
      '^',
      '"',
      "'",
      '<',
      '`',
      '{',
      ';',
      '=',
      '&',
      'localhost',
      '。',
      '\u0130',
      'ß',
    )
    const text = fc.tuple(
      fc.constantFrom('http://', 'https://', 'HTTP://'),
      fc.array(piece, { maxLength: 12 }),
    )
    fc.assert(
      fc.property(
        fc.oneof(
          webUrl,
          text.map(([scheme, parts]) => scheme + parts.join('')),
        ),
        (given) => {
          const once = canonicalizeUri(given)
          if ('problem' in once) return
          expect(canonicalizeUri(once.uri)).toEqual(once)
          expect(new URL(once.uri).href).toBe(once.uri)
          expect(once.uri).toMatch(/^https?:\/\/[!-~]+$/)
          expect(once.uri.startsWith(`${once.origin}/`)).toBe(true)
        },
      ),
      { numRuns: propertyRuns(5_000) },
    )
  })
})

describe('the address policy on canonical URIs', () => {
  it.each([
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://127.1/',
    'http://127.0.1/',
    'http://127.0.0.1./',
    'http://１２７.０.０.１/',
    'http://127。0。0。1/',
    'http://①②⑦.0.0.1/',
    'http://%31%32%37.0.0.1/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://ｌocalhost/',
    'http://a.localhost/',
    'https://loc%61lhost:9/',
  ])('recognises the local host in %s', (text) => {
    const uri = canonical(text)
    expect(closed.checkHost(uri.hostname).blocked).toBe(true)
    expect(local.checkHost(uri.hostname).blocked).toBe(false)
  })

  it.each([
    'http://0/',
    'http://0.0.0.0/',
    'http://10.1/',
    'http://0xa.0.0.1/',
    'http://169.254.169.254/latest/',
    'http://2852039166/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://[::]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[2002:a9fe:a9fe::]/',
    'http://[::ffff:0:10.0.0.1]/',
    'http://168.63.129.16/',
  ])('blocks %s even where local addresses are allowed', (text) => {
    expect(local.checkHost(canonical(text).hostname).blocked).toBe(true)
  })

  it('does not block other names, whose addresses are checked when they are resolved', () => {
    expect(closed.checkHost(canonical('https://example.com/x').hostname)).toEqual({
      blocked: false,
      allowsAnyAddress: false,
    })
    expect(closed.checkHost(canonical('https://8.8.8.8/x').hostname).blocked).toBe(false)
  })

  it('treats every spelling of an IPv4 address like its standard spelling', () => {
    const octet = fc.oneof(fc.constantFrom(0, 10, 127, 169, 172, 192, 255), fc.integer({ min: 0, max: 255 }))
    const radix = fc.constantFrom(8, 10, 16)
    const spell = (value: number, base: number) =>
      (base === 8 ? '0' : base === 16 ? '0x' : '') + value.toString(base)
    fc.assert(
      fc.property(
        fc.tuple(octet, octet, octet, octet),
        fc.integer({ min: 1, max: 4 }),
        radix,
        fc.boolean(),
        (octets, count, base, dot) => {
          const rest = octets.slice(count - 1).reduce((sum, value) => sum * 256 + value, 0)
          const host =
            [...octets.slice(0, count - 1), rest].map((value) => spell(value, base)).join('.') +
            (dot ? '.' : '')
          const uri = canonical(`http://${host}/`)
          expect(uri.hostname).toBe(octets.join('.'))
          expect(closed.checkHost(uri.hostname).blocked).toBe(closed.checkAddress(octets.join('.')).blocked)
        },
      ),
      { numRuns: propertyRuns(1_000) },
    )
  })
})
