import { describe, expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld, headerOf, type NodeOptions } from './world.js'

const NO_BREAKER = { breaker: null, autoDisable: null }

/** Two accounts, of which `acc` has a webhook more; every request waits until the test answers it. */
async function crowded(options: NodeOptions) {
  const world = await deliveryWorld([
    aWebhook({ uri: 'https://big.example/' }, { id: 'big' }),
    aWebhook({ uri: 'https://other.example/' }, { id: 'other' }),
    aWebhook({ uri: 'https://small.example/' }, { id: 'small', accountId: 'sub' }),
  ])
  const node = world.node(options)
  const groups = () => world.sender.requests.map(({ group }) => group)
  return {
    ...world,
    node,
    groups,
    /** Starts the node; each receiver answers once, for those that have may have every place, and then no more. */
    async start() {
      await node.start()
      await world.publish('warm-up', { accountId: 'sub' })
      await world.publish('warm-up')
      await world.clock.settle()
      world.sender.requests.length = 0
      world.sender.script = () => undefined
    },
    /** Answers the oldest, one after the other. */
    async answer(count: number) {
      for (let n = 0; n < count; n++) {
        world.sender.open[0]!.answer(answered(200))
        await world.clock.settle()
      }
    },
  }
}

describe('an account with ten due deliveries beside one with ten thousand', () => {
  it('has every second place until it has none left', async () => {
    const caps = { inAll: 8, perEndpoint: 8 }
    const { sender, publish, node, groups, answer, clock } = await crowded({ caps })
    sender.script = () => undefined
    for (let call = 0; call < 5000; call++) await publish(`big-${call}`)
    for (let call = 0; call < 10; call++) await publish(`small-${call}`, { accountId: 'sub' })
    await node.start()
    await clock.settle()
    expect(groups().filter((group) => group === 'small')).toHaveLength(groups().length / 2)
    await answer(40)
    const last = groups().lastIndexOf('small')
    expect(groups().filter((group) => group === 'small')).toHaveLength(10)
    // Every second of the first twenty, but for the few in flight before.
    expect(last).toBeLessThan(20 + 8)
    await node.close(0)
  })

  it('has them also when it comes late, and the other has taken every place', async () => {
    const caps = { inAll: 8, perEndpoint: 8 }
    const { publish, start, node, groups, answer, clock } = await crowded({ caps })
    await start()
    for (let call = 0; call < 5000; call++) await publish(`big-${call}`)
    await clock.settle()
    expect(groups()).toHaveLength(8)
    for (let call = 0; call < 10; call++) await publish(`small-${call}`, { accountId: 'sub' })
    await answer(40)
    const places = groups().flatMap((group, index) => (group === 'small' ? [index] : []))
    expect(places).toHaveLength(10)
    expect(places[0]).toBeLessThan(8 + 2)
    expect(places.at(-1)).toBeLessThan(8 + 20 + 2)
    await node.close(0)
  })

  it('shares no further within the other account: its webhooks take turns', async () => {
    const { publish, start, node, groups, answer, clock } = await crowded({
      caps: { inAll: 6, perEndpoint: 6 },
    })
    await start()
    for (let call = 0; call < 300; call++) await publish(`big-${call}`)
    await clock.settle()
    await answer(200)
    const [big, other] = ['big', 'other'].map((id) => groups().filter((group) => group === id).length)
    expect(Math.abs(big! - other!)).toBeLessThanOrEqual(6)
    await node.close(0)
  })
})

describe('first attempts beside retries that never end', () => {
  /** An endpoint that fails, with so many deliveries that each free place has a retry waiting for it. */
  async function failing(perEndpoint: number) {
    const world = await deliveryWorld([aWebhook({ retries: 10, ordering: 'none' })])
    world.sender.script = () => undefined
    const policy = constant(1, { jitter: 0 })
    const node = world.node({ caps: { perEndpoint }, policy, healthRules: NO_BREAKER })
    await node.start()
    for (let call = 0; call < 60; call++) await world.publish(`old-${call}`)
    const attemptOf = (index: number) => Number(headerOf(world.sender.requests[index]!, 'x-hook-attempt'))
    /** Fails everything in flight at once; the attempt numbers of what then takes the places. */
    const round = async () => {
      const before = world.sender.requests.length
      for (const { answer } of [...world.sender.open]) answer(answered(500))
      await world.clock.settle()
      await world.clock.advance(1)
      return world.sender.requests.slice(before).map((_, index) => attemptOf(before + index))
    }
    await world.clock.settle()
    const everTried = async () => (await world.deliveries()).every(({ attempts }) => attempts > 0)
    while (!(await everTried())) await round()
    return { ...world, node, round }
  }

  it.each([1, 2, 4, 5, 10])('have half of %i places, an odd one by turns', async (perEndpoint) => {
    const { round, publish, node, clock } = await failing(perEndpoint)
    for (let call = 0; call < 60; call++) await publish(`new-${call}`)
    await clock.settle()
    for (let left = 60; left > 0; ) {
      const attempts = [await round(), await round()]
      for (const { length } of attempts) expect(length).toBe(perEndpoint)
      const got = attempts.flat().filter((attempt) => attempt === 1).length
      // Of two rounds the retries have their half too, as long as first attempts are left for the other.
      if (left >= 2 * perEndpoint) expect(got).toBe(perEndpoint)
      else expect(got).toBeGreaterThanOrEqual(Math.min(left, perEndpoint))
      left -= got
    }
    await node.close(0)
  })
})
