/** The first event for a webhook that the queue of its node does not know yet. */
import { describe, expect, it } from 'vitest'
import type { Group, QueueStore } from '../../src/delivery/queue-store.js'
import { HookswitchError } from '../../src/errors.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { aWebhook } from './fixtures.js'
import { createHarness } from './harness.js'

expectNothingUnhandled()

/** A store that records its calls. `beforeCommit` runs before each group. */
function recording(store: QueueStore, beforeCommit: () => Promise<void> = async () => {}) {
  const calls: string[] = []
  const wrapped: QueueStore = {
    ...store,
    async commit(group: Group) {
      calls.push('commit')
      await beforeCommit()
      const result = await store.commit(group)
      calls.push(result.kind)
      return result
    },
    async webhookOf(id) {
      calls.push(`read ${id}`)
      return store.webhookOf(id)
    },
  }
  return { store: wrapped, calls }
}

describe('a webhook without deliveries', () => {
  it('is read while the group is committed that accepts its first event', async () => {
    const harness = await createHarness([aWebhook({}, { id: 'w1' }), aWebhook({}, { id: 'w2' })])
    const { store, calls } = recording(harness.faults.store)
    await harness.node({}, { store }).start()
    await harness.publish('call')
    await harness.clock.settle()
    expect(calls.slice(0, 4)).toEqual(['commit', 'read w1', 'read w2', 'committed'])
    expect(harness.sent()).toEqual(['call', 'call'])
    await harness.publish('another call')
    await harness.clock.settle()
    expect(calls.filter((call) => call.startsWith('read'))).toEqual(['read w1', 'read w2'])
  })

  it('is read again if it was changed before the group could be committed', async () => {
    const webhook = aWebhook({}, { id: 'w1' })
    const harness = await createHarness([webhook], true)
    let isChanged = false
    const { store, calls } = recording(harness.faults.store, async () => {
      if (isChanged) return
      isChanged = true
      const settings = { ...webhook.settings, uri: 'http://127.0.0.1/new' }
      await harness.store.webhooks.replace(
        { ...webhook, settings, revision: webhook.revision + 1 },
        webhook.revision,
      )
    })
    await harness.node({}, { store }).start()
    await harness.publish('call')
    await harness.clock.settle()
    expect(calls.slice(0, 6)).toEqual(['commit', 'read w1', 'outdated', 'commit', 'read w1', 'committed'])
    expect(harness.sender.requests.map(({ url }) => String(url))).toEqual(['http://127.0.0.1/new'])
  })

  it('is read again if that failed', async () => {
    const harness = await createHarness([aWebhook({}, { id: 'w1' })])
    let failures = 2
    const failing: QueueStore = {
      ...harness.faults.store,
      async webhookOf(id) {
        if (failures-- > 0) throw new HookswitchError('StoreUnavailable', 'no answer')
        return harness.faults.store.webhookOf(id)
      },
    }
    await harness.node({}, { store: failing }).start()
    await harness.publish('call')
    await harness.clock.advance(1_000)
    expect(harness.sent()).toEqual(['call'])
  })
})
