/**
 * What went wrong: `URL.canParse` of Node 20 and 22 takes Latin-1 for UTF-8 once V8 has made it fast. After about a
 * thousand webhooks, `https://exämple.com/` was an invalid client URL.
 */
import { expect, it } from 'vitest'
import { canonicalUri } from '../../src/values/uri.js'

it('a host name with an umlaut is taken by the hundred-thousandth call as by the first', () => {
  const first = canonicalUri('https://exämple.com/ü?q=ä')
  expect(first).toMatchObject({ uri: 'https://xn--exmple-cua.com/%C3%BC?q=%C3%A4' })
  for (let n = 0; n < 100_000; n++) canonicalUri('https://example.com/')
  expect(canonicalUri('https://exämple.com/ü?q=ä')).toEqual(first)
})
