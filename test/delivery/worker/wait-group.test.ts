import { manualClock } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { createWaitGroup, waitAtMost } from '../../../src/delivery/worker/wait-group.js'
import { createHarness } from '../harness.js'

it('a wait group waits until its count is 0, including work added meanwhile', async () => {
  const group = createWaitGroup()
  await group.wait()
  group.add(2)
  let ended = 0
  const all = [group.wait(), group.wait()].map((none) => none.then(() => ended++))
  group.add(-1)
  group.add(3)
  group.add(-3)
  await new Promise(setImmediate)
  expect([group.count, ended]).toEqual([1, 0])
  group.add(-1)
  await Promise.all(all)
  await group.wait()
})

it('waitAtMost waits no longer than its limit, and not at all for work that has settled', async () => {
  const clock = manualClock()
  await waitAtMost(1000, clock, Promise.resolve())
  await waitAtMost(1000, clock, Promise.reject(new Error('over')))
  let over = false
  const waiting = waitAtMost(1000, clock, new Promise(() => {})).then(() => {
    over = true
  })
  await clock.advance(999)
  expect(over).toBe(false)
  await clock.advance(1)
  await waiting
  expect(clock.sleepers().count).toBe(0)
})

it('a store that never answers a commit does not delay the close beyond its limit', async () => {
  const harness = await createHarness()
  const node = harness.node(
    {},
    { store: { ...harness.store.deliveries, commit: () => new Promise(() => {}) } },
  )
  await node.start()
  const published = harness.publish('a')
  published.catch(() => {})
  await harness.clock.settle()
  let closed = false
  const closing = node.close(5000).then(() => {
    closed = true
  })
  await harness.clock.advance(4999)
  expect(closed).toBe(false)
  // Two seconds more for the last writes.
  await harness.clock.advance(2001)
  await closing
  await expect(published).rejects.toMatchObject({ code: 'StoreUnavailable' })
})
