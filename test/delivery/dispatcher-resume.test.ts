import { describe, expect, it } from 'vitest'
import type { Dispatcher } from '../../src/delivery/dispatcher.js'
import { constant } from '../../src/delivery/policy.js'
import { HookswitchError } from '../../src/errors.js'
import { isPaused } from '../../src/webhooks/health.js'
import { resumeWebhook, shouldKeepHealth } from '../../src/webhooks/webhook.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, responseWith } from './harness.js'

const read = async ({ store }: Harness) => (await store.webhooks.read('acc', 'w1'))!

/** Resumes the webhook in the store, as any node may. */
async function resume(harness: Harness): Promise<void> {
  const webhook = await read(harness)
  expect(await harness.store.webhooks.replace(resumeWebhook(webhook), webhook.revision)).toBe(true)
  await harness.clock.settle()
}

/** A node of a receiver that rejected the first ten deliveries: it is paused, and all thirty wait. */
async function openPause(isShared = false): Promise<{ harness: Harness; node: Dispatcher }> {
  const harness = await createHarness([aWebhook({ retries: 1 })], isShared)
  harness.sender.script = () => responseWith(500)
  const node = harness.node({}, { random: { ...harness.random, fraction: () => 0 } })
  await node.start()
  await harness.publish('first')
  await harness.clock.settle()
  await Promise.all(Array.from({ length: 29 }, (_, call) => harness.publish(`call-${call}`)))
  await harness.clock.settle()
  expect(isPaused((await read(harness)).health, harness.clock.now())).toBe(true)
  expect(await harness.pending()).toBe(30)
  harness.sender.requests.length = 0
  return { harness, node }
}

describe('a webhook that is resumed while it is paused', () => {
  it('gets one request at once, then everything that waits, retries included, if that succeeds', async () => {
    const { harness, node } = await openPause()
    harness.sender.script = () => undefined
    await resume(harness)
    expect(harness.sender.requests).toHaveLength(1)
    const rounds: number[] = []
    while (harness.sender.open.length > 0) {
      const { open } = harness.sender
      rounds.push(open.length)
      for (const { answer } of [...open]) answer(responseWith(200))
      await harness.clock.settle()
    }
    expect(rounds.slice(0, 3)).toEqual([1, 2, 4])
    expect(harness.sender.requests).toHaveLength(30)
    expect((await harness.deliveries()).every(({ state }) => state === 'delivered')).toBe(true)
    expect((await read(harness)).health).toBeUndefined()
    const resumed = harness.emitted.filter(({ name }) => name === 'webhook_resumed')
    expect(resumed.map(({ payload }) => payload)).toEqual([{ webhookId: 'w1', accountId: 'acc' }])
    await node.close(0)
  })

  it('is paused again when it rejects ten more first attempts', async () => {
    const { harness, node } = await openPause()
    await resume(harness)
    const { health } = await read(harness)
    expect(health?.pause).toMatchObject({ kind: 'rejected', probes: 0 })
    expect(isPaused(health, harness.clock.now())).toBe(true)
    const sent = harness.sender.requests.length
    expect(sent).toBeLessThan(30)
    await harness.clock.advance(1_000)
    expect(harness.sender.requests).toHaveLength(sent)
    await node.close(0)
  })

  it('can be resumed while its probe is under way', async () => {
    const { harness, node } = await openPause()
    harness.sender.script = () => undefined
    await harness.clock.advance(5_000)
    expect(harness.sender.open).toHaveLength(1)
    await resume(harness)
    expect((await read(harness)).health).not.toHaveProperty('pause')
    await node.close(0)
  })

  it('keeps what it has failed: only the pause ends', async () => {
    const { harness, node } = await openPause()
    harness.sender.script = () => undefined
    const before = (await read(harness)).health!
    await resume(harness)
    const { pause: _, pausedUntilMs: __, rejectedInRow: ___, ...rest } = before
    expect((await read(harness)).health).toEqual(rest)
    await node.close(0)
  })

  it('is sent by the node that owns its shard, whichever node was asked', async () => {
    const { harness, node } = await openPause(true)
    const other = harness.node()
    await other.start()
    harness.sender.script = () => responseWith(200)
    await resume(harness)
    expect(harness.sender.requests).toHaveLength(30)
    const closing = [node.close(0), other.close(0)]
    await harness.clock.settle()
    await Promise.all(closing)
  })

  it('gets what waits from the next owner, if its owner dies first', async () => {
    const { harness, node } = await openPause()
    await node.close(0)
    const webhook = await read(harness)
    await harness.store.webhooks.replace(resumeWebhook(webhook), webhook.revision)
    harness.sender.script = () => undefined
    const next = harness.node()
    await next.start()
    await harness.clock.settle()
    // What a receiver takes at once is known to its owner alone.
    expect(harness.sender.requests).toHaveLength(10)
    await next.close(0)
  })
})

