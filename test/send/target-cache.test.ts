import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTargetCache } from '../../src/send/target-cache.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'
import { MAX_URI_LENGTH } from '../../src/values/uri.js'

/** URLs in one generation of the cache. */
const MAX_TARGETS = 10_000

/** A cache, and the hosts that its policy checked: one per parsed URL. */
function createCache(...allow: string[]) {
  const policy = compileAddressPolicy({ allowLocal: false, allow })
  const checkedHosts: string[] = []
  const lookup = createTargetCache({
    ...policy,
    checkHost(hostname) {
      checkedHosts.push(hostname)
      return policy.checkHost(hostname)
    },
  })
  return { lookup, checkedHosts }
}

const urlOf = (name: string | number) => `https://a.example/${name}`
const blocked = (detail: string) => ({
  kind: 'no_response',
  failure: 'blocked_address',
  cause: 'blocked_address',
  detail,
  isSent: false,
})

describe('a parsed target', () => {
  it.each([
    ['https://a.example', 'https://a.example', '/', 'a.example', 443, true],
    ['http://a.example/', 'http://a.example', '/', 'a.example', 80, false],
    ['https://a.example:8443/x', 'https://a.example:8443', '/x', 'a.example', 8443, true],
    ['http://a.example:8080/x', 'http://a.example:8080', '/x', 'a.example', 8080, false],
    ['https://a.example:443/', 'https://a.example', '/', 'a.example', 443, true],
    ['http://a.example:443/', 'http://a.example:443', '/', 'a.example', 443, false],
    ['https://a.example:80/', 'https://a.example:80', '/', 'a.example', 80, true],
    ['https://a.example/p/q?r=1&s=%20#t', 'https://a.example', '/p/q?r=1&s=%20', 'a.example', 443, true],
    ['https://a.example?r', 'https://a.example', '/?r', 'a.example', 443, true],
    ['HTTPS://A.Example/X', 'https://a.example', '/X', 'a.example', 443, true],
    ['https://bücher.example/', 'https://xn--bcher-kva.example', '/', 'xn--bcher-kva.example', 443, true],
    ['https://u:p@a.example/', 'https://a.example', '/', 'a.example', 443, true],
    ['http://[2600::1]:81/', 'http://[2600::1]:81', '/', '[2600::1]', 81, false],
    ['http://0x08.8.8.8/', 'http://8.8.8.8', '/', '8.8.8.8', 80, false],
  ])('of %s has its origin, path, host and port', (url, origin, path, hostname, port, secure) => {
    const { lookup, checkedHosts } = createCache()
    expect(lookup(url)).toEqual({ origin, path, target: { hostname, port, secure } })
    expect(checkedHosts).toEqual([hostname])
  })

  it('leads to the same URL without its fragment', () => {
    const { lookup } = createCache()
    fc.assert(
      fc.property(
        fc.webUrl({ validSchemes: ['http', 'https'], withQueryParameters: true, withFragments: true }),
        (text) => {
          const url = new URL(text)
          url.hash = ''
          const result = lookup(text)
          if (!('target' in result)) throw new Error(`${text} is blocked: ${result.kind}`)
          // A question mark without a query is not sent.
          const withoutMark = (href: string) => href.replace(/\?$/, '')
          expect(withoutMark(result.origin + result.path)).toBe(withoutMark(url.href))
          expect(result.target.secure).toBe(text.startsWith('https:'))
          expect(lookup(text)).toEqual(result)
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe('a URL that must not be called', () => {
  it.each([
    '',
    'a.example',
    '/path',
    'https://',
    'https://a b/',
    'https://a.example:65536/',
    'ftp://a.example/',
    'ws://a.example/',
    'wss://a.example/',
    'file:///etc/hosts',
    'javascript:alert(1)',
  ])('is refused without asking the policy: %j', (url) => {
    const { lookup, checkedHosts } = createCache()
    expect(lookup(url)).toEqual(blocked('not an http or https URL'))
    expect(checkedHosts).toEqual([])
  })

  it('is refused with the reason of the policy', () => {
    const { lookup } = createCache()
    expect(lookup('http://a.localhost/')).toEqual(blocked('the host is a localhost name'))
    expect(lookup('http://10.0.0.1/')).toEqual(blocked('the host is a private address'))
  })

  it('is accepted when the policy allows its host', () => {
    const { lookup } = createCache('a.localhost', '10.0.0.0/8')
    expect(lookup('http://a.localhost/')).toMatchObject({ target: { hostname: 'a.localhost' } })
    expect(lookup('http://10.0.0.1/')).toMatchObject({ target: { hostname: '10.0.0.1' } })
  })
})

describe('the target cache', () => {
  it('parses a URL once, and each spelling for itself', () => {
    const { lookup, checkedHosts } = createCache()
    const first = lookup('https://a.example/')
    expect(lookup('https://a.example/')).toBe(first)
    expect(checkedHosts).toHaveLength(1)
    expect(lookup('https://a.example')).toEqual(first)
    expect(lookup('https://a.example')).not.toBe(first)
    expect(lookup('https://a.example/x')).not.toEqual(first)
    expect(checkedHosts).toHaveLength(3)
  })

  it('remembers also why a URL must not be called', () => {
    const { lookup, checkedHosts } = createCache()
    for (const url of ['http://10.0.0.1/', 'ftp://a.example/']) expect(lookup(url)).toBe(lookup(url))
    expect(checkedHosts).toEqual(['10.0.0.1'])
  })

  it('shares nothing with the cache of another policy', () => {
    expect(createCache().lookup('http://10.0.0.1/')).toMatchObject({ kind: 'no_response' })
    expect(createCache('10.0.0.1').lookup('http://10.0.0.1/')).toMatchObject({ origin: 'http://10.0.0.1' })
  })

  it('keeps a URL of the maximum length, and parses a longer one each time', () => {
    const { lookup, checkedHosts } = createCache()
    const longest = urlOf('?').padEnd(MAX_URI_LENGTH, 'x')
    expect(lookup(longest)).toBe(lookup(longest))
    expect(checkedHosts).toHaveLength(1)
    const longer = `${longest}x`
    const first = lookup(longer)
    expect(lookup(longer)).toEqual(first)
    expect(lookup(longer)).not.toBe(first)
    expect(checkedHosts).toHaveLength(4)
  })
})

describe('a target cache that is full', () => {
  /** Looks up `count` new URLs, which are used by no one else. */
  function fill(lookup: (url: string) => unknown, name: string, count: number) {
    for (let n = 0; n < count; n++) lookup(urlOf(`${name}-${n}`))
  }

  it('keeps a URL for one generation in which it is not used, and forgets it after the second', () => {
    const kept = createCache()
    const before = kept.lookup(urlOf('unused'))
    fill(kept.lookup, 'filler', 2 * MAX_TARGETS - 1)
    expect(kept.lookup(urlOf('unused'))).toBe(before)
    expect(kept.checkedHosts).toHaveLength(2 * MAX_TARGETS)

    const forgotten = createCache()
    const parsed = forgotten.lookup(urlOf('unused'))
    fill(forgotten.lookup, 'filler', 2 * MAX_TARGETS)
    expect(forgotten.lookup(urlOf('unused'))).toEqual(parsed)
    expect(forgotten.lookup(urlOf('unused'))).not.toBe(parsed)
    expect(forgotten.checkedHosts).toHaveLength(2 * MAX_TARGETS + 2)
  })

  it('keeps a URL in use, however many new ones come', () => {
    const { lookup, checkedHosts } = createCache()
    const first = lookup(urlOf('used'))
    for (let round = 0; round < 8; round++) {
      fill(lookup, `round-${round}`, MAX_TARGETS / 2)
      expect(lookup(urlOf('used'))).toBe(first)
    }
    expect(checkedHosts).toHaveLength(1 + 4 * MAX_TARGETS)
  })

  it('forgets nothing for a URL that it does not keep', () => {
    const { lookup, checkedHosts } = createCache()
    const first = lookup(urlOf('unused'))
    fill(lookup, 'filler', 2 * MAX_TARGETS - 1)
    // Both generations are full now: one more URL that is kept would evict the older one.
    lookup(urlOf('?').padEnd(MAX_URI_LENGTH + 1, 'x'))
    expect(lookup(urlOf('unused'))).toBe(first)
    expect(checkedHosts).toHaveLength(2 * MAX_TARGETS + 1)
  })
})
