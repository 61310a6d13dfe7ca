import { describe, expect, it } from 'vitest'
import type { QueuedDelivery } from '../../src/delivery/queue/queued-delivery.js'
import { createStartKeys } from '../../src/delivery/start-keys.js'

const deliveries = (count: number) =>
  Array.from({ length: count }, () => ({ startKey: 0 }) as unknown as QueuedDelivery)

describe('the keys of starts', () => {
  it('grow, and are finished when the last attempt of their group has ended, once', () => {
    const keys = createStartKeys()
    const [first, second] = [deliveries(2), deliveries(1)]
    expect([keys.add(first), keys.add(second)]).toEqual([1, 2])
    keys.end(first[0]!)
    expect(keys.takeFinished()).toEqual([])
    keys.end(first[0]!)
    expect(keys.takeFinished()).toEqual([])
    keys.end(second[0]!)
    keys.end(first[1]!)
    expect(keys.takeFinished()).toEqual([2, 1])
    expect(keys.takeFinished()).toEqual([])
  })

  it('of an earlier lease are forgotten, also by deliveries that end later', () => {
    const keys = createStartKeys()
    const old = deliveries(2)
    keys.add(old)
    keys.end(old[0]!)
    keys.clear()
    const current = deliveries(1)
    expect(keys.add(current)).toBe(2)
    keys.end(old[1]!)
    expect(keys.takeFinished()).toEqual([])
    keys.end(current[0]!)
    expect(keys.takeFinished()).toEqual([2])
  })

  it('take a delivery that is started again into the new group', () => {
    const keys = createStartKeys()
    const [delivery] = deliveries(1)
    keys.add([delivery!])
    keys.end(delivery!)
    keys.add([delivery!])
    expect(keys.takeFinished()).toEqual([1])
    keys.end(delivery!)
    expect(keys.takeFinished()).toEqual([2])
  })
})
