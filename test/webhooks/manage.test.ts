import { beforeEach, describe, expect, it } from 'vitest'
import {
  createWebhook,
  listWebhooks,
  patchWebhook,
  readSigningSecret,
  readWebhook,
  reenableWebhooks,
  removeWebhook,
  replaceWebhook,
  rotateSigningSecret,
} from '../../src/webhooks/manage.js'
import { MAX_EXTRA_BYTES } from '../../src/webhooks/sealing.js'
import type { WebhookInput, WebhookView } from '../../src/webhooks/view.js'
import { disabledByService } from '../../src/webhooks/webhook.js'
import type { WebhookStore } from '../../src/webhooks/webhook-store.js'
import { A, codeOf, headers, type ManageWorld, manageWorld, settings } from './manage-world.js'

let world: ManageWorld
let webhook: WebhookView
beforeEach(async () => {
  world = await manageWorld()
  webhook = await createWebhook(world.doors, A, {
    settings: { ...settings, customRequestHeaders: headers },
    extra: { tag: 1 },
  })
})

const patch = (changes: object, extra?: object, options?: { revision?: number }) =>
  patchWebhook(
    world.doors,
    A,
    webhook.id,
    { settings: { ...changes }, ...(extra && { extra: { ...extra } }) },
    options,
  )
const read = () => readWebhook(world.doors, A, webhook.id)

describe('making a webhook', () => {
  it('shows it with its defaults, its headers and no secret', async () => {
    expect(webhook).toEqual({
      ...{
        id: webhook.id,
        accountId: A,
        ...settings,
        httpVerb: 'post',
        retries: 2,
        format: 'json',
        enabled: true,
      },
      ...{
        includeSubaccounts: false,
        includeInternalLegs: true,
        ordering: 'call',
        customRequestHeaders: headers,
      },
      ...{
        extra: { tag: 1 },
        createdMs: world.clock.now(),
        modifiedMs: world.clock.now(),
        enabledMs: world.clock.now(),
      },
      revision: 1,
    })
    expect(await read()).toEqual(webhook)
  })

  it('refuses what breaks a rule, also in what is not ours', async () => {
    const make = (input: WebhookInput) => codeOf(createWebhook(world.doors, A, input))
    expect(await make({ settings: {} })).toBe('InvalidInput')
    expect(await make({ settings, extra: { big: 'x'.repeat(MAX_EXTRA_BYTES) } })).toBe('InvalidInput')
    expect(await make({ settings, extra: { odd: Number.NaN } })).toBe('InvalidInput')
    expect(await listWebhooks(world.doors, A)).toHaveLength(1)
  })

  it('is invisible to other accounts', async () => {
    expect(await listWebhooks(world.doors, 'other')).toEqual([])
    for (const attempt of [
      readWebhook(world.doors, 'other', webhook.id),
      removeWebhook(world.doors, 'other', webhook.id),
      patchWebhook(world.doors, 'other', webhook.id, { settings: {} }),
      replaceWebhook(world.doors, 'other', webhook.id, { settings }),
      readSigningSecret(world.doors, 'other', webhook.id),
      rotateSigningSecret(world.doors, 'other', webhook.id),
    ]) {
      expect(await codeOf(attempt)).toBe('NotFound')
    }
  })
})

