import { describe, expect, it } from 'vitest'
import {
  changeSettings,
  deletedWebhook,
  disabledByService,
  newWebhook,
  rotateSecret,
  sealedOf,
  type Webhook,
} from '../../src/webhooks/webhook.js'
import { aWebhook } from '../delivery/fixtures.js'

const NOW = 1000
const full = (changes: Partial<Omit<Webhook, 'settings'>> = {}) =>
  aWebhook({}, { sealedHeaders: 'sealed', extra: { a: 1 }, health: { failuresInRow: 2 }, ...changes })
const change = (webhook: Webhook, settings: Partial<Webhook['settings']>) =>
  changeSettings(webhook, { ...sealedOf(webhook), settings: { ...webhook.settings, ...settings } }, NOW)

describe('a webhook', () => {
  it('begins with revision and epoch 1, enabled or disabled now', () => {
    const { settings } = aWebhook()
    const made = newWebhook({ id: 'w', accountId: 'a' }, { settings, extra: { x: 1 } }, { sealed: 's' }, NOW)
    expect(made).toEqual({
      ...{ id: 'w', accountId: 'a', settings, extra: { x: 1 }, secrets: [{ sealed: 's' }] },
      ...{ createdMs: NOW, modifiedMs: NOW, enabledMs: NOW, revision: 1, epoch: 1 },
    })
    const off = newWebhook(
      { id: 'w', accountId: 'a' },
      { settings: { ...settings, enabled: false } },
      { sealed: 's' },
      NOW,
    )
    expect(off).toMatchObject({ disabledMs: NOW })
    expect(off).not.toHaveProperty('enabledMs')
  })

  it('gets a new revision by every change, a new epoch only by being disabled', () => {
    const renamed = change(full(), { name: 'other' })
    expect(renamed).toMatchObject({ revision: 2, epoch: 1, modifiedMs: NOW, enabledMs: 1, createdMs: 1 })
    const disabled = change(renamed, { enabled: false })
    expect(disabled).toMatchObject({ revision: 3, epoch: 2, disabledMs: NOW })
    const still = change(disabled, { name: 'x' })
    expect(still).toMatchObject({ revision: 4, epoch: 2 })
    expect(change(still, { enabled: true })).toMatchObject({ revision: 5, epoch: 2, enabledMs: NOW })
  })

  it('keeps its health while it stays where it is, and starts clean elsewhere or when it is enabled', () => {
    expect(change(full(), { retries: 5 }).health).toEqual({ failuresInRow: 2 })
    expect(change(full(), { uri: 'https://new.example.com/' })).not.toHaveProperty('health')
    expect(change(change(full(), { enabled: false }), { enabled: true })).not.toHaveProperty('health')
  })

  it('drops what a replacement leaves out', () => {
    const replaced = changeSettings(full(), { settings: aWebhook().settings }, NOW)
    expect(replaced).not.toHaveProperty('sealedHeaders')
    expect(replaced).not.toHaveProperty('extra')
  })

  it('says why the service disabled it, until it is enabled', () => {
    const disabled = disabledByService(full(), { reason: 'gone', atMs: NOW })
    expect(disabled).toMatchObject({
      settings: { enabled: false },
      ...{
        disableReason: 'gone',
        disabledMs: NOW,
        revision: 2,
        epoch: 2,
        sealedHeaders: 'sealed',
        extra: { a: 1 },
      },
    })
    expect(change(disabled, { name: 'x' }).disableReason).toBe('gone')
    expect(change(disabled, { enabled: true })).not.toHaveProperty('disableReason')
    expect(change(full(), { enabled: false })).not.toHaveProperty('disableReason')
  })

  it('that is deleted has a new epoch and keeps the rest', () => {
    expect(deletedWebhook(full(), NOW)).toEqual({ ...full(), deletedMs: NOW, revision: 2, epoch: 2 })
  })

  it('signs with the secret that was rotated away until that ends', () => {
    const first = full({ secrets: [{ sealed: 'a' }] })
    const second = rotateSecret(first, { sealed: 'b' }, NOW, 100)
    expect(second).toMatchObject({ revision: 2, epoch: 1, modifiedMs: NOW })
    expect(second.secrets).toEqual([{ sealed: 'b' }, { sealed: 'a', expiresMs: NOW + 100 }])
    const third = rotateSecret(second, { sealed: 'c' }, NOW + 99, 100)
    expect(third.secrets.map(({ sealed }) => sealed)).toEqual(['c', 'b', 'a'])
    const later = rotateSecret(second, { sealed: 'c' }, NOW + 100, 100)
    expect(later.secrets.map(({ sealed }) => sealed)).toEqual(['c', 'b'])
  })

  it('has four secrets at most, however often they are rotated', () => {
    let webhook = full({ secrets: [{ sealed: '0' }] })
    for (let count = 1; count < 10; count++) webhook = rotateSecret(webhook, { sealed: `${count}` }, NOW, 100)
    expect(webhook.secrets.map(({ sealed }) => sealed)).toEqual(['9', '8', '7', '6'])
    expect(webhook.secrets[0]).not.toHaveProperty('expiresMs')
  })
})
