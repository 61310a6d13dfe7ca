/**
 * Doors of the host that threw at the wrong moment (chance, rules, a sender's `withdraw` or `rest`, a listener) cost a
 * place for ever, an unhandled rejection, or the outcomes of others that ended in the same turn.
 */
import { describe, expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import { aWebhook } from '../delivery/fixtures.js'
import { answered, deliveryWorld } from '../delivery/world.js'
import { nothingUnhandled } from '../unhandled.js'

const unhandled = nothingUnhandled()
const fail = (): never => {
  throw new Error('of the host')
}

describe('chance that throws twice for one outcome', () => {
  it('gives the place back, and ends nothing', async () => {
    const world = await deliveryWorld()
    let broken = true
    const random = { ...world.random, fraction: () => (broken ? fail() : 0.5) }
    const node = world.node({ caps: { perEndpoint: 1 } }, { random })
    await node.start()
    await world.publish('call')
    await world.clock.advance(1000)
    broken = false
    await world.clock.advance(100_000)
    expect(unhandled).toEqual([])
    expect(node.inFlight('w1')).toBe(0)
    expect((await world.deliveries()).map(({ state }) => state)).toEqual(['delivered'])
  })

  it('does not take down the others that ended in the same turn', async () => {
    const world = await deliveryWorld([aWebhook(), aWebhook({}, { id: 'w2' })])
    const rules = { policy: constant(1000), functions: {}, retries: 2 }
    const node = world.node({}, { rulesOf: ({ id }) => (id === 'w1' ? fail() : rules) })
    await node.start()
    await world.publish('call')
    await world.clock.advance(10_000)
    expect(unhandled).toEqual([])
    expect((await world.deliveries('w2')).map(({ state }) => state)).toEqual(['delivered'])
  })

  it('while what is too old is claimed gives the place back', async () => {
    const world = await deliveryWorld([aWebhook({ maxAgeSeconds: 1 })])
    let broken = true
    const random = { ...world.random, fraction: () => (broken ? fail() : 0.5) }
    const node = world.node({ caps: { perEndpoint: 1 } }, { random })
    await world.publish('old')
    await world.clock.advance(5000)
    await node.start()
    await world.clock.advance(1000)
    broken = false
    await world.publish('new')
    await world.clock.advance(100_000)
    expect(node.inFlight('w1')).toBe(0)
    expect((await world.deliveries()).map(({ state }) => state)).toEqual(['expired', 'delivered'])
  })
})

describe('a sender whose withdraw throws', () => {
  it('when a receiver is gone, gives all places of that turn back', async () => {
    const world = await deliveryWorld([aWebhook(), aWebhook({}, { id: 'w2' })])
    world.sender.script = ({ group }) => answered(group === 'w1' ? 410 : 200)
    world.sender.withdraw = fail
    const node = world.node()
    await node.start()
    await world.publish('call')
    await world.clock.advance(1000)
    expect(unhandled).toEqual([])
    expect(node.overview().inFlight).toBe(0)
    expect([node.inFlight('w1'), node.inFlight('w2')]).toEqual([0, 0])
  })

  it('does not fail the change of the webhook, which is committed', async () => {
    const world = await deliveryWorld()
    world.sender.withdraw = fail
    const node = world.node()
    await node.start()
    expect(() => node.withdraw('w1')).not.toThrow()
  })
})

it('a sender whose rest throws: the outcome is what it was, and the breaker opens with it', async () => {
  const world = await deliveryWorld([aWebhook({ retries: 0 })])
  world.sender.script = () => answered(500)
  world.sender.rest = fail
  const node = world.node()
  await node.start()
  for (let call = 0; call < 12; call++) await world.publish(`call-${call}`)
  await world.clock.settle()
  expect((await world.attempts()).map(({ reason }) => reason)).toEqual(
    new Array(10).fill('bad response code'),
  )
  expect((await world.store.webhooks.read('acc', 'w1'))?.health).toMatchObject({
    failuresInRow: 10,
    openings: 1,
  })
})

it('a tell that throws loses no wake-up: retries come, and the next of a call', async () => {
  const world = await deliveryWorld()
  world.sender.script = (_, attempt) => answered(attempt === 1 ? 500 : 200)
  const node = world.node({ policy: constant(1000, { jitter: 0 }) }, { tell: fail })
  await node.start()
  await world.publish('call')
  await world.publish('call')
  await world.clock.advance(60_000)
  expect((await world.deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual([
    ['delivered', 2],
    ['delivered', 2],
  ])
})
