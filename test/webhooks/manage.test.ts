import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_EXTRA_BYTES } from '../../src/webhooks/encrypt-settings.js'
import type { Health } from '../../src/webhooks/health.js'
import {
  createWebhook,
  listWebhooks,
  pageWebhooks,
  patchWebhook,
  readSigningSecret,
  readWebhook,
  reenableWebhooks,
  removeWebhook,
  replaceWebhook,
  resumeWebhook,
  rotateSigningSecret,
} from '../../src/webhooks/manage.js'
import type { UncheckedWebhook, WebhookView } from '../../src/webhooks/view.js'
import { disableWebhook } from '../../src/webhooks/webhook.js'
import type { WebhookStore } from '../../src/webhooks/webhook-store.js'
import { busyClock } from '../support/busy-clock.js'
import { A, codeOf, createWebhookHarness, headers, settings, type WebhookHarness } from './harness.js'

let harness: WebhookHarness
let webhook: WebhookView
beforeEach(async () => {
  harness = await createWebhookHarness()
  webhook = await createWebhook(harness.deps, A, {
    settings: { ...settings, customRequestHeaders: headers },
    extra: { tag: 1 },
  })
})

const patch = (changes: object, extra?: object, options?: { revision?: number }) =>
  patchWebhook(
    harness.deps,
    A,
    webhook.id,
    { settings: { ...changes }, ...(extra && { extra: { ...extra } }) },
    options,
  )
const read = () => readWebhook(harness.deps, A, webhook.id)

describe('creating a webhook', () => {
  it('returns it with its defaults and headers, without its secret', async () => {
    expect(webhook).toEqual({
      ...{
        id: webhook.id,
        accountId: A,
        ...settings,
        httpVerb: 'post',
        retries: 5,
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
        effectiveMaxAgeSeconds: 86_400,
        health: { state: 'ok', failuresInRow: 0 },
        createdMs: harness.clock.now(),
        modifiedMs: harness.clock.now(),
        enabledMs: harness.clock.now(),
      },
      revision: 1,
    })
    expect(await read()).toEqual(webhook)
  })

  it('rejects invalid settings and invalid unknown keys', async () => {
    const make = (input: UncheckedWebhook) => codeOf(createWebhook(harness.deps, A, input))
    expect(await make({ settings: {} })).toBe('InvalidInput')
    expect(await make({ settings, extra: { big: 'x'.repeat(MAX_EXTRA_BYTES) } })).toBe('InvalidInput')
    expect(await make({ settings, extra: { odd: Number.NaN } })).toBe('InvalidInput')
    expect(await listWebhooks(harness.deps, A)).toHaveLength(1)
  })

  it('does not make it visible to other accounts', async () => {
    expect(await listWebhooks(harness.deps, 'other')).toEqual([])
    for (const attempt of [
      readWebhook(harness.deps, 'other', webhook.id),
      removeWebhook(harness.deps, 'other', webhook.id),
      patchWebhook(harness.deps, 'other', webhook.id, { settings: {} }),
      replaceWebhook(harness.deps, 'other', webhook.id, { settings }),
      readSigningSecret(harness.deps, 'other', webhook.id),
      rotateSigningSecret(harness.deps, 'other', webhook.id),
    ]) {
      expect(await codeOf(attempt)).toBe('NotFound')
    }
  })
})