describe('changing a webhook', () => {
  it('replaces everything: what is left out has its default again', async () => {
    await patch({ enabled: false, retries: 7, group: 'g' })
    const replaced = await replaceWebhook(world.doors, A, webhook.id, { settings })
    expect(replaced).toMatchObject({ enabled: true, retries: 2, revision: 3 })
    for (const key of ['group', 'customRequestHeaders', 'extra']) expect(replaced).not.toHaveProperty(key)
  })

  it('merges a patch at every depth, null removes, and the whole is checked', async () => {
    await patch({ customData: { a: '1', b: '2' } }, { tag: { deep: 1, gone: 2 } })
    const patched = await patch({ customData: { b: null, c: '3' } }, { tag: { gone: null } })
    expect(patched).toMatchObject({
      customData: { a: '1', c: '3' },
      extra: { tag: { deep: 1 } },
      customRequestHeaders: headers,
    })
    expect(await codeOf(patch({ name: null }))).toBe('InvalidInput')
    expect(await codeOf(patch({ retries: 99 }))).toBe('InvalidInput')
    expect(await patch({ customRequestHeaders: null }, { tag: null })).not.toHaveProperty(
      'customRequestHeaders',
    )
    expect(await read()).not.toHaveProperty('extra')
  })

  it('keeps both of two patches that come at once', async () => {
    await Promise.all([
      patch({ retries: 9 }),
      patch({ group: 'g' }),
      patch({ name: 'other' }),
      patch({}, { more: 1 }),
    ])
    expect(await read()).toMatchObject({
      retries: 9,
      group: 'g',
      name: 'other',
      extra: { tag: 1, more: 1 },
      revision: 5,
    })
  })

  it('refuses a change that was made for another revision', async () => {
    await patch({ name: 'other' }, undefined, { revision: 1 })
    expect(await codeOf(patch({ name: 'late' }, undefined, { revision: 1 }))).toBe('RevisionConflict')
    expect(await codeOf(replaceWebhook(world.doors, A, webhook.id, { settings }, { revision: 1 }))).toBe(
      'RevisionConflict',
    )
    expect(await codeOf(removeWebhook(world.doors, A, webhook.id, { revision: 1 }))).toBe('RevisionConflict')
    const both = await Promise.all(
      [1, 2].map((retries) => codeOf(patch({ retries }, undefined, { revision: 2 }))),
    )
    expect(both.sort()).toEqual(['RevisionConflict', 'no error'])
  })

  it('deletes softly: shown as it was, then gone', async () => {
    const { revision: _, ...was } = webhook
    expect(await removeWebhook(world.doors, A, webhook.id)).toMatchObject({ ...was, deleted: true })
    expect(await codeOf(read())).toBe('NotFound')
    expect(await codeOf(removeWebhook(world.doors, A, webhook.id))).toBe('NotFound')
    expect(await listWebhooks(world.doors, A)).toEqual([])
  })
})

describe('enabling again', () => {
  async function disable(id: string): Promise<void> {
    const row = (await world.stored.read(A, id))!
    await world.stored.replace(disabledByService(row, { reason: 'gone', atMs: 5 }), row.revision)
  }

  it('enables what the service disabled, and leaves what its owner did', async () => {
    const own = await createWebhook(world.doors, A, { settings: { ...settings, enabled: false } })
    await disable(webhook.id)
    expect(await read()).toMatchObject({ enabled: false, disableReason: 'gone', disabledMs: 5 })
    expect(await reenableWebhooks(world.doors, [A, 'other'])).toBe(1)
    const enabled = await read()
    expect(enabled).toMatchObject({ enabled: true, customRequestHeaders: headers })
    expect(enabled).not.toHaveProperty('disableReason')
    expect(await readWebhook(world.doors, A, own.id)).toMatchObject({ enabled: false })
    expect(await reenableWebhooks(world.doors, [A])).toBe(0)
  })

  it('goes on when one of them is deleted meanwhile', async () => {
    const second = await createWebhook(world.doors, A, { settings: { ...settings, name: 'z' } })
    await disable(webhook.id)
    await disable(second.id)
    const list: WebhookStore['list'] = async (accountIds) => {
      const found = await world.stored.list(accountIds)
      await removeWebhook(world.doors, A, webhook.id)
      return found
    }
    const doors = { ...world.doors, webhooks: { ...world.doors.webhooks, list } }
    expect(await reenableWebhooks(doors, [A])).toBe(1)
    expect(await readWebhook(world.doors, A, second.id)).toMatchObject({ enabled: true })
  })
})
