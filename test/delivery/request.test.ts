import { describe, expect, it } from 'vitest'
import { buildFixedHeaders, buildRequest } from '../../src/delivery/request.js'
import { verify } from '../../src/delivery/signature.js'
import { formatSigningSecret, parseSigningSecret } from '../../src/webhooks/signing-secret.js'
import type { HttpVerb } from '../../src/webhooks/webhook.js'
import { aDelivery, aWebhook } from './fixtures.js'

const NOW = 1_700_000_000_900
const [current, old] = [1, 2].map((byte) => formatSigningSecret(new Uint8Array(32).fill(byte))) as [
  string,
  string,
]
const keyOf = (secret: string) => parseSigningSecret(secret)!
const keys = [{ key: keyOf(current) }, { key: keyOf(old), expiresMs: NOW + 1 }]

function request(
  httpVerb: HttpVerb,
  body: string,
  options: { uri?: string; encoding?: 'json' | 'form'; nowMs?: number } = {},
) {
  const webhook = aWebhook({ uri: options.uri ?? 'https://example.com/hook', httpVerb })
  const delivery = {
    ...aDelivery({ httpVerb, encoding: options.encoding ?? 'json' }),
    body,
    traceparent: undefined,
  }
  const secrets = { keys, headers: buildFixedHeaders(webhook, { 'X-Own': 'yes' }, 'hookswitch/1') }
  const built = buildRequest(delivery, webhook, secrets, 3, options.nowMs ?? NOW, 10_000)
  const { headers } = built
  const pairs = headers.flatMap((name, index) =>
    index % 2 === 0 ? [[name, headers[index + 1]!] as const] : [],
  )
  return {
    ...built,
    pairs,
    named: Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value])),
  }
}

describe('buildRequest', () => {
  it('has the headers of webhook, account, event and attempt', () => {
    const built = request('post', '{"a":1}')
    expect(built).toMatchObject({
      method: 'POST',
      url: 'https://example.com/hook',
      body: '{"a":1}',
      deadlineMs: 10_000,
    })
    expect(built.named).toMatchObject({
      'accept-encoding': 'identity',
      'x-hook-id': 'w1',
      'x-account-id': 'acc',
      'x-hook-event': 'channel_create',
      'x-hook-attempt': '3',
      'user-agent': 'hookswitch/1',
      'content-type': 'application/json',
      'webhook-id': 'd1',
      'webhook-timestamp': '1700000000',
      'x-own': 'yes',
    })
    expect(new Set(built.pairs.map(([name]) => name.toLowerCase())).size).toBe(built.pairs.length)
  })

  it.each(['post', 'put', 'patch'] as const)('%s sends the frozen body and signs it', (verb) => {
    for (const [encoding, type] of [
      ['json', 'application/json'],
      ['form', 'application/x-www-form-urlencoded'],
    ] as const) {
      const built = request(verb, 'a=b+c', { encoding })
      expect(built.method).toBe(verb.toUpperCase())
      expect(built.named['content-type']).toBe(type)
      expect(verify({ headers: built.named, body: 'a=b+c' }, current, { nowSeconds: NOW / 1000 }).ok).toBe(
        true,
      )
    }
  })

  it.each(['get', 'delete'] as const)(
    '%s sends the pairs in the query and no body, and signs an empty body',
    (verb) => {
      const built = request(verb, 'a=b+c', { encoding: 'form' })
      expect(built).toMatchObject({
        method: verb.toUpperCase(),
        url: 'https://example.com/hook?a=b+c',
        body: undefined,
      })
      expect(built.named).not.toHaveProperty('content-type')
      expect(verify({ headers: built.named, body: '' }, current, { nowSeconds: NOW / 1000 }).ok).toBe(true)
    },
  )

  it.each([
    ['https://example.com/', 'https://example.com/?a=1'],
    ['https://example.com/?', 'https://example.com/?a=1'],
    ['https://example.com/?x=y', 'https://example.com/?x=y&a=1'],
    ['https://example.com/?x=y&', 'https://example.com/?x=y&a=1'],
  ])('appends the pairs to the query of %s', (uri, url) => {
    expect(request('get', 'a=1', { uri }).url).toBe(url)
    expect(request('get', '', { uri }).url).toBe(uri)
  })

  it('signs with a rotated secret until it expires, and always with the current one', () => {
    const during = request('post', 'x')
    expect(during.named['webhook-signature']!.split(' ')).toHaveLength(2)
    expect(verify({ headers: during.named, body: 'x' }, old, { nowSeconds: NOW / 1000 }).ok).toBe(true)
    const after = request('post', 'x', { nowMs: NOW + 1 })
    expect(after.named['webhook-signature']!.split(' ')).toHaveLength(1)
    expect(verify({ headers: after.named, body: 'x' }, current, { nowSeconds: NOW / 1000 }).ok).toBe(true)
  })

  it('adds user-agent and accept only if the custom headers do not have them', () => {
    const headers = buildFixedHeaders(
      aWebhook(),
      { 'USER-AGENT': 'mine', accept: 'text/plain' },
      'hookswitch/1',
    )
    expect(headers.filter((text) => /^(user-agent|accept)$/i.test(text))).toEqual(['USER-AGENT', 'accept'])
  })
})