describe('changing a webhook', () => {
  it('by a replacement resets omitted settings to their defaults', async () => {
    await patch({ enabled: false, retries: 7, group: 'g' })
    const replaced = await replaceWebhook(harness.deps, A, webhook.id, { settings })
    expect(replaced).toMatchObject({ enabled: true, retries: 5, revision: 3 })
    for (const key of ['group', 'customRequestHeaders', 'extra']) expect(replaced).not.toHaveProperty(key)
  })

  it('merges a patch at every depth, removes members with null, and validates the result', async () => {
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

  it('applies all of several concurrent patches', async () => {
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

  it('rejects a change for another revision', async () => {
    await patch({ name: 'other' }, undefined, { revision: 1 })
    expect(await codeOf(patch({ name: 'late' }, undefined, { revision: 1 }))).toBe('RevisionConflict')
    expect(await codeOf(replaceWebhook(harness.deps, A, webhook.id, { settings }, { revision: 1 }))).toBe(
      'RevisionConflict',
    )
    expect(await codeOf(removeWebhook(harness.deps, A, webhook.id, { revision: 1 }))).toBe('RevisionConflict')
    const both = await Promise.all(
      [1, 2].map((retries) => codeOf(patch({ retries }, undefined, { revision: 2 }))),
    )
    expect(both.sort()).toEqual(['RevisionConflict', 'no error'])
  })

  it('by deletion returns it marked as deleted and hides it afterwards', async () => {
    const { revision: _, ...was } = webhook
    expect(await removeWebhook(harness.deps, A, webhook.id)).toMatchObject({ ...was, deleted: true })
    expect(await codeOf(read())).toBe('NotFound')
    expect(await codeOf(removeWebhook(harness.deps, A, webhook.id))).toBe('NotFound')
    expect(await listWebhooks(harness.deps, A)).toEqual([])
  })
})

it('many webhooks are listed, paged and enabled in parts, between which other work runs', async () => {
  for (let n = 0; n < 200; n++) {
    const { id } = await createWebhook(harness.deps, A, { settings })
    const row = (await harness.stored.read(A, id))!
    await harness.stored.replace(disableWebhook(row, { reason: 'gone', atMs: 5 }), row.revision)
  }
  const yieldsOf = async (work: (deps: WebhookHarness['deps']) => Promise<unknown>) => {
    const clock = busyClock()
    await work({ ...harness.deps, clock })
    return clock.yields
  }
  expect(await yieldsOf((deps) => listWebhooks(deps, A))).toBe(3)
  expect(await yieldsOf((deps) => pageWebhooks(deps, A, { ascending: true, limit: 500 }))).toBe(3)
  expect(await yieldsOf((deps) => reenableWebhooks(deps, [A]))).toBe(200)
})

describe('reenableWebhooks', () => {
  async function disable(id: string): Promise<void> {
    const row = (await harness.stored.read(A, id))!
    await harness.stored.replace(disableWebhook(row, { reason: 'gone', atMs: 5 }), row.revision)
  }

  it('enables webhooks that the service disabled, but not those that their owner disabled', async () => {
    const own = await createWebhook(harness.deps, A, { settings: { ...settings, enabled: false } })
    await disable(webhook.id)
    expect(await read()).toMatchObject({ enabled: false, disableReason: 'gone', disabledMs: 5 })
    expect(await reenableWebhooks(harness.deps, [A, 'other'])).toBe(1)
    const enabled = await read()
    expect(enabled).toMatchObject({ enabled: true, customRequestHeaders: headers })
    expect(enabled).not.toHaveProperty('disableReason')
    expect(await readWebhook(harness.deps, A, own.id)).toMatchObject({ enabled: false })
    expect(await reenableWebhooks(harness.deps, [A])).toBe(0)
  })

  it('writes nothing when one of them is enabled concurrently', async () => {
    await disable(webhook.id)
    let writes = Number.NaN
    const list: WebhookStore['list'] = async (accountIds) => {
      const found = await harness.stored.list(accountIds)
      await patch({ enabled: true })
      writes = harness.written.length
      return found
    }
    const deps = { ...harness.deps, webhooks: { ...harness.deps.webhooks, list } }
    expect(await reenableWebhooks(deps, [A])).toBe(0)
    expect(harness.written).toHaveLength(writes)
  })

  it('continues when one of them is deleted concurrently', async () => {
    const second = await createWebhook(harness.deps, A, { settings: { ...settings, name: 'z' } })
    await disable(webhook.id)
    await disable(second.id)
    const list: WebhookStore['list'] = async (accountIds) => {
      const found = await harness.stored.list(accountIds)
      await removeWebhook(harness.deps, A, webhook.id)
      return found
    }
    const deps = { ...harness.deps, webhooks: { ...harness.deps.webhooks, list } }
    expect(await reenableWebhooks(deps, [A])).toBe(1)
    expect(await readWebhook(harness.deps, A, second.id)).toMatchObject({ enabled: true })
  })
})

describe('resuming a webhook', () => {
  const pause = { kind: 'unavailable', probes: 2, sinceMs: 1 } as const
  const resume = async (health: Health) => {
    const { deps, stored } = harness
    const row = (await stored.read(A, webhook.id))!
    await stored.insert({ ...row, id: 'ill', health })
    const { revision } = await resumeWebhook(deps, A, 'ill')
    return { isResumed: revision > row.revision, health: (await stored.read(A, 'ill'))!.health }
  }

  it.each<[string, (now: number) => Health]>([
    ['is paused', (now) => ({ failuresInRow: 3, pause, pausedUntilMs: now + 5000 })],
    [
      'is paused and has a probe under way',
      (now) => ({ failuresInRow: 3, pause, pausedUntilMs: now - 5000 }),
    ],
    ['waits as its receiver asked', (now) => ({ failuresInRow: 3, pausedUntilMs: now + 5000 })],
  ])('ends the pause of one that %s', async (_, healthAt) => {
    expect(await resume(healthAt(harness.clock.now()))).toEqual({
      isResumed: true,
      health: { failuresInRow: 3 },
    })
  })

  it('changes nothing of one that is not paused', async () => {
    const failing = { failuresInRow: 3, pausedUntilMs: harness.clock.now() }
    expect(await resume(failing)).toEqual({ isResumed: false, health: failing })
  })
})
