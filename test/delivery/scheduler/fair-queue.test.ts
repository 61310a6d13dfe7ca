import { describe, expect, it } from 'vitest'
import { constant } from '../../../src/delivery/policy.js'
import { aWebhook } from '../fixtures.js'
import { createHarness, headerOf, type NodeOptions, responseWith } from '../harness.js'

const NO_PAUSES = { pauses: false, autoDisable: null }

/**
 * Two accounts, `acc` with two webhooks and `sub` with one; every request waits until the test answers it.
 */
async function createCrowdedHarness(options: NodeOptions) {
  const harness = await createHarness([
    aWebhook({ uri: 'https://big.example/' }, { id: 'big' }),
    aWebhook({ uri: 'https://other.example/' }, { id: 'other' }),
    aWebhook({ uri: 'https://small.example/' }, { id: 'small', accountId: 'sub' }),
  ])
  const node = harness.node(options)
  const groups = () => harness.sender.requests.map(({ group }) => group)
  return {
    ...harness,
    node,
    groups,
    /** Starts the node. Each receiver answers once, so that it may use every slot, and then no more. */
    async start() {
      await node.start()
      await harness.publish('warm-up', { accountId: 'sub' })
      await harness.publish('warm-up')
      await harness.clock.settle()
      harness.sender.requests.length = 0
      harness.sender.script = () => undefined
    },
    /** Answers the oldest requests, one after the other. */
    async answer(count: number) {
      for (let n = 0; n < count; n++) {
        harness.sender.open[0]!.answer(responseWith(200))
        await harness.clock.settle()
      }
    },
  }
}

describe('an account with ten due deliveries beside one with ten thousand', () => {
  it('gets every second slot until it has none left', async () => {
    const caps = { total: 8, perEndpoint: 8 }
    const { sender, publish, node, groups, answer, clock } = await createCrowdedHarness({ caps })
    sender.script = () => undefined
    for (let call = 0; call < 5000; call++) await publish(`big-${call}`)
    for (let call = 0; call < 10; call++) await publish(`small-${call}`, { accountId: 'sub' })
    await node.start()
    await clock.settle()
    expect(groups().filter((group) => group === 'small')).toHaveLength(groups().length / 2)
    await answer(40)
    const last = groups().lastIndexOf('small')
    expect(groups().filter((group) => group === 'small')).toHaveLength(10)
    // Every second of the first twenty, after those that were in flight before.
    expect(last).toBeLessThan(20 + 8)
    await node.close(0)
  })

  it('gets them also when it comes later and the other has taken every slot', async () => {
    const caps = { total: 8, perEndpoint: 8 }
    const { publish, start, node, groups, answer, clock } = await createCrowdedHarness({ caps })
    await start()
    for (let call = 0; call < 5000; call++) await publish(`big-${call}`)
    await clock.settle()
    expect(groups()).toHaveLength(8)
    for (let call = 0; call < 10; call++) await publish(`small-${call}`, { accountId: 'sub' })
    await answer(40)
    const positions = groups().flatMap((group, index) => (group === 'small' ? [index] : []))
    expect(positions).toHaveLength(10)
    expect(positions[0]).toBeLessThan(8 + 2)
    expect(positions.at(-1)).toBeLessThan(8 + 20 + 2)
    await node.close(0)
  })

  it('does not affect the round robin among the webhooks of the other account', async () => {
    const { publish, start, node, groups, answer, clock } = await createCrowdedHarness({
      caps: { total: 6, perEndpoint: 6 },
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
  /** An endpoint that fails, with so many deliveries that a retry waits for every free slot. */
  async function createFailingEndpoint(perEndpoint: number) {
    const harness = await createHarness([aWebhook({ retries: 10, ordering: 'none' })])
    harness.sender.script = () => undefined
    const policy = constant(1, { jitter: 0 })
    const node = harness.node({ caps: { perEndpoint }, policy, healthRules: NO_PAUSES })
    await node.start()
    for (let call = 0; call < 60; call++) await harness.publish(`old-${call}`)
    const attemptOf = (index: number) => Number(headerOf(harness.sender.requests[index]!, 'x-hook-attempt'))
    /** Fails everything in flight; returns the attempt numbers of the requests that take the slots. */
    const round = async () => {
      const before = harness.sender.requests.length
      for (const { answer } of [...harness.sender.open]) answer(responseWith(500))
      await harness.clock.settle()
      await harness.clock.advance(1)
      return harness.sender.requests.slice(before).map((_, index) => attemptOf(before + index))
    }
    await harness.clock.settle()
    const everTried = async () => (await harness.deliveries()).every(({ attempts }) => attempts > 0)
    while (!(await everTried())) await round()
    return { ...harness, node, round }
  }

  it.each([1, 2, 4, 5, 10])('get half of %i slots, an odd one alternately', async (perEndpoint) => {
    const { round, publish, node, clock } = await createFailingEndpoint(perEndpoint)
    for (let call = 0; call < 60; call++) await publish(`new-${call}`)
    await clock.settle()
    for (let left = 60; left > 0; ) {
      const attempts = [await round(), await round()]
      for (const { length } of attempts) expect(length).toBe(perEndpoint)
      const got = attempts.flat().filter((attempt) => attempt === 1).length
      // Over two rounds each kind gets half, as long as first attempts are left for it.
      if (left >= 2 * perEndpoint) expect(got).toBe(perEndpoint)
      else expect(got).toBeGreaterThanOrEqual(Math.min(left, perEndpoint))
      left -= got
    }
    await node.close(0)
  })
})
