import { describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../src/delivery/lease.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, responseWith } from './harness.js'

const states = async (harness: Harness, webhookId = 'w1') =>
  (await harness.deliveries(webhookId)).map(({ state }) => state)

/** A store connection that can be cut: after `kill` no call reaches the store, and none returns. */
function killableStore(harness: Harness) {
  let isDead = false
  const { deliveries } = harness.store
  const store = Object.fromEntries(
    Object.entries(deliveries).map(([name, method]: [string, (...args: never[]) => unknown]) => [
      name,
      (...args: never[]) => {
        if (!isDead) return method(...args)
        if (name === 'subscribe') return () => {}
        return new Promise(() => {})
      },
    ]),
  ) as unknown as typeof deliveries
  const kill = () => {
    isDead = true
  }
  return { store, kill }
}

describe('nodes on one store', () => {
  it('share the webhooks, and each event is sent once', async () => {
    const webhooks = Array.from({ length: 30 }, (_, index) =>
      aWebhook({ uri: `https://hook-${index}.example/` }, { id: `hook-${index}` }),
    )
    const harness = await createHarness(webhooks, true)
    const [first, second] = [harness.node(), harness.node()]
    await first.start()
    await second.start()
    await harness.clock.advance(30_000)
    harness.sender.script = () => undefined
    await harness.publish('a')
    await harness.clock.settle()
    const busy = [first, second].map((node) => webhooks.filter(({ id }) => node.inFlight(id) > 0).length)
    expect(busy[0]! + busy[1]!).toBe(30)
    expect(Math.min(...busy)).toBeGreaterThan(0)
    expect(harness.sender.requests).toHaveLength(30)
    const closing = [first.close(0), second.close(0)]
    await harness.clock.settle()
    await Promise.all(closing)
  })

  it('take over from one that closes within about a second', async () => {
    const harness = await createHarness([aWebhook()], true)
    const [first, second] = [harness.node(), harness.node()]
    await first.start()
    await second.start()
    await first.close(0)
    await harness.publish('a')
    await harness.clock.advance(1000)
    expect(await states(harness)).toEqual(['delivered'])
    await second.close(0)
  })

  it('take over from one that crashed when its lease has ended, not before: one duplicate, recorded', async () => {
    const harness = await createHarness([aWebhook()], true)
    harness.sender.script = () => undefined
    const connection = killableStore(harness)
    const cutOff = harness.node({}, { store: connection.store })
    await cutOff.start()
    await harness.publish('a')
    await harness.clock.settle()
    connection.kill()
    harness.sender.script = () => responseWith(200)
    const two = harness.node()
    await two.start()
    await harness.clock.advance(LEASE_MS - 1)
    expect(harness.sender.requests).toHaveLength(1)
    await harness.clock.advance(1001)
    expect(await states(harness)).toEqual(['delivered'])
    expect(harness.sender.requests).toHaveLength(2)
    expect((await harness.attempts()).map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'interrupted'],
      [2, undefined],
    ])
    await two.close(0)
  })

  it('find what was interrupted although the node that took over could not record it before it closed', async () => {
    const harness = await createHarness([aWebhook()], true)
    harness.sender.script = () => undefined
    const connection = killableStore(harness)
    const cutOff = harness.node({}, { store: connection.store })
    await cutOff.start()
    await harness.publish('a')
    await harness.clock.settle()
    connection.kill()
    harness.sender.script = () => responseWith(200)

    const two = harness.node()
    harness.faults.failing.add('commit')
    const started = two.start()
    await harness.clock.advance(LEASE_MS + 1000)
    const closing = two.close(0)
    await harness.clock.advance(LEASE_MS)
    await closing
    await started
    harness.faults.failing.clear()

    const three = harness.node()
    await three.start()
    await harness.clock.advance(2 * LEASE_MS)
    expect((await harness.attempts()).map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'interrupted'],
      [2, undefined],
    ])
    await three.close(0)
  })

  it('quarantine a delivery whose node crashed three times in a row', async () => {
    const harness = await createHarness([aWebhook()], true)
    harness.sender.script = () => undefined
    await harness.publish('a')
    for (const _ of [1, 2, 3]) {
      const connection = killableStore(harness)
      const node = harness.node({}, { store: connection.store })
      await node.start()
      await harness.clock.advance(LEASE_MS + 2000)
      connection.kill()
      await harness.clock.advance(LEASE_MS + 1000)
    }
    const last = harness.node()
    await last.start()
    await harness.clock.advance(2000)
    expect(harness.sender.requests).toHaveLength(3)
    expect((await harness.deliveries())[0]).toMatchObject({ state: 'quarantined', attempts: 2, tries: 0 })
    const records = (await harness.attempts()).map(({ attempt, reason }) => [attempt, reason])
    expect(records).toEqual([
      [1, 'interrupted'],
      [2, 'interrupted'],
      [undefined, 'quarantined'],
    ])
    const closing = last.close(0)
    await harness.clock.settle()
    await closing
  })

  it('start nothing while they cannot renew, and continue by themselves when they can again', async () => {
    const harness = await createHarness([aWebhook()], true)
    const node = harness.node()
    await node.start()
    harness.faults.failing.add('renew').add('own')
    await harness.clock.advance(20_000)
    await harness.publish('a')
    await harness.clock.advance(5000)
    expect(harness.sender.requests).toHaveLength(0)
    harness.faults.failing.clear()
    await harness.clock.advance(10_000)
    expect(await states(harness)).toEqual(['delivered'])
    const closing = node.close(0)
    await harness.clock.settle()
    await closing
  })

  it('continue by themselves after their lease has ended and no other node took the shards', async () => {
    const harness = await createHarness([aWebhook()], true)
    const node = harness.node()
    await node.start()
    harness.faults.failing.add('renew').add('own')
    await harness.clock.advance(2 * LEASE_MS)
    harness.faults.failing.clear()
    await harness.publish('a')
    await harness.clock.advance(15_000)
    expect(await states(harness)).toEqual(['delivered'])
    const closing = node.close(0)
    await harness.clock.settle()
    await closing
  })

  it('are not affected by a wall clock that jumps', async () => {
    const harness = await createHarness([aWebhook()], true)
    const node = harness.node()
    await node.start()
    harness.sender.script = (_, attempt) => responseWith(attempt === 1 ? 500 : 200)
    await harness.publish('a')
    await harness.clock.settle()
    harness.clock.jumpWall(-3_600_000)
    await harness.clock.advance(3000)
    expect(await states(harness)).toEqual(['delivered'])
    const closing = node.close(0)
    await harness.clock.settle()
    await closing
  })

  it('send what a dead one had in flight once more, also if the store names its start twice', async () => {
    const harness = await createHarness([aWebhook()], true)
    harness.sender.script = () => undefined
    const dying = killableStore(harness)
    const node = harness.node({}, { store: dying.store })
    await node.start()
    await harness.publish('a')
    await harness.clock.settle()
    dying.kill()
    harness.sender.script = () => responseWith(200)
    const { store } = harness.faults
    const next = harness.node(
      {},
      {
        store: {
          ...store,
          async load(...input) {
            const part = await store.load(...input)
            return part && { ...part, interrupted: [...part.interrupted, ...part.interrupted] }
          },
        },
      },
    )
    await harness.clock.advance(2 * LEASE_MS)
    await next.start()
    await harness.clock.advance(2 * LEASE_MS)
    expect((await harness.attempts()).map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'interrupted'],
      [2, undefined],
    ])
    const closing = next.close(0)
    await harness.clock.advance(5_000)
    await closing
  })
})
