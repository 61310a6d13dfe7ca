/**
 * `URL.canParse` of Node 20 and 22 reads Latin-1 strings as UTF-8 once V8 has optimised the call. After about a thousand
 * webhooks, `https://exämple.com/` was an invalid client URL.
 */
import { expect, it } from 'vitest'
import { canonicalizeUri } from '../../src/values/uri.js'

it('a host name with an umlaut is accepted by the hundred-thousandth call as by the first', () => {
  const first = canonicalizeUri('https://exämple.com/ü?q=ä')
  expect(first).toMatchObject({ uri: 'https://xn--exmple-cua.com/%C3%BC?q=%C3%A4' })
  for (let n = 0; n < 100_000; n++) canonicalizeUri('https://example.com/')
  expect(canonicalizeUri('https://exämple.com/ü?q=ä')).toEqual(first)
})
