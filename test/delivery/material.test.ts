import { describe, expect, it } from 'vitest'
import { materialCache } from '../../src/delivery/material.js'
import { secretBox } from '../../src/values/seal.js'
import { secretKey, secretText } from '../../src/webhooks/signing-secret.js'
import { sealPurpose } from '../../src/webhooks/view.js'
import type { Webhook } from '../../src/webhooks/webhook.js'
import { aWebhook } from './fixtures.js'

const box = secretBox(['the secret of the service'])
const nonce = new Uint8Array(12)
const [one, two] = [1, 2].map((byte) => secretText(new Uint8Array(32).fill(byte))) as [string, string]
const sealed = (text: string, id = 'w1') => box.seal(text, sealPurpose.secret(id), nonce)
const sealedHeaders = box.seal('{"X-Own":"yes"}', sealPurpose.headers('w1'), nonce)

describe('what a webhook is sent with', () => {
  it('is its keys, with their ends, and its headers, opened', () => {
    const secrets = [{ sealed: sealed(one) }, { sealed: sealed(two), expiresMs: 9 }]
    const material = materialCache(box, 'agent')(aWebhook({}, { secrets, sealedHeaders }))
    expect(material.keys).toEqual([{ key: secretKey(one) }, { key: secretKey(two), expiresMs: 9 }])
    expect(material.headers.join(' ')).toContain('X-Own yes')
    expect(material.headers).toContain('agent')
  })

  it('is opened once for a row and its copies', () => {
    const cache = materialCache(box, 'agent')
    const webhook = aWebhook({}, { secrets: [{ sealed: sealed(one), expiresMs: 9 }], sealedHeaders })
    expect(cache(webhook)).toBe(cache(webhook))
    expect(cache(structuredClone(webhook))).toBe(cache(webhook))
    expect(cache({ ...webhook, revision: 7, epoch: 3 })).toBe(cache(webhook))
  })

  it('is opened once for a row, however many others were opened since', () => {
    const cache = materialCache(box, 'agent')
    const webhook = aWebhook({}, { secrets: [{ sealed: sealed(one) }] })
    const material = cache(webhook)
    for (let count = 0; count <= 10_000; count += 1) cache(aWebhook({}, { id: `w-${count}`, secrets: [] }))
    expect(cache(webhook)).toBe(material)
    expect(cache(structuredClone(webhook))).not.toBe(material)
  })

  it.each<readonly [string, Partial<Webhook>]>([
    ['another secret', { secrets: [{ sealed: sealed(two) }] }],
    ['one secret more', { secrets: [{ sealed: sealed(one) }, { sealed: sealed(two) }] }],
    ['no secret', { secrets: [] }],
    ['an end of its secret', { secrets: [{ sealed: sealed(one), expiresMs: 9 }] }],
    ['other headers', { sealedHeaders: box.seal('{"X-Own":"no"}', sealPurpose.headers('w1'), nonce) }],
    ['another account', { accountId: 'a2' }],
  ])('is opened anew for a row with %s', (_, change) => {
    const cache = materialCache(box, 'agent')
    const webhook = aWebhook({}, { secrets: [{ sealed: sealed(one) }], sealedHeaders })
    const before = cache(webhook)
    const after = cache({ ...webhook, ...change })
    expect(after).not.toBe(before)
    expect(after).toEqual(materialCache(box, 'agent')({ ...webhook, ...change }))
  })

  it('leaves out what was sealed for another webhook', () => {
    const webhook = aWebhook({}, { secrets: [{ sealed: sealed(one, 'w2') }], sealedHeaders })
    expect(materialCache(box, 'agent')(webhook).keys).toEqual([])
  })
})
