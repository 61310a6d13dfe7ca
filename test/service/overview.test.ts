import { memoryStore } from 'hookswitch'
import { gate, manualClock, status } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { channelCreate, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

describe('the overview', () => {
  it('shows what waits, what fails, and the node', async () => {
    const clock = manualClock()
    const { hs, receiver, createWebhook } = await startService({ clock })
    expect(await hs.operator.overview()).toMatchObject({
      pending: 0,
      oldestDueMs: 0,
      inFlight: 0,
      paused: { waiting: 0, probing: 0 },
      disabled: 0,
      isCapped: false,
      nodes: [{ shards: 64, leaving: 0 }],
      store: { durable: false, sharedBetweenNodes: false },
    })
    const held = gate()
    receiver.on('/gone', [status(410)])
    receiver.on('/slow', [held, status(200)])
    const ended = [nextEvents(hs, 'webhook_disabled'), nextEvents(hs, 'webhook_paused')]
    const slow = await createWebhook('/slow')
    await createWebhook('/gone', { hook: 'channel_answer' })
    const failing = await createWebhook('/fails', { hook: 'channel_destroy', retries: 0 })
    receiver.on('/fails', [status(500)])
    await hs.publish({ ...channelCreate('gone'), hook: 'channel_answer' })
    for (let call = 0; call < 10; call++)
      await hs.publish({ ...channelCreate(`call-${call}`), hook: 'channel_destroy' })
    await Promise.all(ended)
    await hs.publish(channelCreate('slow'))
    await expect.poll(() => held.waiting).toBe(1)

    const busy = await hs.operator.overview()
    expect(busy).toMatchObject({ pending: 1, inFlight: 1, disabled: 1, paused: { waiting: 1, probing: 0 } })
    expect(busy).toMatchObject({ failing: 0, accountsAffected: 1 })
    expect(busy.nodes[0]).not.toHaveProperty('aliveUntilMs')
    expect(busy.attemptsPerMinute).toHaveLength(60)

    const pausedWebhooks = async () => (await hs.operator.overview()).paused
    await clock.advance(5_000)
    await expect.poll(pausedWebhooks).toEqual({ waiting: 0, probing: 1 })
    await hs.webhooks.resume('parent', failing)
    expect(await pausedWebhooks()).toEqual({ waiting: 0, probing: 0 })
    expect(await hs.operator.overview()).toMatchObject({ failing: 1, accountsAffected: 1 })
    const delivered = nextEvents(hs, 'delivered')
    held.release()
    await delivered
    expect(await hs.operator.overview()).toMatchObject({ pending: 0, inFlight: 0 })
    expect((await hs.webhooks.read('parent', slow)).health.state).toBe('ok')
  })

  it('has no rate of attempts without statistics', async () => {
    const { hs } = await startService({ statistics: false })
    const overview = await hs.operator.overview()
    expect(overview).not.toHaveProperty('attemptsPerMinute')
    expect(overview).not.toHaveProperty('causes')
  })

  it('lists all nodes of a shared store, with the time until which they are alive', async () => {
    const clock = manualClock()
    const store = memoryStore({ shared: true, clock })
    const [service] = [await startService({ store, clock }), await startService({ store, clock })]
    await clock.advance(30_000)
    const { nodes, store: kind } = await service!.hs.operator.overview()
    expect(kind.sharedBetweenNodes).toBe(true)
    expect(nodes.map(({ shards }) => shards)).toEqual([32, 32])
    for (const { aliveUntilMs } of nodes) expect(aliveUntilMs).toBeGreaterThan(clock.now())
  })
})
