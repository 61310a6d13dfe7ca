import { describe, expect, it } from 'vitest'
import { webhookMemory } from '../../../adapters/storage/postgres/claim-webhooks.js'

const MIB = 1024 * 1024
/** A document of about a MiB, of which 16 are kept. */
const large = (id: string) => JSON.stringify({ id, name: 'x'.repeat(MIB) })

describe('webhooks that claims have read', () => {
  it('are the same object until their revision or their health changes', () => {
    const memory = webhookMemory()
    const row = { webhookId: 'a', revision: 3, doc: '{"id":"a"}', health: null }
    expect(memory.revisionOf('a')).toBe(0)
    const webhook = memory.webhookOf(row)
    expect(memory.revisionOf('a')).toBe(3)
    expect(memory.webhookOf({ ...row, doc: null })).toBe(webhook)
    const failing = memory.webhookOf({ ...row, doc: null, health: '{"failures":2}' })
    expect(failing).toEqual({ id: 'a', health: { failures: 2 } })
  })

  it('are forgotten by the length of all, those read longest ago first, and not while a claim is read', () => {
    const memory = webhookMemory()
    const ids = Array.from({ length: 18 }, (_, index) => `webhook-${index}`)
    for (const webhookId of ids) {
      memory.webhookOf({ webhookId, revision: 1, doc: large(webhookId), health: null })
    }
    expect(ids.map(memory.revisionOf)).toEqual(ids.map(() => 1))
    memory.trim()
    expect(ids.filter((id) => memory.revisionOf(id) === 0)).toEqual(ids.slice(0, 3))
  })

  it('count once, however often they are read anew', () => {
    const memory = webhookMemory()
    for (let revision = 1; revision <= 20; revision += 1) {
      memory.webhookOf({ webhookId: 'a', revision, doc: large('a'), health: null })
    }
    memory.trim()
    expect(memory.revisionOf('a')).toBe(20)
  })
})
