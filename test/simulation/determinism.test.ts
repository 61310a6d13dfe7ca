import { describe, expect, it } from 'vitest'
import { type Doctor, simulate } from '../../src/testkit/world/index.js'

const OPTIONS = { minutes: 5, nodes: 3, faults: 'all' } as const

/** A sender that cuts deadlines by a chance of its own. */
const unseeded: Doctor = {
  sender: (sender) => ({
    ...sender,
    send: (request) => sender.send(Math.random() < 0.5 ? request : { ...request, deadlineMs: 3 }),
  }),
}

describe('a seed', () => {
  it('gives the same run twice in one process', async () => {
    const [first, second] = [await simulate('same', OPTIONS), await simulate('same', OPTIONS)]
    expect(second.hash).toBe(first.hash)
    expect(second.counts).toEqual(first.counts)
    expect([...second.coverage]).toEqual([...first.coverage])
  })

  it('gives the same run whether its story is kept or not', async () => {
    const [silent, told] = [await simulate(7, OPTIONS), await simulate(7, { ...OPTIONS, keepsStory: true })]
    expect(told.hash).toBe(silent.hash)
    expect(silent.story()).toEqual([])
    expect(told.story().length).toBeGreaterThan(1000)
  })

  it('gives another run than the next one', async () => {
    const [one, two] = [await simulate(1, OPTIONS), await simulate(2, OPTIONS)]
    expect(two.hash).not.toBe(one.hash)
  })

  it('is told from one that a door draws by itself', async () => {
    const runs = await Promise.all([1, 2].map(() => simulate('same', { ...OPTIONS, doctor: unseeded })))
    expect(runs[0]!.hash).not.toBe(runs[1]!.hash)
  })
})