describe('a webhook that is resumed after Retry-After', () => {
  it('gets the retry that waits for the end of the pause at once', async () => {
    const harness = await createHarness([aWebhook({ retries: 1 })])
    harness.sender.script = (_, attempt) => responseWith(attempt === 1 ? 503 : 200, ['retry-after', '600'])
    const node = harness.node()
    await node.start()
    await harness.publish('call')
    await harness.clock.advance(60_000)
    expect(harness.sender.requests).toHaveLength(1)
    await resume(harness)
    expect(harness.sender.requests).toHaveLength(2)
    await node.close(0)
  })

  it('does not send retries early that wait after another change of the webhook', async () => {
    const harness = await createHarness([aWebhook({ retries: 1 })])
    harness.sender.script = () => responseWith(503, ['retry-after', '600'])
    const node = harness.node()
    await node.start()
    await harness.publish('call')
    await harness.clock.settle()
    await resume(harness)
    harness.sender.requests.length = 0
    const webhook = await read(harness)
    const renamed = {
      ...webhook,
      settings: { ...webhook.settings, name: 'n' },
      revision: webhook.revision + 1,
    }
    expect(shouldKeepHealth(webhook.settings, renamed.settings)).toBe(true)
    await harness.publish('another')
    await harness.clock.settle()
    await harness.store.webhooks.replace(renamed, webhook.revision)
    await harness.clock.settle()
    expect(harness.sender.requests).toHaveLength(0)
    await node.close(0)
  })
})

describe('a webhook that is resumed just before its owner loads the shards again', () => {
  it.each(['a failed poll', 'a version without changes'] as const)(
    'gets its retry at once, as if the owner had read the change: %s',
    async (cause) => {
      const harness = await createHarness([aWebhook({ retries: 1 })], true)
      const { store } = harness.faults
      let loads = 0
      const once = new Set<string>()
      harness.sender.script = () => responseWith(503, ['retry-after', '600'])
      const node = harness.node(
        { policy: constant(600_000, { jitter: 0 }) },
        {
          store: {
            ...store,
            async poll(lease) {
              if (once.delete('a failed poll')) throw new HookswitchError('StoreUnavailable', 'reset')
              return store.poll(lease)
            },
            async changes(...input) {
              const found = await store.changes(...input)
              return found && once.delete('a version without changes')
                ? { ...found, mustReload: true }
                : found
            },
            async completeTakeover(...input) {
              loads += 1
              // The load fails at its end, and is repeated.
              if (loads === 2) throw new HookswitchError('StoreUnavailable', 'reset')
              return store.completeTakeover(...input)
            },
          },
        },
      )
      await node.start()
      await harness.publish('call')
      await harness.clock.advance(20_000)
      expect([harness.sent(), loads]).toEqual([['call'], 1])
      harness.sender.script = () => responseWith(200)
      once.add(cause)
      await resume(harness)
      await harness.clock.advance(60_000)
      expect([harness.sent(), loads]).toEqual([['call', 'call'], 3])
      const closing = node.close(0)
      await harness.clock.advance(5_000)
      await closing
    },
  )
})
