import { manualClock } from 'hookswitch/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.js'
import { aWebhook } from '../delivery/fixtures.js'
import { answered, deliveryWorld } from '../delivery/world.js'

const MANY = 15

describe('Node warns of no leak', () => {
  let warnings: Error[] = []
  const note = (warning: Error) => {
    if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning)
  }
  beforeEach(() => {
    warnings = []
    process.on('warning', note)
  })
  afterEach(() => void process.off('warning', note))

  it.each([systemClock(), manualClock()])('when many sleep with one signal', async (clock) => {
    const ending = new AbortController()
    const asleep = Array.from({ length: MANY }, () => clock.sleep(60_000, ending.signal))
    ending.abort()
    await Promise.all(asleep)
    await new Promise(setImmediate)
    expect(warnings).toEqual([])
  })

  it('while many outcomes wait for a store that is out', async () => {
    const ids = Array.from({ length: MANY }, (_, index) => `w${index}`)
    const world = await deliveryWorld(ids.map((id) => aWebhook({}, { id })))
    world.sender.script = () => undefined
    const node = world.node()
    await node.start()
    await world.publish('a')
    await world.clock.settle()
    expect(world.sender.open).toHaveLength(MANY)
    world.faults.out.add('settle')
    // One after the other, or one writing would have them all.
    for (const { answer } of [...world.sender.open]) {
      answer(answered(200))
      await world.clock.settle()
    }
    expect(warnings).toEqual([])
    world.faults.out.clear()
    await world.clock.advance(5000)
    for (const id of ids) expect(await world.deliveries(id)).toMatchObject([{ state: 'delivered' }])
    await node.close(0)
  })
})
