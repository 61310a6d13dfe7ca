import { readFileSync } from 'node:fs'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  FORBIDDEN_HEADERS,
  findHeaderProblem,
  findRepeatedNames,
} from '../../src/webhooks/request-headers.js'
import { formatSigningSecret, parseSigningSecret } from '../../src/webhooks/signing-secret.js'

describe('a custom request header', () => {
  it.each([
    'X-Own',
    'Authorization',
    'Cookie',
    'Origin',
    'X-Api-Key',
    'CF-Access-Client-Id',
    'X-Amz-Date',
    'X-Request-ID',
    'user-agent',
    'accept',
    '__proto__',
    "!#$%&'*+-.^_`|~",
    'x-hooks',
  ])('may be %s', (name) => {
    expect(findHeaderProblem(name, 'value')).toBeUndefined()
  })

  it.each(['', 'a b', 'a:', 'é', 'a\r', 'a\u0000', '(x)'])('cannot have the name %j', (name) => {
    expect(findHeaderProblem(name, 'value')).toBe('not a header name')
  })

  it.each<[reason: string, names: string]>([
    [
      'it concerns the connection or the form of the body',
      'connection Keep-Alive proxy-authenticate Proxy-Authorization proxy-connection Proxy TE trailer Transfer-Encoding ' +
        'UPGRADE expect content-type Content-Length content-own accept-encoding http2-settings Content_Type',
    ],
    [
      'hookswitch sets it',
      'webhook-id Webhook-Signature X-Hook-ID x-hook-own X-ACCOUNT-ID x_account_id webhook.id',
    ],
    [
      'it says where a request goes or what it does',
      'Host X-Original-URL x-original-uri X-Rewrite-URL X-HTTP-Method-Override X-HTTP-Method X-Method-Override X_HTTP_Method',
    ],
    [
      'it says where a request comes from',
      'X-Forwarded-For x-forwarded-host X-Forwarded-Proto X-Forwarded X_Forwarded_For x.forwarded.for Forwarded Forwarded-For ' +
        'Via X-Real-IP X_REAL_IP X-Client-IP True-Client-IP CF-Connecting-IP CF-Connecting-IPv6 X-Cluster-Client-IP Client-IP ' +
        'Sec-Fetch-Site',
    ],
    [
      'it says who sends a request, in the name of a proxy',
      'Remote-User X-Remote-User Impersonate-User X-Auth-Request-Email X-Amzn-Oidc-Data X-Goog-IAP-JWT-Assertion',
    ],
    [
      'it opens the metadata service of a cloud',
      'Metadata Metadata-Flavor X-aws-ec2-metadata-token X-AWS-anything X-Google-Metadata-Request metadata_flavor',
    ],
  ])('may not be set because %s', (reason, names) => {
    for (const name of names.split(' '))
      expect([name, findHeaderProblem(name, 'value')]).toEqual([
        name,
        `this header may not be set: ${reason}`,
      ])
  })

  it('is named once in the table, in lower case', () => {
    const names = FORBIDDEN_HEADERS.flatMap((group) => group.names)
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(-\*)?$/.test(name))).toEqual([])
    const prefixes = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
    const covered = names.filter((name) =>
      prefixes.some((prefix) => name !== `${prefix}*` && name.startsWith(prefix)),
    )
    expect(covered).toEqual([])
  })

  it('is documented for the owners of webhooks', () => {
    const page = readFileSync(new URL('../../docs/receivers/requests.md', import.meta.url), 'utf8')
    for (const { reason, names } of FORBIDDEN_HEADERS)
      expect(page).toContain(`| ${reason} | ${names.map((name) => `\`${name}\``).join(', ')} |`)
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
