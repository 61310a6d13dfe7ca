import { validateHeaderName, validateHeaderValue } from 'node:http'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { headerProblem, isSecretHeader, repeatedNames } from '../../src/webhooks/request-headers.js'
import { secretKey, secretText } from '../../src/webhooks/signing-secret.js'

describe('a custom request header', () => {
  it.each(['X-Own', 'Authorization', 'user-agent', 'accept', '__proto__', "!#$%&'*+-.^_`|~", 'x-hooks'])(
    'may be %s',
    (name) => {
      expect(headerProblem(name, 'value')).toBeUndefined()
    },
  )

  it.each(['', 'a b', 'a:', 'é', 'a\r', 'a\u0000', '(x)'])('has no such name: %j', (name) => {
    expect(headerProblem(name, 'value')).toBe('not a header name')
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
    expect(headerProblem(name, 'value')).toBe('this header may not be set')
  })

  it.each(['', ' x ', '\t', '~', 'Bearer abc=='])('may have the value %j', (value) => {
    expect(headerProblem('x', value)).toBeUndefined()
  })

  it.each(['a\nb', 'a\r', '\u0000', '\u007f', 'é', '\u2028'])('may not have the value %j', (value) => {
    expect(headerProblem('x', value)).toMatch('printable ASCII')
  })

  it('that is taken is one that Node can send', () => {
    const text = fc.string({ unit: 'binary-ascii' })
    fc.assert(
      fc.property(fc.oneof(text, fc.stringMatching(/^[!-~]{1,5}$/)), text, (name, value) => {
        fc.pre(headerProblem(name, value) === undefined)
        expect(() => validateHeaderName(name)).not.toThrow()
        expect(() => validateHeaderValue(name, value)).not.toThrow()
      }),
    )
  })

  it('occurs once, whatever its case', () => {
    expect(repeatedNames(['a', 'B', 'A', 'c', 'b', 'a'])).toEqual(['A', 'b', 'a'])
    expect(repeatedNames([])).toEqual([])
  })

  it.each([
    ['Authorization', true],
    ['X-API-KEY', true],
    ['cookie', true],
    ['X-Auth-Token', true],
    ['webhook-signature', true],
    ['content-type', false],
    ['x-hook-id', false],
  ])('%s is secret: %s', (name, secret) => {
    expect(isSecretHeader(name)).toBe(secret)
  })
})

describe('a signing secret', () => {
  it('is whsec_ and base64 of 24 to 64 bytes, and reads back as its key', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), (key) => {
        const text = secretText(key)
        expect(text).toMatch(/^whsec_[A-Za-z0-9+/]+=*$/)
        expect([...secretKey(text)!]).toEqual([...key])
        expect([...secretKey(text.slice(6))!]).toEqual([...key])
      }),
    )
  })

  it('is none when it is too short, too long or not base64', () => {
    for (const bytes of [0, 23, 65]) expect(secretKey(secretText(new Uint8Array(bytes)))).toBeUndefined()
    for (const text of [
      '',
      'whsec_',
      'whsec_***',
      `whsec_${'a-_'.repeat(12)}`,
      ` ${secretText(new Uint8Array(24))}`,
    ]) {
      expect(secretKey(text)).toBeUndefined()
    }
  })
})
