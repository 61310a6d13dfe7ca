/** Health that is decided, and whose group is being committed when the shards are loaded again. */
import { expect, it } from 'vitest'
import type { QueueStore } from '../../src/delivery/queue-store.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { aWebhook } from './fixtures.js'
import { createHarness, responseWith } from './harness.js'

expectNothingUnhandled()

it('counts a failure that is committed while the shards are loaded again', async () => {
  const harness = await createHarness([aWebhook({ retries: 0 }, { id: 'w1' })], true)
  const { store } = harness.faults
  let mustReload = false
  const wrapped: QueueStore = {
    ...store,
    async changes(...input) {
      const found = await store.changes(...input)
      return found && { ...found, mustReload: found.mustReload || mustReload }
    },
    async commit(group) {
      if (!mustReload || group.ended.length === 0) return store.commit(group)
      const answer = await store.commit({ ...group, version: group.version - 1 })
      expect(answer).toEqual({ kind: 'outdated' })
      return answer
    },
  }
  let loads = 0
  const load: QueueStore['load'] = async (...input) => {
    loads += 1
    mustReload = false
    return store.load(...input)
  }
  const node = harness.node({}, { store: { ...wrapped, load } })
  await node.start()
  const failures = async () => (await harness.store.webhooks.read('acc', 'w1'))?.health?.failuresInRow ?? 0
  harness.sender.script = () => responseWith(500)
  await harness.publish('first')
  await harness.clock.settle()
  expect([await failures(), loads]).toEqual([1, 1])
  mustReload = true
  await harness.publish('second')
  await harness.clock.settle()
  expect([await failures(), loads]).toEqual([2, 2])
  await harness.publish('third')
  await harness.clock.settle()
  expect(await failures()).toBe(3)
  await node.close(0)
})
