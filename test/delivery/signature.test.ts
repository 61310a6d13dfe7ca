import * as fc from 'fast-check'
import { Webhook as Standard } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { sign, verify } from '../../src/delivery/signature.js'
import { formatSigningSecret, parseSigningSecret } from '../../src/webhooks/signing-secret.js'
import { propertyRuns } from '../support/property-runs.js'

const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const AT = 1_614_265_330
const BODY = '{"test": 2432232314}'
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const keyOf = (secret: string) => parseSigningSecret(secret)!
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

const headers = { 'webhook-id': ID, 'webhook-timestamp': String(AT), 'webhook-signature': SIGNATURE }
const at = (nowSeconds: number) => ({ nowSeconds })
const secrets = fc.uint8Array({ minLength: 24, maxLength: 64 }).map(formatSigningSecret)
const bodies = fc.string({ unit: 'grapheme' })

describe('sign and verify (Standard Webhooks 1.0.0)', () => {
  it('match the known vector', () => {
    expect(sign([keyOf(SECRET)], ID, AT, BODY)).toBe(SIGNATURE)
    expect(verify({ headers, body: BODY }, SECRET, at(AT))).toEqual({
      ok: true,
      id: ID,
      timestampSeconds: AT,
    })
  })

  it('interoperate with the package standardwebhooks', () => {
    // That package reads the machine's clock.
    const now = Math.floor(Date.now() / 1000)
    fc.assert(
      fc.property(secrets, fc.stringMatching(/^[a-z0-9_]{1,40}$/), bodies, (secret, id, body) => {
        const theirs = new Standard(secret)
        const ours = {
          'webhook-id': id,
          'webhook-timestamp': String(now),
          'webhook-signature': sign([keyOf(secret)], id, now, body),
        }
        expect(() => theirs.verify(body, ours, { jsonParse: false })).not.toThrow()
        const signed = { ...ours, 'webhook-signature': theirs.sign(id, new Date(now * 1000), body) }
        expect(signed).toEqual(ours)
        expect(verify({ headers: signed, body }, secret, at(now)).ok).toBe(true)
      }),
    )
  })

  it('use one signature per key, any of which is enough', () => {
    const old = formatSigningSecret(new Uint8Array(24).fill(1))
    const both = sign([keyOf(SECRET), keyOf(old)], ID, AT, BODY)
    expect(both.split(' ')).toHaveLength(2)
    expect(both.split(' ')[0]).toBe(SIGNATURE)
    const request = { headers: { ...headers, 'webhook-signature': both }, body: BODY }
    expect(verify(request, SECRET, at(AT)).ok).toBe(true)
    expect(verify(request, old, at(AT)).ok).toBe(true)
    expect(verify({ headers, body: BODY }, [old, SECRET], at(AT)).ok).toBe(true)
    expect(verify({ headers, body: BODY }, [old], at(AT))).toEqual({ ok: false, reason: 'no signature fits' })
  })

  it('treat text and its UTF-8 bytes alike', () => {
    const body = '{"name":"Zoë €😀"}'
    const signed = { ...headers, 'webhook-signature': sign([keyOf(SECRET)], ID, AT, body) }
    for (const form of [body, new TextEncoder().encode(body), Buffer.from(body)]) {
      expect(verify({ headers: signed, body: form }, SECRET, at(AT)).ok).toBe(true)
    }
  })

  it('read headers of any kind', () => {
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    )
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
    for (const kind of [upper, lists, new Headers(headers)]) {
      expect(verify({ headers: kind, body: BODY }, SECRET, at(AT)).ok).toBe(true)
    }
    const twice = { ...headers, 'webhook-id': [ID, ID] }
    expect(verify({ headers: twice, body: BODY }, SECRET, at(AT))).toEqual({
      ok: false,
      reason: 'missing header',
    })
  })

  it.each([
    [300, true, undefined],
    [301, false, 'timestamp too old'],
    [-300, true, undefined],
    [-301, false, 'timestamp too new'],
    [Number.NaN, false, 'timestamp too old'],
  ])('allow five minutes in both directions: %i s later is %s', (later, ok, reason) => {
    expect(verify({ headers, body: BODY }, SECRET, at(AT + later))).toMatchObject({
      ok,
      ...(reason && { reason }),
    })
  })

  it('use the tolerance of the receiver', () => {
    const options = { nowSeconds: AT + 900, toleranceSeconds: 900 }
    expect(verify({ headers, body: BODY }, SECRET, options).ok).toBe(true)
    expect(verify({ headers, body: BODY }, SECRET, { ...options, toleranceSeconds: 899 }).ok).toBe(false)
  })

  it.each([
    ['missing header', { ...headers, 'webhook-id': undefined }, SECRET, BODY],
    ['missing header', { ...headers, 'webhook-timestamp': '' }, SECRET, BODY],
    ['missing header', { 'webhook-id': ID, 'webhook-timestamp': String(AT) }, SECRET, BODY],
    ['bad timestamp', { ...headers, 'webhook-timestamp': `${AT}.5` }, SECRET, BODY],
    ['bad timestamp', { ...headers, 'webhook-timestamp': ` ${AT}` }, SECRET, BODY],
    ['bad timestamp', { ...headers, 'webhook-timestamp': '-1' }, SECRET, BODY],
    ['bad secret', headers, 'whsec_short', BODY],
    ['bad secret', headers, '', BODY],
    ['bad secret', headers, [], BODY],
    ['bad secret', headers, undefined, BODY],
    ['bad body', headers, SECRET, JSON.parse(BODY)],
    ['bad body', headers, SECRET, undefined],
    ['no signature fits', { ...headers, 'webhook-signature': SIGNATURE.slice(3) }, SECRET, BODY],
    ['no signature fits', { ...headers, 'webhook-signature': `v2${SIGNATURE.slice(2)}` }, SECRET, BODY],
    ['no signature fits', { ...headers, 'webhook-signature': 'v1,' }, SECRET, BODY],
  ])('report %s for %j', (reason, given, secret, body) => {
    expect(verify({ headers: given as typeof headers, body }, secret as string, at(AT))).toEqual({
      ok: false,
      reason,
    })
  })

  it('fail when any signed character is changed', () => {
    const signed = fc.constantFrom('id', 'timestamp', 'body', 'signature')
    fc.assert(
      fc.property(secrets, bodies, signed, fc.nat(), fc.nat(94), (secret, text, what, place, by) => {
        const body = `${text}.`
        const parts = {
          id: ID,
          timestamp: String(AT),
          body,
          signature: sign([keyOf(secret)], ID, AT, body),
        }
        const old = parts[what]
        const index = place % old.length
        const other = String.fromCharCode(33 + ((old.charCodeAt(index) + by) % 94))
        const changed = { ...parts, [what]: old.slice(0, index) + other + old.slice(index + 1) }
        fc.pre(changed[what] !== old && changed[what].isWellFormed())
        const request = {
          headers: {
            'webhook-id': changed.id,
            'webhook-timestamp': changed.timestamp,
            'webhook-signature': changed.signature,
          },
          body: changed.body,
        }
        expect(verify(request, secret, { nowSeconds: AT, toleranceSeconds: Infinity }).ok).toBe(false)
      }),
    )
  })

  it('verify never throws, whatever its arguments', () => {
    const anything = fc.anything({ withTypedArray: true, withMap: true, withDate: true })
    const half = fc.record({
      'webhook-id': anything,
      'webhook-timestamp': fc.constant(String(AT)),
      'webhook-signature': anything,
    })
    fc.assert(
      fc.property(
        fc.oneof(anything, half, fc.constant(headers)),
        anything,
        anything,
        (given, body, secret) => {
          const request = { headers: given, body } as Parameters<typeof verify>[0]
          expect(verify(request, secret as string, at(AT)).ok).toBe(false)
        },
      ),
      { numRuns: propertyRuns(1000) },
    )
  })
})
