import { beforeEach, describe, expect, it } from 'vitest'
import { secretBox } from '../../src/values/seal.js'
import {
  createWebhook,
  patchWebhook,
  readSigningSecret,
  readWebhook,
  removeWebhook,
  rotateSigningSecret,
  SECRET_OVERLAP_MS,
} from '../../src/webhooks/manage.js'
import { secretKey } from '../../src/webhooks/signing-secret.js'
import { sealPurpose, viewOf, type WebhookView } from '../../src/webhooks/view.js'
import { A, codeOf, headers, type ManageWorld, manageWorld, settings } from './manage-world.js'

let world: ManageWorld
let webhook: WebhookView
beforeEach(async () => {
  world = await manageWorld()
  webhook = await createWebhook(world.doors, A, { settings: { ...settings, customRequestHeaders: headers } })
})

describe('the signing secret', () => {
  it('is one per webhook, can be read and rotated, and the old one signs along for a day', async () => {
    const other = await createWebhook(world.doors, A, { settings })
    const first = await readSigningSecret(world.doors, A, webhook.id)
    expect(secretKey(first)).toHaveLength(32)
    expect(await readSigningSecret(world.doors, A, other.id)).not.toBe(first)
    const second = await rotateSigningSecret(world.doors, A, webhook.id)
    expect(second).not.toBe(first)
    expect(await readSigningSecret(world.doors, A, webhook.id)).toBe(second)
    const row = (await world.stored.read(A, webhook.id))!
    expect(row.secrets.map(({ expiresMs }) => expiresMs)).toEqual([
      undefined,
      world.clock.now() + SECRET_OVERLAP_MS,
    ])
    expect(world.doors.box.open(row.secrets[1]!.sealed, sealPurpose.secret(webhook.id))).toBe(first)
    expect(world.doors.box.open(row.secrets[1]!.sealed, sealPurpose.secret(other.id))).toBeUndefined()
  })

  it('cannot be read, and headers are not shown, under another service secret; a patch keeps both', async () => {
    const box = secretBox(['another secret altogether'])
    const doors = { ...world.doors, box }
    expect(await codeOf(readSigningSecret(doors, A, webhook.id))).toBe('Internal')
    const row = (await world.stored.read(A, webhook.id))!
    expect(viewOf(row, box)).not.toHaveProperty('customRequestHeaders')
    await patchWebhook(doors, A, webhook.id, { settings: { name: 'other' } })
    expect(await readWebhook(world.doors, A, webhook.id)).toMatchObject({
      name: 'other',
      customRequestHeaders: headers,
    })
  })

  it('is, like a header, never written in clear', async () => {
    const secrets = [
      await readSigningSecret(world.doors, A, webhook.id),
      await rotateSigningSecret(world.doors, A, webhook.id),
    ]
    await patchWebhook(world.doors, A, webhook.id, { settings: { name: 'x' } })
    await removeWebhook(world.doors, A, webhook.id)
    const text = JSON.stringify(world.written)
    expect(world.written.length).toBe(4)
    for (const clear of [...secrets, ...secrets.map((secret) => secret.slice(6)), headers.Authorization]) {
      expect(text).not.toContain(clear)
    }
  })
})
