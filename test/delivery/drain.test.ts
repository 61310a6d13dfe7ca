import { manualClock } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { allEnded, waitAtMost } from '../../src/delivery/drain.js'
import { deliveryWorld } from './world.js'

it('waits for all that runs, what began meanwhile too', async () => {
  const running = new Set<Promise<void>>()
  const ends: (() => void)[] = []
  const begin = () => {
    const work = new Promise<void>((resolve) => ends.push(resolve)).then(() => void running.delete(work))
    running.add(work)
  }
  begin()
  let ended = false
  const all = allEnded(running).then(() => {
    ended = true
  })
  begin()
  ends[0]!()
  await new Promise(setImmediate)
  expect(ended).toBe(false)
  ends[1]!()
  await all
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
