import { describe, expect, it } from 'vitest'
import { type FaultInjector, simulate } from '../../src/simulator/index.js'

const OPTIONS = { minutes: 5, nodes: 3, faults: 'all' } as const

/** A sender that shortens deadlines at random, without the seed. */
const unseeded: FaultInjector = {
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

  it('gives the same run whether its trace is kept or not', async () => {
    const [without, kept] = [await simulate(7, OPTIONS), await simulate(7, { ...OPTIONS, keepsTrace: true })]
    expect(kept.hash).toBe(without.hash)
    expect(without.stepsOf()).toEqual([])
    expect(kept.stepsOf().length).toBeGreaterThan(1000)
  })

  it('gives another run than another seed', async () => {
    const [first, second] = [await simulate(1, OPTIONS), await simulate(2, OPTIONS)]
    expect(second.hash).not.toBe(first.hash)
  })

  it('gives other runs when a dependency draws without the seed', async () => {
    const runs = await Promise.all(
      [1, 2].map(() => simulate('same', { ...OPTIONS, faultInjector: unseeded })),
    )
    expect(runs[0]!.hash).not.toBe(runs[1]!.hash)
  })
})
