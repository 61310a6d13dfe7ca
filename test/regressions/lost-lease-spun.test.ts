/** A node that had lost its lease set its timer to a time in the past, again and again: the process hung. */
import { expect, it } from 'vitest'
import { createNodeClock } from '../../src/delivery/node-clock.js'
import { aWebhook } from '../delivery/fixtures.js'
import { createHarness, silentLog } from '../delivery/harness.js'

it('a node without a lease sets no timer', async () => {
  const failing = aWebhook({}, { health: { failuresInRow: 1, failingSinceMs: 0, exhausted: 0 } })
  const harness = await createHarness([failing], true)
  harness.sender.script = () => undefined
  const { store } = harness.faults
  let isFenced = false
  let sleeps = 0
  const machine = {
    ...harness.clock,
    async sleep(ms: number, signal?: AbortSignal) {
      sleeps++
      if (sleeps > 1000) return new Promise<void>(() => {})
      return harness.clock.sleep(ms, signal)
    },
  }
  const node = harness.node(
    { caps: { perEndpoint: 100 } },
    {
      clock: createNodeClock(machine, silentLog),
      store: {
        ...store,
        async commit(group) {
          if (!group.lease || !group.starting) return store.commit(group)
          isFenced = true
          return { kind: 'fenced' }
        },
      },
    },
  )
  await node.start()
  harness.faults.failing.add('renew')
  // The starts of silent endpoints are paced: more of them than may start at once leave a time for the next.
  for (let call = 0; call < 30; call++) void harness.publish(`call-${call}`)
  await harness.clock.advance(5000)
  expect(isFenced).toBe(true)
  expect(sleeps).toBeLessThan(100)
  const closing = node.close(0)
  await harness.clock.settle()
  await closing
})
