import { systemClock } from 'hookswitch'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { together } from '../../src/delivery/together.js'

describe('work done together', () => {
  it('is all that came in one turn of the event loop, in its order', async () => {
    const done: (readonly number[])[] = []
    let tell = () => {}
    const worked = () =>
      new Promise<void>((resolve) => {
        tell = resolve
      })
    const add = together<number>(systemClock(), async (items) => {
      done.push(items)
      tell()
    })
    const first = worked()
    add(1)
    Promise.resolve().then(() => add(2))
    add(3)
    await first
    const second = worked()
    add(4)
    await second
    expect(done).toEqual([[1, 3, 2], [4]])
  })

  it('lets what comes while it is under way be the next', async () => {
    const clock = manualClock()
    const done: (readonly number[])[] = []
    const add = together<number>(clock, async (items) => {
      done.push(items)
      if (items[0] === 1) add(2)
    })
    add(1)
    await clock.advance(0)
    await clock.advance(0)
    expect(done).toEqual([[1], [2]])
  })
})
