import { validateHeaderName, validateHeaderValue } from 'node:http'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findHeaderProblem, findRepeatedNames } from '../../src/webhooks/request-headers.js'
import { formatSigningSecret, parseSigningSecret } from '../../src/webhooks/signing-secret.js'

describe('a custom request header', () => {
  it.each(['X-Own', 'Authorization', 'user-agent', 'accept', '__proto__', "!#$%&'*+-.^_`|~", 'x-hooks'])(
    'may be %s',
    (name) => {
      expect(findHeaderProblem(name, 'value')).toBeUndefined()
    },
  )

  it.each(['', 'a b', 'a:', 'é', 'a\r', 'a\u0000', '(x)'])('cannot have the name %j', (name) => {
    expect(findHeaderProblem(name, 'value')).toBe('not a header name')
  })

  it.each([
    ...[
      'Host',
      'connection',
      'Keep-Alive',
      'proxy-authenticate',
      'Proxy-Authorization',
      'proxy-connection',
      'TE',
    ],
    ...['trailer', 'Transfer-Encoding', 'UPGRADE', 'expect', 'content-type', 'Content-Length', 'content-own'],
    ...[
      'webhook-id',
      'Webhook-Signature',
      'X-Hook-ID',
      'x-hook-own',
      'X-ACCOUNT-ID',
      'accept-encoding',
      'http2-settings',
    ],
  ])('may not be %s', (name) => {
    expect(findHeaderProblem(name, 'value')).toBe('this header may not be set')
  })

  it.each(['', ' x ', '\t', '~', 'Bearer abc=='])('may have the value %j', (value) => {
    expect(findHeaderProblem('x', value)).toBeUndefined()
  })

  it.each(['a\nb', 'a\r', '\u0000', '\u007f', 'é', '\u2028'])('may not have the value %j', (value) => {
    expect(findHeaderProblem('x', value)).toMatch('printable ASCII')
  })

  it('that is accepted can be sent by Node', () => {
    const text = fc.string({ unit: 'binary-ascii' })
    fc.assert(
      fc.property(fc.oneof(text, fc.stringMatching(/^[!-~]{1,5}$/)), text, (name, value) => {
        fc.pre(findHeaderProblem(name, value) === undefined)
        expect(() => validateHeaderName(name)).not.toThrow()
        expect(() => validateHeaderValue(name, value)).not.toThrow()
      }),
    )
  })

  it('is repeated when its name occurs twice in any case', () => {
    expect(findRepeatedNames(['a', 'B', 'A', 'c', 'b', 'a'])).toEqual(['A', 'b', 'a'])
    expect(findRepeatedNames([])).toEqual([])
  })
})

describe('a signing secret', () => {
  it('is whsec_ and base64 of 24 to 64 bytes, and parses to its key', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), (key) => {
        const text = formatSigningSecret(key)
        expect(text).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/)
        expect([...parseSigningSecret(text)!]).toEqual([...key])
        expect([...parseSigningSecret(text.slice(6))!]).toEqual([...key])
      }),
    )
  })

  it('is invalid when it is too short, too long or not base64', () => {
    for (const bytes of [0, 23, 65])
      expect(parseSigningSecret(formatSigningSecret(new Uint8Array(bytes)))).toBeUndefined()
    for (const text of [
      '',
      'whsec_',
      'whsec_***',
      `whsec_${'a-_'.repeat(12)}`,
      ` ${formatSigningSecret(new Uint8Array(24))}`,
    ]) {
      expect(parseSigningSecret(text)).toBeUndefined()
    }
  })
})
