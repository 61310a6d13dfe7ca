import { describe, expect, it } from 'vitest'
import type { Observation } from '../../src/ports.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, responseWith } from './harness.js'

const refused: Observation = { kind: 'no_response', failure: 'connection', detail: '' }

/** A node without jitter. */
const nodeWithoutJitter = (harness: Harness) =>
  harness.node({}, { random: { ...harness.random, fraction: () => 0.5 } })

describe('an endpoint that fails ten times in a row', () => {
  it('is paused, then probed with single deliveries, and served again after one succeeds', async () => {
    const harness = await createHarness([aWebhook({ retries: 0 })])
    harness.sender.script = () => responseWith(500)
    const node = nodeWithoutJitter(harness)
    await node.start()
    await harness.publish('first')
    await harness.clock.settle()
    await Promise.all(Array.from({ length: 29 }, (_, call) => harness.publish(`call-${call}`)))
    await harness.clock.settle()
    // Ten were in flight when the tenth failed; the other nineteen wait.
    expect(harness.sender.requests).toHaveLength(11)
    await harness.clock.advance(12_499)
    expect(harness.sender.requests).toHaveLength(11)
    await harness.clock.advance(1)
    expect(harness.sender.requests).toHaveLength(12)
    await harness.clock.advance(12_499)
    expect(harness.sender.requests).toHaveLength(12)
    harness.sender.script = () => responseWith(200)
    await harness.clock.advance(1)
    expect(harness.sender.requests).toHaveLength(30)
    expect(harness.sender.maxOpen).toBeLessThanOrEqual(10)
    await node.close(0)
  })

  it('is probed with one request at a time by a node that has just started', async () => {
    const harness = await createHarness([aWebhook({ retries: 0 })])
    harness.sender.script = () => responseWith(500)
    const first = nodeWithoutJitter(harness)
    await first.start()
    for (let call = 0; call < 30; call++) await harness.publish(`call-${call}`)
    await harness.clock.settle()
    const failed = harness.sender.requests.length
    await first.close(0)
    harness.sender.script = () => undefined
    const second = nodeWithoutJitter(harness)
    await second.start()
    await harness.clock.advance(30_000)
    expect(harness.sender.requests).toHaveLength(failed + 1)
    expect(second.inFlight('w1')).toBe(1)
    await second.close(0)
  })

  it('is probed at a random moment, not together with all others that failed with it', async () => {
    const webhooks = Array.from({ length: 40 }, (_, index) => aWebhook({ retries: 0 }, { id: `w${index}` }))
    const harness = await createHarness(webhooks)
    harness.sender.script = () => responseWith(500)
    const node = harness.node({ caps: { total: 1000, perAccount: 1000, perOrigin: 1000 } })
    await node.start()
    await harness.publish('first')
    await harness.clock.settle()
    await Promise.all(Array.from({ length: 12 }, (_, call) => harness.publish(`call-${call}`)))
    await harness.clock.settle()
    expect(harness.sender.requests).toHaveLength(440)
    const probes: number[] = []
    for (let second = 0; second < 17; second++) {
      await harness.clock.advance(1000)
      probes.push(harness.sender.requests.length)
    }
    // 12.5 s ± 20 %: none before, all after, and in no second more than a share of them.
    expect(probes[8]).toBe(440)
    expect(probes[15]).toBe(480)
    const peak = Math.max(...probes.slice(1).map((count, index) => count - probes[index]!))
    expect(peak).toBeLessThanOrEqual(3 * Math.ceil(40 / 5))
    await node.close(0)
  })

  it('delays no other endpoint', async () => {
    const harness = await createHarness([aWebhook({ retries: 0 }), aWebhook({}, { id: 'w2' })])
    harness.sender.script = (request) =>
      request.headers.includes('w1') ? responseWith(500) : responseWith(200)
    const node = harness.node({
      endpointSecrets: (webhook) => ({ keys: [], headers: ['X-Hook-ID', webhook.id] }),
    })
    await node.start()
    for (let call = 0; call < 30; call++) await harness.publish(`call-${call}`)
    await harness.clock.settle()
    const states = (await harness.deliveries('w2')).map(({ state }) => state)
    expect(states).toEqual(new Array(30).fill('delivered'))
    await node.close(0)
  })
})

describe('a global outage', () => {
  const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) =>
    aWebhook({ uri: `https://${id}.example.com/`, retries: 0 }, { id }),
  )

  it('is not charged to any endpoint', async () => {
    const harness = await createHarness(six)
    harness.sender.script = () => refused
    const node = nodeWithoutJitter(harness)
    await node.start()
    for (let call = 0; call < 15; call++) {
      await harness.publish(`call-${call}`)
      // Endpoints that do not answer may start 50 requests a second.
      await harness.clock.advance(120)
    }
    expect(harness.sender.requests).toHaveLength(6 * 15)
    for (const { id } of six) {
      const failures = (await harness.store.webhooks.read('acc', id))?.health?.failuresInRow ?? 0
      expect(failures).toBeLessThan(2)
    }
    await node.close(0)
  })
})

describe('the preset kazoo', () => {
  it('disables a webhook after six failed tries in a minute', async () => {
    const harness = await createHarness([aWebhook({ retries: 0 })])
    harness.sender.script = () => responseWith(500)
    const node = harness.node({ healthRules: HEALTH_PRESETS.kazoo })
    await node.start()
    for (let call = 0; call < 8; call++) {
      await harness.publish(`call-${call}`)
      await harness.clock.settle()
    }
    expect(harness.sender.requests).toHaveLength(6)
    expect(await harness.store.webhooks.read('acc', 'w1')).toMatchObject({
      settings: { enabled: false },
      disableReason: 'too many failed attempts',
    })
    expect(harness.emitted.filter(({ name }) => name === 'webhook_disabled')).toHaveLength(1)
    await node.close(0)
  })
})
