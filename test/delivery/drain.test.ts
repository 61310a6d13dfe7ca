import { manualClock } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { createTally, waitAtMost } from '../../src/delivery/drain.js'
import { deliveryWorld } from './world.js'

it('waits for all that runs, what began meanwhile too', async () => {
  const tally = createTally()
  await tally.none()
  tally.add(2)
  let ended = 0
  const all = [tally.none(), tally.none()].map((none) => none.then(() => ended++))
  tally.add(-1)
  tally.add(3)
  tally.add(-3)
  await new Promise(setImmediate)
  expect([tally.count, ended]).toEqual([1, 0])
  tally.add(-1)
  await Promise.all(all)
  await tally.none()
})

it('waits no longer than it may, and not at all for what has ended or failed', async () => {
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

it('a store that never answers a claim does not hold the close beyond its time', async () => {
  const world = await deliveryWorld()
  const node = world.node({}, { store: { ...world.store.deliveries, claim: () => new Promise(() => {}) } })
  await node.start()
  await world.publish('a')
  await world.clock.settle()
  let closed = false
  const closing = node.close(5000).then(() => {
    closed = true
  })
  await world.clock.advance(4999)
  expect(closed).toBe(false)
  await world.clock.advance(1)
  await closing
})
