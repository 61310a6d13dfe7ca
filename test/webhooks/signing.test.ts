import { beforeEach, describe, expect, it } from 'vitest'
import { createSecretCipher } from '../../src/values/encryption.js'
import {
  createWebhook,
  patchWebhook,
  readSigningSecret,
  readWebhook,
  removeWebhook,
  rotateSigningSecret,
  SECRET_OVERLAP_MS,
} from '../../src/webhooks/manage.js'
import { parseSigningSecret } from '../../src/webhooks/signing-secret.js'
import { encryptionPurpose, viewOf, type WebhookView } from '../../src/webhooks/view.js'
import { A, codeOf, createWebhookHarness, headers, settings, type WebhookHarness } from './harness.js'

let harness: WebhookHarness
let webhook: WebhookView
beforeEach(async () => {
  harness = await createWebhookHarness()
  webhook = await createWebhook(harness.deps, A, { settings: { ...settings, customRequestHeaders: headers } })
})

describe('the signing secret', () => {
  it('is unique per webhook, can be read and rotated, and keeps signing for a day after a rotation', async () => {
    const other = await createWebhook(harness.deps, A, { settings })
    const first = await readSigningSecret(harness.deps, A, webhook.id)
    expect(parseSigningSecret(first)).toHaveLength(32)
    expect(await readSigningSecret(harness.deps, A, other.id)).not.toBe(first)
    const second = await rotateSigningSecret(harness.deps, A, webhook.id)
    expect(second).not.toBe(first)
    expect(await readSigningSecret(harness.deps, A, webhook.id)).toBe(second)
    const row = (await harness.stored.read(A, webhook.id))!
    expect(row.secrets.map(({ expiresMs }) => expiresMs)).toEqual([
      undefined,
      harness.clock.now() + SECRET_OVERLAP_MS,
    ])
    expect(harness.deps.cipher.decrypt(row.secrets[1]!.sealed, encryptionPurpose.secret(webhook.id))).toBe(
      first,
    )
    expect(
      harness.deps.cipher.decrypt(row.secrets[1]!.sealed, encryptionPurpose.secret(other.id)),
    ).toBeUndefined()
  })

  it('keeps signing for a day by the time of day, also where that of the store is ahead', async () => {
    const deps = { ...harness.deps, storeNow: () => harness.clock.now() + 2 * SECRET_OVERLAP_MS }
    await rotateSigningSecret(deps, A, webhook.id)
    const { secrets } = (await harness.stored.read(A, webhook.id))!
    expect(secrets[1]!.expiresMs).toBe(harness.clock.now() + SECRET_OVERLAP_MS)
  })

  it('cannot be read, and headers are not shown, with another service secret; a patch keeps both', async () => {
    const cipher = createSecretCipher(['another secret altogether'])
    const deps = { ...harness.deps, cipher }
    expect(await codeOf(readSigningSecret(deps, A, webhook.id))).toBe('Internal')
    const row = (await harness.stored.read(A, webhook.id))!
    expect(viewOf(row, cipher, 86_400, 0)).not.toHaveProperty('customRequestHeaders')
    await patchWebhook(deps, A, webhook.id, { settings: { name: 'other' } })
    expect(await readWebhook(harness.deps, A, webhook.id)).toMatchObject({
      name: 'other',
      customRequestHeaders: headers,
    })
  })

  it('is never written in clear, nor is a header', async () => {
    const secrets = [
      await readSigningSecret(harness.deps, A, webhook.id),
      await rotateSigningSecret(harness.deps, A, webhook.id),
    ]
    await patchWebhook(harness.deps, A, webhook.id, { settings: { name: 'x' } })
    await removeWebhook(harness.deps, A, webhook.id)
    const text = JSON.stringify(harness.written)
    expect(harness.written.length).toBe(4)
    for (const clear of [...secrets, ...secrets.map((secret) => secret.slice(6)), headers.Authorization]) {
      expect(text).not.toContain(clear)
    }
  })
})
