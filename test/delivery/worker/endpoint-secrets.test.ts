import { describe, expect, it } from 'vitest'
import { createEndpointSecretsCache } from '../../../src/delivery/worker/endpoint-secrets.js'
import { createSecretCipher } from '../../../src/values/encryption.js'
import { formatSigningSecret, parseSigningSecret } from '../../../src/webhooks/signing-secret.js'
import { encryptionPurpose } from '../../../src/webhooks/view.js'
import type { Webhook } from '../../../src/webhooks/webhook.js'
import { aWebhook } from '../fixtures.js'

const box = createSecretCipher(['the secret of the service'])
const nonce = new Uint8Array(12)
const [first, second] = [1, 2].map((byte) => formatSigningSecret(new Uint8Array(32).fill(byte))) as [
  string,
  string,
]
const keyOf = (secret: string) => parseSigningSecret(secret)!
const sealed = (text: string, id = 'w1') => box.encrypt(text, encryptionPurpose.secret(id), nonce)
const sealedHeaders = box.encrypt('{"X-Own":"yes"}', encryptionPurpose.headers('w1'), nonce)

describe('the endpoint secrets cache', () => {
  it('decrypts the keys with their expiry and the headers', () => {
    const encrypted = [{ sealed: sealed(first) }, { sealed: sealed(second), expiresMs: 9 }]
    const secrets = createEndpointSecretsCache(
      box,
      'agent',
    )(aWebhook({}, { secrets: encrypted, sealedHeaders }))
    expect(secrets.keys).toEqual([{ key: keyOf(first) }, { key: keyOf(second), expiresMs: 9 }])
    expect(secrets.headers.join(' ')).toContain('X-Own yes')
    expect(secrets.headers).toContain('agent')
  })

  it('decrypts once for a row and its copies', () => {
    const cache = createEndpointSecretsCache(box, 'agent')
    const webhook = aWebhook({}, { secrets: [{ sealed: sealed(first), expiresMs: 9 }], sealedHeaders })
    expect(cache(webhook)).toBe(cache(webhook))
    expect(cache(structuredClone(webhook))).toBe(cache(webhook))
    expect(cache({ ...webhook, revision: 7, epoch: 3 })).toBe(cache(webhook))
  })

  it('decrypts once for a row object, whatever the number of other webhooks since', () => {
    const cache = createEndpointSecretsCache(box, 'agent')
    const webhook = aWebhook({}, { secrets: [{ sealed: sealed(first) }] })
    const secrets = cache(webhook)
    for (let count = 0; count <= 10_000; count += 1) cache(aWebhook({}, { id: `w-${count}`, secrets: [] }))
    expect(cache(webhook)).toBe(secrets)
    expect(cache(structuredClone(webhook))).not.toBe(secrets)
  })

  it.each<readonly [string, Partial<Webhook>]>([
    ['another secret', { secrets: [{ sealed: sealed(second) }] }],
    ['an additional secret', { secrets: [{ sealed: sealed(first) }, { sealed: sealed(second) }] }],
    ['no secret', { secrets: [] }],
    ['an expiry of its secret', { secrets: [{ sealed: sealed(first), expiresMs: 9 }] }],
    [
      'other headers',
      { sealedHeaders: box.encrypt('{"X-Own":"no"}', encryptionPurpose.headers('w1'), nonce) },
    ],
    ['another account', { accountId: 'a2' }],
  ])('decrypts again for a row with %s', (_, change) => {
    const cache = createEndpointSecretsCache(box, 'agent')
    const webhook = aWebhook({}, { secrets: [{ sealed: sealed(first) }], sealedHeaders })
    const before = cache(webhook)
    const after = cache({ ...webhook, ...change })
    expect(after).not.toBe(before)
    expect(after).toEqual(createEndpointSecretsCache(box, 'agent')({ ...webhook, ...change }))
  })

  it('leaves out a secret that was encrypted for another webhook', () => {
    const webhook = aWebhook({}, { secrets: [{ sealed: sealed(first, 'w2') }], sealedHeaders })
    expect(createEndpointSecretsCache(box, 'agent')(webhook).keys).toEqual([])
  })
})
