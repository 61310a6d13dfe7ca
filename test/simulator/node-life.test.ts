import { expect, it } from 'vitest'
import { createNodeLife } from '../../src/simulator/node-life.js'
import { createRunQueue } from '../../src/simulator/run-queue.js'

it('a sleep advances the time, however short it is', async () => {
  const queue = createRunQueue()
  const { clock } = createNodeLife(queue, 0, { node: 1, generation: 1 }, { aheadMs: 0, drift: 1e-4 })
  const sleeps = async () => {
    await clock.sleep(171_742.48)
    const beforeMs = clock.monotonic()
    await clock.sleep(1e-12)
    return clock.monotonic() - beforeMs
  }
  const advancedMs = sleeps()
  await queue.run(() => false)
  expect(await advancedMs).toBeGreaterThanOrEqual(1e-12)
})
