import { describe, expect, it } from 'vitest'
import type { Settlement } from '../../../src/delivery/delivery-store.js'
import { createHealthCache } from '../../../src/delivery/worker/health-cache.js'
import { aWebhook } from '../fixtures.js'

const record = { id: 'r', attempt: 1 } as Settlement['record'] & object
function settlement(changes: Partial<Settlement> = {}): Settlement {
  return {
    owner: 'node',
    deliveryId: 'd1',
    webhookId: 'w1',
    expect: { state: 'in_flight', fence: 1 },
    next: { state: 'delivered', attempts: 1, tries: 1, interruptions: 0 },
    record,
    ...changes,
  }
}
describe('the health cache', () => {
  const withHealth = (failuresInRow: number | null, epoch = 1) =>
    settlement({ endpoint: { epoch, health: failuresInRow === null ? null : { failuresInRow } } })
  const webhook = aWebhook({}, { health: { failuresInRow: 3 } })

  it('returns the stored health until this node has decided one', () => {
    const cache = createHealthCache()
    expect(cache.get(webhook)).toEqual({ failuresInRow: 3 })
    cache.set(settlement())
    expect(cache.get(webhook)).toEqual({ failuresInRow: 3 })
    cache.set(withHealth(4))
    expect(cache.get(webhook)).toEqual({ failuresInRow: 4 })
    cache.set(withHealth(null))
    expect(cache.get(webhook)).toBeUndefined()
  })

  it('ignores the health of another epoch: a webhook that is enabled again starts clean', () => {
    const cache = createHealthCache()
    cache.set(withHealth(4))
    expect(cache.get(aWebhook({}, { epoch: 2 }))).toBeUndefined()
    expect(cache.withNewest(withHealth(1, 2))).toEqual(withHealth(1, 2))
  })

  it('updates settlements that were decided before, except those without a change of health', () => {
    const cache = createHealthCache()
    cache.set(withHealth(2))
    expect(cache.withNewest(withHealth(1))).toEqual(withHealth(2))
    expect(cache.withNewest(settlement())).toEqual(settlement())
    cache.set(withHealth(null))
    expect(cache.withNewest(withHealth(1))).toEqual(withHealth(null))
  })

  it('evicts an endpoint at the claim after its last request has ended, not before', () => {
    const cache = createHealthCache()
    cache.set(withHealth(4))
    cache.evictIdle()
    expect(cache.get(webhook)).toEqual({ failuresInRow: 4 })
    cache.markIdle('w1')
    cache.markBusy('w1')
    cache.evictIdle()
    expect(cache.get(webhook)).toEqual({ failuresInRow: 4 })
    cache.markIdle('w1')
    expect(cache.get(webhook)).toEqual({ failuresInRow: 4 })
    cache.evictIdle()
    expect(cache.get(webhook)).toEqual({ failuresInRow: 3 })
  })
})
