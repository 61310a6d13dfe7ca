import { describe, expect, it } from 'vitest'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld } from './world.js'

describe('closing', () => {
  it('waits for what is in flight, starts nothing new and gives the shards back', async () => {
    const world = await deliveryWorld([aWebhook()], true)
    world.sender.script = () => undefined
    const node = world.node({ caps: { perEndpoint: 1 } })
    await node.start()
    await world.publish('a')
    await world.publish('b')
    await world.clock.settle()
    let closed = false
    const closing = node.close(5000).then(() => {
      closed = true
    })
    await world.clock.advance(4000)
    expect(closed).toBe(false)
    world.sender.open[0]!.answer(answered(200))
    await world.clock.settle()
    await closing
    expect(world.sender.requests).toHaveLength(1)
    expect((await world.deliveries()).map(({ state }) => state)).toEqual(['delivered', 'waiting'])
    expect(world.clock.sleepers().count).toBe(0)
    const next = await world.store.deliveries.own('another', 1000)
    expect(next.shards).toHaveLength(64)
  })

  it('cuts what is not done in time: recorded as interrupted, and free at once', async () => {
    const world = await deliveryWorld()
    world.sender.script = () => undefined
    const node = world.node()
    await node.start()
    await world.publish('a')
    await world.clock.settle()
    const closing = node.close(300)
    await world.clock.advance(299)
    expect(world.sender.open).toHaveLength(1)
    await world.clock.advance(1)
    await closing
    expect(world.sender.open).toHaveLength(0)
    const [delivery] = await world.deliveries()
    expect(delivery).toMatchObject({ state: 'waiting', attempts: 1, tries: 0, interruptions: 0 })
    expect(delivery?.dueMs).toBe(world.clock.now())
    const [record] = await world.attempts()
    expect(record).toMatchObject({ attempt: 1, result: 'failure', reason: 'interrupted' })
    expect(record).not.toHaveProperty('status')
    expect(world.clock.sleepers().count).toBe(0)
  })

  it('keeps an answer that came just before the cut', async () => {
    const world = await deliveryWorld()
    world.sender.script = () => undefined
    const node = world.node()
    await node.start()
    await world.publish('a')
    await world.clock.settle()
    const { close } = world.sender
    world.sender.close = async () => {
      for (const { answer } of [...world.sender.open]) answer(answered(204))
      await close()
    }
    const closing = node.close(0)
    await world.clock.settle()
    await closing
    expect((await world.deliveries())[0]).toMatchObject({ state: 'delivered', attempts: 1 })
  })

  it('ends while the store is out, and the next node finds what was not written', async () => {
    const world = await deliveryWorld()
    const node = world.node()
    await node.start()
    await world.publish('a')
    world.faults.out.add('settle').add('release').add('claim')
    await world.clock.advance(1000)
    const closing = node.close(1000)
    await world.clock.advance(10_000)
    await closing
    expect(world.clock.sleepers().count).toBe(0)
    world.faults.out.clear()
    const next = world.node()
    await next.start()
    await world.clock.settle()
    expect((await world.deliveries()).map(({ state }) => state)).toEqual(['delivered'])
    await next.close(0)
  })

  it('does not wait for a backlog of cancellations to be written', async () => {
    const world = await deliveryWorld()
    for (let call = 0; call < 1000; call++) await world.publish(`call-${call}`)
    const webhook = (await world.store.webhooks.read('acc', 'w1'))!
    await world.store.webhooks.replace(
      { ...webhook, settings: { ...webhook.settings, enabled: false }, revision: 2, epoch: 2 },
      1,
    )
    let batches = 0
    const node = world.node(
      {},
      {
        store: {
          ...world.faults.store,
          async settle(...settling) {
            batches++
            await world.clock.sleep(100)
            return world.store.deliveries.settle(...settling)
          },
        },
      },
    )
    const started = node.start()
    await world.clock.advance(150)
    const closing = node.close(0)
    await world.clock.advance(1000)
    await Promise.all([started, closing])
    expect(batches).toBeLessThanOrEqual(2)
    expect(await world.store.deliveries.pending()).toBeGreaterThan(700)
  })

  it('of a node that has nothing to do takes no time', async () => {
    const world = await deliveryWorld()
    const node = world.node()
    await node.start()
    await node.close(60_000)
    await world.publish('a')
    node.wake()
    await world.clock.settle()
    expect(world.sender.requests).toHaveLength(0)
  })
})
