import { systemClock } from 'hookswitch'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createMicroBatcher } from '../../../src/delivery/worker/micro-batcher.js'

describe('the micro-batcher', () => {
  it('batches all items of one turn of the event loop in their order', async () => {
    const batches: (readonly number[])[] = []
    let notify = () => {}
    const nextBatch = () =>
      new Promise<void>((resolve) => {
        notify = resolve
      })
    const add = createMicroBatcher<number>(systemClock(), async (items) => {
      batches.push(items)
      notify()
    })
    const first = nextBatch()
    add(1)
    Promise.resolve().then(() => add(2))
    add(3)
    await first
    const second = nextBatch()
    add(4)
    await second
    expect(batches).toEqual([[1, 3, 2], [4]])
  })

  it('puts items that arrive during a batch into the next one', async () => {
    const clock = manualClock()
    const batches: (readonly number[])[] = []
    const add = createMicroBatcher<number>(clock, async (items) => {
      batches.push(items)
      if (items[0] === 1) add(2)
    })
    add(1)
    await clock.advance(0)
    await clock.advance(0)
    expect(batches).toEqual([[1], [2]])
  })
})
