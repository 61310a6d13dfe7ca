import { describe, expect, it } from 'vitest'
import { createWebhookCache } from '../../../adapters/storage/postgres/claim-webhook-cache.js'

const MIB = 1024 * 1024
/** A document of about 1 MiB; the cache holds 16 MiB. */
const large = (id: string) => JSON.stringify({ id, name: 'x'.repeat(MIB) })

describe('the webhook cache of claims', () => {
  it('returns the same object until the revision or the health changes', () => {
    const cache = createWebhookCache()
    const row = { webhookId: 'a', revision: 3, doc: '{"id":"a"}', health: null }
    expect(cache.revisionOf('a')).toBe(0)
    const webhook = cache.webhookOf(row)
    expect(cache.revisionOf('a')).toBe(3)
    expect(cache.webhookOf({ ...row, doc: null })).toBe(webhook)
    const failing = cache.webhookOf({ ...row, doc: null, health: '{"failures":2}' })
    expect(failing).toEqual({ id: 'a', health: { failures: 2 } })
  })

  it('evicts the oldest entries above its total length, and only when it is called to', () => {
    const cache = createWebhookCache()
    const ids = Array.from({ length: 18 }, (_, index) => `webhook-${index}`)
    for (const webhookId of ids) {
      cache.webhookOf({ webhookId, revision: 1, doc: large(webhookId), health: null })
    }
    expect(ids.map(cache.revisionOf)).toEqual(ids.map(() => 1))
    cache.evict()
    expect(ids.filter((id) => cache.revisionOf(id) === 0)).toEqual(ids.slice(0, 3))
  })

  it('counts a webhook once, however often it is read again', () => {
    const cache = createWebhookCache()
    for (let revision = 1; revision <= 20; revision += 1) {
      cache.webhookOf({ webhookId: 'a', revision, doc: large('a'), health: null })
    }
    cache.evict()
    expect(cache.revisionOf('a')).toBe(20)
  })
})
