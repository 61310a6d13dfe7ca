import { describe, expect, it } from 'vitest'
import { createSecretCipher } from '../../src/values/encryption.js'
import { SETTINGS_DEFAULTS } from '../../src/webhooks/settings.js'
import { decryptHeaders, encryptionPurpose, viewOf } from '../../src/webhooks/view.js'
import type { Webhook } from '../../src/webhooks/webhook.js'

const CURRENT = 'the current service secret'
const cipher = createSecretCipher([CURRENT])
const headers = { Authorization: 'Bearer mine', 'X-Plain': 'b' }
const seal = (id: string, secret = CURRENT) =>
  createSecretCipher([secret]).encrypt(
    JSON.stringify(headers),
    encryptionPurpose.headers(id),
    new Uint8Array(12).fill(7),
  )

const settings = { name: 'n', uri: 'https://example.com/', hook: 'all', ...SETTINGS_DEFAULTS }
const webhook: Webhook = {
  id: 'w',
  accountId: 'acc',
  settings,
  secrets: [{ sealed: 'v1.sealed-signing-secret' }, { sealed: 'v1.sealed-older-secret', expiresMs: 9 }],
  createdMs: 1,
  modifiedMs: 2,
  revision: 3,
  epoch: 4,
}

/** What every view of `webhook` shows. */
const shown = {
  id: 'w',
  accountId: 'acc',
  ...settings,
  createdMs: 1,
  modifiedMs: 2,
  revision: 3,
  effectiveMaxAgeSeconds: 86_400,
  health: { state: 'ok', failuresInRow: 0 },
}

describe('encryptionPurpose', () => {
  it('differs between fields and between webhooks', () => {
    const purposes = ['a', 'b'].flatMap((id) => [encryptionPurpose.headers(id), encryptionPurpose.secret(id)])
    expect(new Set(purposes).size).toBe(4)
  })

  it('keeps its text, which stored ciphertexts depend on', () => {
    expect(encryptionPurpose.headers('w')).toBe('webhook-headers:w')
    expect(encryptionPurpose.secret('w')).toBe('webhook-secret:w')
  })
})

describe('decryptHeaders', () => {
  it('returns the headers, also under an older service secret', () => {
    const sealed = { ...webhook, sealedHeaders: seal('w') }
    expect(decryptHeaders(sealed, cipher)).toEqual(headers)
    expect(decryptHeaders(sealed, createSecretCipher(['a newer service secret', CURRENT]))).toEqual(headers)
  })

  it.each<[string, Webhook]>([
    ['without headers', webhook],
    ['encrypted under an unknown secret', { ...webhook, sealedHeaders: seal('w', 'some foreign secret') }],
    ['copied from another webhook', { ...webhook, sealedHeaders: seal('other') }],
    ['with a corrupt ciphertext', { ...webhook, sealedHeaders: `${seal('w').slice(0, -4)}AAAA` }],
    ['with text that is no ciphertext', { ...webhook, sealedHeaders: JSON.stringify(headers) }],
    [
      'with the ciphertext of a signing secret',
      {
        ...webhook,
        sealedHeaders: cipher.encrypt(
          JSON.stringify(headers),
          encryptionPurpose.secret('w'),
          new Uint8Array(12),
        ),
      },
    ],
  ])('returns undefined for a webhook %s', (_, row) => {
    expect(decryptHeaders(row, cipher)).toBeUndefined()
  })
})

describe('the view of a webhook', () => {
  it('shows its settings and service fields, and no field that is absent', () => {
    expect(viewOf(webhook, cipher, 86_400, 0)).toStrictEqual(shown)
  })

  it('shows every optional field that is present', () => {
    const row: Webhook = {
      ...webhook,
      settings: { ...settings, group: 'g', customData: { a: 'b' }, maxAgeSeconds: 60, rateLimit: 0.5 },
      sealedHeaders: seal('w'),
      extra: { unknown: [1] },
      disableReason: 'too many failures',
      enabledMs: 5,
      disabledMs: 6,
    }
    expect(viewOf(row, cipher, 86_400, 0)).toStrictEqual({
      ...shown,
      group: 'g',
      customData: { a: 'b' },
      maxAgeSeconds: 60,
      rateLimit: 0.5,
      effectiveMaxAgeSeconds: 60,
      customRequestHeaders: headers,
      extra: { unknown: [1] },
      disableReason: 'too many failures',
      enabledMs: 5,
      disabledMs: 6,
    })
  })

  it('shows times of zero and an empty reason', () => {
    const row = { ...webhook, enabledMs: 0, disabledMs: 0, disableReason: '' }
    expect(viewOf(row, cipher, 86_400, 0)).toStrictEqual({
      ...shown,
      enabledMs: 0,
      disabledMs: 0,
      disableReason: '',
    })
  })

  it('shows that it was deleted, but not when', () => {
    for (const deletedMs of [0, 7]) {
      expect(viewOf({ ...webhook, deletedMs }, cipher, 86_400, 0)).toStrictEqual({ ...shown, deleted: true })
    }
  })

  it('omits headers that no service secret decrypts, and their ciphertext', () => {
    const row = { ...webhook, sealedHeaders: seal('w', 'some foreign secret') }
    expect(viewOf(row, cipher, 86_400, 0)).toStrictEqual(shown)
  })

  it('shows no ciphertext, signing secret or epoch', () => {
    const row: Webhook = {
      ...webhook,
      sealedHeaders: seal('w'),
      health: {
        failuresInRow: 12,
        pause: { kind: 'unavailable', probes: 1234, sinceMs: 1234 },
        exhausted: 1234,
      },
    }
    const view = viewOf(row, cipher, 86_400, 0)
    for (const hidden of ['secrets', 'sealedHeaders', 'epoch', 'deletedMs', 'settings']) {
      expect(view).not.toHaveProperty(hidden)
    }
    expect(JSON.stringify(view)).not.toMatch(/sealed|v1\.|1234/)
  })

  it('leaves the row unchanged', () => {
    const row: Webhook = { ...webhook, settings: { ...settings }, sealedHeaders: seal('w') }
    const before = structuredClone(row)
    viewOf(Object.freeze({ ...row, settings: Object.freeze(row.settings) }), cipher, 86_400, 0)
    viewOf(row, cipher, 86_400, 0)
    expect(row).toStrictEqual(before)
  })
})
