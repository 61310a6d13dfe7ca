import { describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../src/delivery/lease.js'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld, type World } from './world.js'

const states = async (world: World, webhookId = 'w1') =>
  (await world.deliveries(webhookId)).map(({ state }) => state)

/** A node that vanishes: its store no longer hears it. */
function mortal(world: World) {
  let dead = false
  const { deliveries } = world.store
  const store = Object.fromEntries(
    Object.entries(deliveries).map(([name, method]: [string, (...args: never[]) => unknown]) => [
      name,
      (...args: never[]) => {
        if (!dead) return method(...args)
        if (name === 'subscribe') return () => {}
        return new Promise(() => {})
      },
    ]),
  ) as unknown as typeof deliveries
  const kill = () => {
    dead = true
  }
  return { store, kill }
}

describe('nodes on one store', () => {
  it('come to share the webhooks, and each event is sent once', async () => {
    const webhooks = Array.from({ length: 30 }, (_, index) => aWebhook({}, { id: `hook-${index}` }))
    const world = await deliveryWorld(webhooks, true)
    const [one, two] = [world.node(), world.node()]
    await one.start()
    await two.start()
    await world.clock.advance(30_000)
    world.sender.script = () => undefined
    await world.publish('a')
    await world.clock.settle()
    const busy = [one, two].map((node) => webhooks.filter(({ id }) => node.inFlight(id) > 0).length)
    expect(busy[0]! + busy[1]!).toBe(30)
    expect(Math.min(...busy)).toBeGreaterThan(0)
    expect(world.sender.requests).toHaveLength(30)
    const closing = [one.close(0), two.close(0)]
    await world.clock.settle()
    await Promise.all(closing)
  })

  it('take over from one that closes, in a second or so', async () => {
    const world = await deliveryWorld([aWebhook()], true)
    const [one, two] = [world.node(), world.node()]
    await one.start()
    await two.start()
    await one.close(0)
    await world.publish('a')
    await world.clock.advance(1000)
    expect(await states(world)).toEqual(['delivered'])
    await two.close(0)
  })

  it('take over from one that died when its lease has ended, and not before: one duplicate, recorded', async () => {
    const world = await deliveryWorld([aWebhook()], true)
    world.sender.script = () => undefined
    const life = mortal(world)
    const one = world.node({}, { store: life.store })
    await one.start()
    await world.publish('a')
    await world.clock.settle()
    life.kill()
    world.sender.script = () => answered(200)
    const two = world.node()
    await two.start()
    await world.clock.advance(LEASE_MS - 1)
    expect(world.sender.requests).toHaveLength(1)
    await world.clock.advance(1001)
    expect(await states(world)).toEqual(['delivered'])
    expect(world.sender.requests).toHaveLength(2)
    expect((await world.attempts()).map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'interrupted'],
      [2, undefined],
    ])
    await two.close(0)
  })

  it('set a delivery aside whose node died three times in a row', async () => {
    const world = await deliveryWorld([aWebhook()], true)
    world.sender.script = () => undefined
    await world.publish('a')
    for (const _ of [1, 2, 3]) {
      const life = mortal(world)
      const node = world.node({}, { store: life.store })
      await node.start()
      await world.clock.advance(LEASE_MS + 2000)
      life.kill()
      await world.clock.advance(LEASE_MS + 1000)
    }
    const last = world.node()
    await last.start()
    await world.clock.advance(2000)
    expect(world.sender.requests).toHaveLength(3)
    expect((await world.deliveries())[0]).toMatchObject({ state: 'quarantined', attempts: 2, tries: 0 })
    const records = (await world.attempts()).map(({ attempt, reason }) => [attempt, reason])
    expect(records).toEqual([
      [1, 'interrupted'],
      [2, 'interrupted'],
      [undefined, 'quarantined'],
    ])
    const closing = last.close(0)
    await world.clock.settle()
    await closing
  })

  it('start nothing while they cannot renew, and go on by themselves when they can again', async () => {
    const world = await deliveryWorld([aWebhook()], true)
    const node = world.node()
    await node.start()
    world.faults.out.add('renew').add('own')
    await world.clock.advance(20_000)
    await world.publish('a')
    await world.clock.advance(5000)
    expect(world.sender.requests).toHaveLength(0)
    world.faults.out.clear()
    await world.clock.advance(10_000)
    expect(await states(world)).toEqual(['delivered'])
    const closing = node.close(0)
    await world.clock.settle()
    await closing
  })

  it('come back by themselves after their lease was lost to nobody', async () => {
    const world = await deliveryWorld([aWebhook()], true)
    const node = world.node()
    await node.start()
    world.faults.out.add('renew').add('own')
    await world.clock.advance(2 * LEASE_MS)
    world.faults.out.clear()
    await world.publish('a')
    await world.clock.advance(15_000)
    expect(await states(world)).toEqual(['delivered'])
    const closing = node.close(0)
    await world.clock.settle()
    await closing
  })

  it('are not confused by a wall clock that jumps', async () => {
    const world = await deliveryWorld([aWebhook()], true)
    const node = world.node()
    await node.start()
    world.sender.script = (_, attempt) => answered(attempt === 1 ? 500 : 200)
    await world.publish('a')
    await world.clock.settle()
    world.clock.jumpWall(-3_600_000)
    await world.clock.advance(3000)
    expect(await states(world)).toEqual(['delivered'])
    const closing = node.close(0)
    await world.clock.settle()
    await closing
  })
})
