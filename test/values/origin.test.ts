import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { originOf } from '../../src/values/origin.js'
import { canonicalizeUri } from '../../src/values/uri.js'
import { webUrl } from '../support/hostile-text.js'

it.each([
  ['https://example.com', 'https://example.com'],
  ['https://example.com/', 'https://example.com'],
  ['https://example.com:8443/a//b?c=/d#e', 'https://example.com:8443'],
  ['http://[2001:db8::1]:81?x', 'http://[2001:db8::1]:81'],
  ['http://example.com#x', 'http://example.com'],
])('the origin of %s is %s', (uri, origin) => {
  expect(originOf(uri)).toBe(origin)
})

it('equals URL.origin for every canonical URI', () => {
  fc.assert(
    fc.property(webUrl, (text) => {
      const canonical = canonicalizeUri(text)
      fc.pre('uri' in canonical)
      if ('uri' in canonical) expect(originOf(canonical.uri)).toBe(new URL(canonical.uri).origin)
    }),
  )
})
