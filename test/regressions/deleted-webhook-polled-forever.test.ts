/**
 * A paused endpoint whose webhook was deleted and pruned before the pause ended was looked up in the store four times a
 * second, forever: the store did not mention it, so it never became idle.
 */
import { expect, it } from 'vitest'
import { deleteWebhook } from '../../src/webhooks/webhook.js'
import { createHarness, responseWith } from '../delivery/harness.js'

it('a deleted webhook leaves nothing for which its node calls the store', async () => {
  const harness = await createHarness()
  harness.sender.script = () => responseWith(503, ['retry-after', '3600'])
  let calls = 0
  const { store: deliveries } = harness.faults
  const store: typeof deliveries = {
    ...deliveries,
    commit(group) {
      calls++
      return deliveries.commit(group)
    },
    bodies(keys) {
      calls++
      return deliveries.bodies(keys)
    },
  }
  const node = harness.node({}, { store })
  await node.start()
  await harness.publish('call')
  await harness.clock.settle()
  const { webhooks } = harness.store
  const paused = (await webhooks.read('acc', 'w1'))!
  expect(paused.health?.pausedUntilMs).toBeGreaterThan(harness.clock.now())
  await webhooks.replace(deleteWebhook(paused, harness.clock.now()), paused.revision)
  await harness.clock.advance(1_000)
  expect(node.pending()).toBe(0)
  const before = calls
  await harness.clock.advance(2 * 3_600_000)
  expect(calls).toBe(before)
  expect(harness.sender.requests).toHaveLength(1)
  await node.close(0)
})
