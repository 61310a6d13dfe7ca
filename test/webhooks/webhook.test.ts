import { describe, expect, it } from 'vitest'
import {
  changeSettings,
  deleteWebhook,
  disableWebhook,
  encryptedSettingsOf,
  healthAfterChange,
  newWebhook,
  rotateSecret,
  type Webhook,
} from '../../src/webhooks/webhook.js'
import { aWebhook } from '../delivery/fixtures.js'

const NOW = 1000
const full = (changes: Partial<Omit<Webhook, 'settings'>> = {}) =>
  aWebhook({}, { sealedHeaders: 'sealed', extra: { a: 1 }, health: { failuresInRow: 2 }, ...changes })
const change = (webhook: Webhook, settings: Partial<Webhook['settings']>) =>
  changeSettings(
    webhook,
    { ...encryptedSettingsOf(webhook), settings: { ...webhook.settings, ...settings } },
    NOW,
  )

describe('a webhook', () => {
  it('starts with revision and epoch 1, enabled or disabled now', () => {
    const { settings } = aWebhook()
    const created = newWebhook(
      { id: 'w', accountId: 'a' },
      { settings, extra: { x: 1 } },
      { sealed: 's' },
      NOW,
    )
    expect(created).toEqual({
      ...{ id: 'w', accountId: 'a', settings, extra: { x: 1 }, secrets: [{ sealed: 's' }] },
      ...{ createdMs: NOW, modifiedMs: NOW, enabledMs: NOW, revision: 1, epoch: 1 },
    })
    const disabled = newWebhook(
      { id: 'w', accountId: 'a' },
      { settings: { ...settings, enabled: false } },
      { sealed: 's' },
      NOW,
    )
    expect(disabled).toMatchObject({ disabledMs: NOW })
    expect(disabled).not.toHaveProperty('enabledMs')
  })

  it('gets a new revision with every change, but a new epoch only when it is disabled', () => {
    const renamed = change(full(), { name: 'other' })
    expect(renamed).toMatchObject({ revision: 2, epoch: 1, modifiedMs: NOW, enabledMs: 1, createdMs: 1 })
    const disabled = change(renamed, { enabled: false })
    expect(disabled).toMatchObject({ revision: 3, epoch: 2, disabledMs: NOW })
    const still = change(disabled, { name: 'x' })
    expect(still).toMatchObject({ revision: 4, epoch: 2 })
    expect(change(still, { enabled: true })).toMatchObject({ revision: 5, epoch: 2, enabledMs: NOW })
  })

  it('ends its pause when its secret or its headers change: its receiver may have rejected the former ones', () => {
    const health = {
      failuresInRow: 3,
      failingSinceMs: 1,
      pause: { kind: 'rejected', probes: 2, sinceMs: 5 },
      pausedUntilMs: 9,
    } as const
    const paused = full({ health })
    const ended = { failuresInRow: 3, failingSinceMs: 1 }
    expect(healthAfterChange(paused, { ...paused, revision: 2 })).toEqual(health)
    expect(healthAfterChange(paused, { ...paused, sealedHeaders: 'others' })).toEqual(ended)
    expect(healthAfterChange(paused, rotateSecret(paused, { sealed: 'new' }, NOW, 0))).toEqual(ended)
  })

  it('keeps its health until its URI changes or it is enabled', () => {
    expect(change(full(), { retries: 5 }).health).toEqual({ failuresInRow: 2 })
    expect(change(full(), { uri: 'https://new.example.com/' })).not.toHaveProperty('health')
    expect(change(change(full(), { enabled: false }), { enabled: true })).not.toHaveProperty('health')
  })

  it('loses headers and unknown keys that a replacement omits', () => {
    const replaced = changeSettings(full(), { settings: aWebhook().settings }, NOW)
    expect(replaced).not.toHaveProperty('sealedHeaders')
    expect(replaced).not.toHaveProperty('extra')
  })

  it('keeps the reason why the service disabled it until it is enabled', () => {
    const disabled = disableWebhook(full(), { reason: 'gone', atMs: NOW })
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

  it('that is deleted gets a new epoch and is otherwise unchanged', () => {
    expect(deleteWebhook(full(), NOW)).toEqual({ ...full(), deletedMs: NOW, revision: 2, epoch: 2 })
  })

  it('signs with a rotated-out secret until it expires', () => {
    const first = full({ secrets: [{ sealed: 'a' }] })
    const second = rotateSecret(first, { sealed: 'b' }, NOW, 100)
    expect(second).toMatchObject({ revision: 2, epoch: 1, modifiedMs: NOW })
    expect(second.secrets).toEqual([{ sealed: 'b' }, { sealed: 'a', expiresMs: NOW + 100 }])
    const third = rotateSecret(second, { sealed: 'c' }, NOW + 99, 100)
    expect(third.secrets.map(({ sealed }) => sealed)).toEqual(['c', 'b', 'a'])
    const later = rotateSecret(second, { sealed: 'c' }, NOW + 100, 100)
    expect(later.secrets.map(({ sealed }) => sealed)).toEqual(['c', 'b'])
  })

  it('has at most four secrets, however often they are rotated', () => {
    let webhook = full({ secrets: [{ sealed: '0' }] })
    for (let count = 1; count < 10; count++) webhook = rotateSecret(webhook, { sealed: `${count}` }, NOW, 100)
    expect(webhook.secrets.map(({ sealed }) => sealed)).toEqual(['9', '8', '7', '6'])
    expect(webhook.secrets[0]).not.toHaveProperty('expiresMs')
  })
})
