import { systemClock } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { together } from '../../src/delivery/together.js'

describe('work done together', () => {
  it('is all that came in one turn of the event loop, in its order', async () => {
    const done: (readonly number[])[] = []
    const add = together<number>(systemClock(), async (items) => void done.push(items))
    await Promise.all([add(1), Promise.resolve().then(() => add(2)), add(3)])
    await add(4)
    expect(done).toEqual([[1, 3, 2], [4]])
  })

  it('lets what comes while it is under way be the next', async () => {
    const done: (readonly number[])[] = []
    let second: Promise<void> | undefined
    const add = together<number>(systemClock(), async (items) => {
      second ??= add(2)
      done.push(items)
    })
    await add(1)
    await second
    expect(done).toEqual([[1], [2]])
  })

  it('fails for everybody whose item was in it, and only for them', async () => {
    let failing = true
    const add = together<number>(systemClock(), async () => {
      if (failing) throw new Error('out')
    })
    const results = await Promise.allSettled([add(1), add(2)])
    failing = false
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(add(3)).resolves.toBeUndefined()
  })
})
