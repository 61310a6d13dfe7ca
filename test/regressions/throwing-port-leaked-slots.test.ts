/**
 * Ports of the host that threw at the wrong moment (random, retry rules, a sender's `cancel` or `releaseIdle`, a listener)
 * leaked a slot, caused an unhandled rejection, or lost the outcomes of other deliveries that ended in the same turn.
 */
import { describe, expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import { aWebhook } from '../delivery/fixtures.js'
import { createHarness, responseWith } from '../delivery/harness.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'

const unhandled = expectNothingUnhandled()
const fail = (): never => {
  throw new Error('fault of the host')
}

describe('a random source that throws twice for one outcome', () => {
  it('releases the slot and does not end the delivery', async () => {
    const harness = await createHarness()
    let broken = true
    const random = { ...harness.random, fraction: () => (broken ? fail() : 0.5) }
    const node = harness.node({ caps: { perEndpoint: 1 } }, { random })
    await node.start()
    await harness.publish('call')
    await harness.clock.advance(1000)
    broken = false
    await harness.clock.advance(100_000)
    expect(unhandled).toEqual([])
    expect(node.inFlight('w1')).toBe(0)
    expect((await harness.deliveries()).map(({ state }) => state)).toEqual(['delivered'])
  })

  it('does not affect other deliveries that ended in the same turn', async () => {
    const harness = await createHarness([aWebhook(), aWebhook({}, { id: 'w2' })])
    const rules = { policy: constant(1000), functions: {}, retries: 2 }
    const node = harness.node({}, { rulesOf: ({ id }) => (id === 'w1' ? fail() : rules) })
    await node.start()
    await harness.publish('call')
    await harness.clock.advance(10_000)
    expect(unhandled).toEqual([])
    expect((await harness.deliveries('w2')).map(({ state }) => state)).toEqual(['delivered'])
  })

  it('while an expired delivery is taken releases the slot', async () => {
    const harness = await createHarness([aWebhook({ maxAgeSeconds: 1 })])
    let broken = true
    const random = { ...harness.random, fraction: () => (broken ? fail() : 0.5) }
    const node = harness.node({ caps: { perEndpoint: 1 } }, { random })
    await harness.publish('old')
    await harness.clock.advance(5000)
    await node.start()
    await harness.clock.advance(1000)
    broken = false
    await harness.publish('new')
    await harness.clock.advance(100_000)
    expect(node.inFlight('w1')).toBe(0)
    expect((await harness.deliveries()).map(({ state }) => state)).toEqual(['expired', 'delivered'])
  })
})

describe('a sender whose cancel throws', () => {
  it('after a 410 releases all slots of that turn', async () => {
    const harness = await createHarness([aWebhook(), aWebhook({}, { id: 'w2' })])
    harness.sender.script = ({ group }) => responseWith(group === 'w1' ? 410 : 200)
    harness.sender.cancel = fail
    const node = harness.node()
    await node.start()
    await harness.publish('call')
    await harness.clock.advance(1000)
    expect(unhandled).toEqual([])
    expect(node.stats().inFlight).toBe(0)
    expect([node.inFlight('w1'), node.inFlight('w2')]).toEqual([0, 0])
  })

  it('does not fail the webhook change, which is committed', async () => {
    const harness = await createHarness()
    harness.sender.cancel = fail
    const node = harness.node()
    await node.start()
    expect(() => node.cancelUnsent('w1')).not.toThrow()
  })
})

it('a sender whose releaseIdle throws does not change the outcome, and the pause opens', async () => {
  const harness = await createHarness([aWebhook({ retries: 0 })])
  harness.sender.script = () => responseWith(500)
  harness.sender.releaseIdle = fail
  const node = harness.node()
  await node.start()
  await harness.publish('first')
  await harness.clock.settle()
  for (let call = 1; call < 13; call++) {
    await harness.publish(`call-${call}`)
    await harness.clock.settle()
  }
  expect((await harness.attempts()).map(({ reason }) => reason)).toEqual(new Array(10).fill('bad status'))
  expect((await harness.store.webhooks.read('acc', 'w1'))?.health).toMatchObject({
    failuresInRow: 10,
    pause: { kind: 'rejected' },
  })
})

it('an emit that throws loses no wake-up: retries and the next events of a call are sent', async () => {
  const harness = await createHarness()
  harness.sender.script = (_, attempt) => responseWith(attempt === 1 ? 500 : 200)
  const node = harness.node({ policy: constant(1000, { jitter: 0 }) }, { emit: fail })
  await node.start()
  await harness.publish('call')
  await harness.publish('call')
  await harness.clock.advance(60_000)
  expect((await harness.deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual([
    ['delivered', 2],
    ['delivered', 2],
  ])
})
