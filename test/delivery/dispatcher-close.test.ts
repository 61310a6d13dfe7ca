import { describe, expect, it } from 'vitest'
import { aWebhook } from './fixtures.js'
import { createHarness, responseWith } from './harness.js'

describe('closing the dispatcher', () => {
  it('waits for what is in flight, starts nothing new and releases the shards', async () => {
    const harness = await createHarness([aWebhook()], true)
    harness.sender.script = () => undefined
    const node = harness.node({ caps: { perEndpoint: 1 } })
    await node.start()
    await harness.publish('a')
    await harness.publish('b')
    await harness.clock.settle()
    let closed = false
    const closing = node.close(5000).then(() => {
      closed = true
    })
    await harness.clock.advance(4000)
    expect(closed).toBe(false)
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    await closing
    expect(harness.sender.requests).toHaveLength(1)
    expect((await harness.deliveries()).map(({ state }) => state)).toEqual(['delivered', 'waiting'])
    expect(harness.clock.sleepers().count).toBe(0)
    const next = await harness.store.deliveries.own('another', 1000)
    expect(next.shards).toHaveLength(64)
  })

  it('aborts what is not done in time: recorded as interrupted, and due at once', async () => {
    const harness = await createHarness()
    harness.sender.script = () => undefined
    const node = harness.node()
    await node.start()
    await harness.publish('a')
    await harness.clock.settle()
    const closing = node.close(300)
    await harness.clock.advance(299)
    expect(harness.sender.open).toHaveLength(1)
    await harness.clock.advance(1)
    await closing
    expect(harness.sender.open).toHaveLength(0)
    const [delivery] = await harness.deliveries()
    expect(delivery).toMatchObject({ state: 'waiting', attempts: 1, tries: 0, interruptions: 0 })
    expect(delivery?.dueMs).toBe(harness.clock.now())
    const [record] = await harness.attempts()
    expect(record).toMatchObject({ attempt: 1, result: 'failure', reason: 'interrupted' })
    expect(record).not.toHaveProperty('status')
    expect(harness.clock.sleepers().count).toBe(0)
  })

  it('records an answer that arrives just before the abort', async () => {
    const harness = await createHarness()
    harness.sender.script = () => undefined
    const node = harness.node()
    await node.start()
    await harness.publish('a')
    await harness.clock.settle()
    const { close } = harness.sender
    harness.sender.close = async () => {
      for (const { answer } of [...harness.sender.open]) answer(responseWith(204))
      await close()
    }
    const closing = node.close(0)
    await harness.clock.settle()
    await closing
    expect((await harness.deliveries())[0]).toMatchObject({ state: 'delivered', attempts: 1 })
  })

  it('ends while the store is unavailable, and the next node finds what was not written', async () => {
    const harness = await createHarness()
    const node = harness.node()
    await node.start()
    await harness.publish('a')
    harness.faults.failing.add('commit').add('release')
    await harness.clock.advance(1000)
    const closing = node.close(1000)
    await harness.clock.advance(10_000)
    await closing
    expect(harness.clock.sleepers().count).toBe(0)
    harness.faults.failing.clear()
    const next = harness.node()
    await next.start()
    await harness.clock.settle()
    expect((await harness.deliveries()).map(({ state }) => state)).toEqual(['delivered'])
    await next.close(0)
  })

  it('does not wait for a backlog of cancellations to be written', async () => {
    const harness = await createHarness()
    for (let call = 0; call < 1000; call++) await harness.publish(`call-${call}`)
    const webhook = (await harness.store.webhooks.read('acc', 'w1'))!
    await harness.store.webhooks.replace(
      { ...webhook, settings: { ...webhook.settings, enabled: false }, revision: 2, epoch: 2 },
      1,
    )
    let groups = 0
    const node = harness.node(
      {},
      {
        store: {
          ...harness.faults.store,
          async commit(group) {
            groups++
            await harness.clock.sleep(100)
            return harness.store.deliveries.commit(group)
          },
        },
      },
    )
    const started = node.start()
    await harness.clock.advance(150)
    const closing = node.close(0)
    await harness.clock.advance(1000)
    await Promise.all([started, closing])
    expect(groups).toBeLessThanOrEqual(2)
    const ended = (await harness.attempts()).filter(({ reason }) => reason === 'cancelled')
    expect(ended.length).toBeLessThan(300)
  })

  it('takes no time when there is nothing to do', async () => {
    const harness = await createHarness()
    const node = harness.node()
    await node.start()
    await node.close(60_000)
    await harness.publish('a')
    node.wake()
    await harness.clock.settle()
    expect(harness.sender.requests).toHaveLength(0)
  })
})
