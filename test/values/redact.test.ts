import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactFields, redactText } from '../../src/values/redact.js'

const SECRET = 'correct-horse-battery'
const REDACTED = '[redacted]'

describe('redactFields', () => {
  it('redacts the values of secret names at any depth and of any type', () => {
    expect(
      redactFields({
        apiKey: SECRET,
        password: 1234,
        credentials: { digest: SECRET },
        token: [SECRET],
        secret: Buffer.from(SECRET),
        signature: undefined,
        cookie: null,
        request: { headers: { Authorization: SECRET, 'x-request-id': 'r1' }, list: [{ authToken: SECRET }] },
        flat: ['X-Auth-Token', SECRET, 'accept', '*/*'],
      }),
    ).toEqual({
      apiKey: REDACTED,
      password: REDACTED,
      credentials: REDACTED,
      token: REDACTED,
      secret: REDACTED,
      signature: undefined,
      cookie: null,
      request: {
        headers: { Authorization: REDACTED, 'x-request-id': 'r1' },
        list: [{ authToken: REDACTED }],
      },
      flat: ['X-Auth-Token', REDACTED, 'accept', '*/*'],
    })
  })

  it('copies other values as plain data', () => {
    const fields = { n: 1, yes: true, none: null, text: 'text', list: [1, 'a'], more: { big: 7n } }
    const redacted = redactFields(fields)
    expect(redacted).toEqual({ ...fields, more: { big: '7' } })
    expect(redacted.list).not.toBe(fields.list)
    expect(
      redactFields({ at: new Date(0), to: new URL('http://u:p@host/x?y'), f() {}, bytes: new Uint8Array(3) }),
    ).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      to: 'http://[redacted]@host/x',
      f: '[function]',
      bytes: '[3 bytes]',
    })
  })

  it('keeps name, message, code and cause of an error, but no other properties', () => {
    const cause = Object.assign(new Error(`no route to postgres://me:${SECRET}@db.example:5432/x`), {
      code: 'ECONNREFUSED',
      connection: { string: SECRET },
    })
    const error = Object.assign(new TypeError('out', { cause }), { query: SECRET, headers: [SECRET] })
    expect(redactFields({ error })).toEqual({
      error: {
        name: 'TypeError',
        message: 'out',
        cause: {
          name: 'Error',
          message: 'no route to postgres://[redacted]@db.example:5432/x',
          code: 'ECONNREFUSED',
        },
      },
    })
  })

  it('limits depth, width, length and cycles', () => {
    const cyclic: Record<string, unknown> = {}
    for (let i = 0; i < 50; i += 1) cyclic[`n${i}`] = cyclic
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`n${i}`, i]))
    for (const fields of [cyclic, wide, { list: Array(5_000).fill(1) }, { text: 'x'.repeat(50_000) }])
      expect(JSON.stringify(redactFields(fields)).length).toBeLessThan(60_000)
  })

  it('never shows the value of a secret name in any structure', () => {
    const name = fc.constantFrom('apiKey', 'Authorization', 'x-auth-token', 'password', 'client_secret')
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        name.map((key) => ({ [key]: { inside: SECRET } })),
        name.map((key) => ['accept', '*/*', key, SECRET]),
        fc.array(tie('tree')).filter((list) => list.every((item) => typeof item === 'object')),
        fc.dictionary(fc.string(), tie('tree')),
      ),
    }))
    fc.assert(
      fc.property(tree, (value) => {
        expect(JSON.stringify(redactFields({ value }))).not.toContain(SECRET)
      }),
    )
  })
})

describe('redactText', () => {
  it.each([
    ['https://host.example/path?key=SECRET', 'https://host.example/path'],
    ['https://host.example/path#SECRET', 'https://host.example/path'],
    ['https://host.example:8443/path?a=b', 'https://host.example:8443/path'],
    ['http://127.0.0.1:8000', 'http://127.0.0.1:8000'],
    ['http://[::1]:8000/x', 'http://[::1]:8000/x'],
    ['http://proxy.example:3128, tried twice', 'http://proxy.example:3128, tried twice'],
    ['http://user:SECRET@proxy.example:3128', 'http://[redacted]@proxy.example:3128'],
    ['postgres://me:SECRET@db/x?password=SECRET', 'postgres://[redacted]@db/x'],
    ['redis://:SECRET@cache', 'redis://[redacted]@cache'],
    ['postgres://me:SEC/RET?#@db.example/x', 'postgres://[redacted]@db.example/x'],
    ['postgres://me:SEC', 'postgres://me'],
    ['postgres://me:SEC: no route', 'postgres://me no route'],
    ['-https://me:SEC@host.example/x', '-https://[redacted]@host.example/x'],
    ['http://proxy.example:3128: no route', 'http://proxy.example:3128: no route'],
    [
      'failed at file:///srv/node_modules/@scope/x/index.js:10:5',
      'failed at file:///srv/node_modules/@scope/x/index.js:10:5',
    ],
    ['two: "http://a/?x=1" and http://b/?y', 'two: "http://a/" and http://b/'],
    ['secret whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw is wrong', 'secret whsec_[redacted] is wrong'],
    ['Authorization: Bearer abc.def-ghi', 'Authorization: Bearer [redacted]'],
    ['authorization: basic dXNlcjpwYXNz', 'authorization: basic [redacted]'],
    ['a claim failed: the disk is full', 'a claim failed: the disk is full'],
  ])('%s', (text, expected) => {
    expect(redactText(text)).toBe(expected)
  })

  it('removes any password and query of a URL', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'Z', '1', '/', '?', '#', ':', '@', '%', '-', '.') })
    fc.assert(
      fc.property(part, part, (before, after) => {
        const url = `postgres://me:${before}SECRET${after}@db.example/x`
        expect(redactText(`at ${url} we failed`)).toBe('at postgres://[redacted]@db.example/x we failed')
        expect(redactText(`https://host.example/x?${before}SECRET${after}`)).toBe('https://host.example/x')
      }),
    )
  })
})
