import { describe, expect, it } from 'vitest'
import type { Observation } from '../../src/ports.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld, type World } from './world.js'

const dead: Observation = { kind: 'no_response', failure: 'connection', detail: '' }

/** A node without jitter: pauses are as long as the rule says. */
const calmNode = (world: World) => world.node({}, { random: { ...world.random, fraction: () => 0.5 } })

describe('an endpoint that fails ten times in a row', () => {
  it('is left alone, then probed by single deliveries, and served again when one comes through', async () => {
    const world = await deliveryWorld([aWebhook({ retries: 0 })])
    world.sender.script = () => answered(500)
    const node = calmNode(world)
    await node.start()
    for (let call = 0; call < 30; call++) await world.publish(`call-${call}`)
    await world.clock.settle()
    // Ten at once were in flight when the tenth failed; the other twenty wait.
    expect(world.sender.requests).toHaveLength(10)
    await world.clock.advance(29_999)
    expect(world.sender.requests).toHaveLength(10)
    await world.clock.advance(1)
    expect(world.sender.requests).toHaveLength(11)
    await world.clock.advance(59_999)
    expect(world.sender.requests).toHaveLength(11)
    world.sender.script = () => answered(200)
    await world.clock.advance(1)
    expect(world.sender.requests).toHaveLength(30)
    expect(world.sender.mostOpen).toBeLessThanOrEqual(10)
    await node.close(0)
  })

  it('is probed by one request at a time also by a node that has just started', async () => {
    const world = await deliveryWorld([aWebhook({ retries: 0 })])
    world.sender.script = () => answered(500)
    const first = calmNode(world)
    await first.start()
    for (let call = 0; call < 30; call++) await world.publish(`call-${call}`)
    await world.clock.settle()
    await first.close(0)
    world.sender.script = () => undefined
    const second = calmNode(world)
    await second.start()
    await world.clock.advance(30_000)
    expect(world.sender.requests).toHaveLength(11)
    expect(second.inFlight('w1')).toBe(1)
    await second.close(0)
  })

  it('is probed at a moment of its own, not with all others that failed with it', async () => {
    const webhooks = Array.from({ length: 40 }, (_, index) => aWebhook({ retries: 0 }, { id: `w${index}` }))
    const world = await deliveryWorld(webhooks)
    world.sender.script = () => answered(500)
    const node = world.node({ caps: { inAll: 1000, perAccount: 1000, perOrigin: 1000 } })
    await node.start()
    for (let call = 0; call < 12; call++) await world.publish(`call-${call}`)
    await world.clock.settle()
    expect(world.sender.requests).toHaveLength(400)
    const probes: number[] = []
    for (let second = 0; second <= 40; second++) {
      await world.clock.advance(1000)
      probes.push(world.sender.requests.length)
    }
    // 30 s ± 20 %: none before, all after, and at no second more than a share of them.
    expect(probes[22]).toBe(400)
    expect(probes[36]).toBe(440)
    const most = Math.max(...probes.slice(1).map((count, index) => count - probes[index]!))
    expect(most).toBeLessThanOrEqual(3 * Math.ceil(40 / 12))
    await node.close(0)
  })

  it('delays nobody else', async () => {
    const world = await deliveryWorld([aWebhook({ retries: 0 }), aWebhook({}, { id: 'w2' })])
    world.sender.script = (request) => (request.headers.includes('w1') ? answered(500) : answered(200))
    const node = world.node({ material: (webhook) => ({ keys: [], headers: ['X-Hook-ID', webhook.id] }) })
    await node.start()
    for (let call = 0; call < 30; call++) await world.publish(`call-${call}`)
    await world.clock.settle()
    const states = (await world.deliveries('w2')).map(({ state }) => state)
    expect(states).toEqual(new Array(30).fill('delivered'))
    await node.close(0)
  })
})

describe('in a global outage', () => {
  const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) =>
    aWebhook({ uri: `https://${id}.example.com/`, retries: 0 }, { id }),
  )

  it('nobody is blamed', async () => {
    const world = await deliveryWorld(six)
    world.sender.script = () => dead
    const node = calmNode(world)
    await node.start()
    for (let call = 0; call < 40; call++) {
      await world.publish(`call-${call}`)
      await world.clock.settle()
    }
    expect(world.sender.requests).toHaveLength(6 * 40)
    for (const { id } of six) {
      const failures = (await world.store.webhooks.read('acc', id))?.health?.failuresInRow ?? 0
      expect(failures).toBeLessThan(2)
    }
    await node.close(0)
  })
})

describe('under the preset kazoo', () => {
  it('a webhook is disabled after six failed tries in a minute, and its owner may enable it again', async () => {
    const world = await deliveryWorld([aWebhook({ retries: 0 })])
    world.sender.script = () => answered(500)
    const node = world.node({ healthRules: HEALTH_PRESETS.kazoo })
    await node.start()
    for (let call = 0; call < 8; call++) {
      await world.publish(`call-${call}`)
      await world.clock.settle()
    }
    expect(world.sender.requests).toHaveLength(6)
    expect(await world.store.webhooks.read('acc', 'w1')).toMatchObject({
      settings: { enabled: false },
      disableReason: 'too many failed attempts',
    })
    expect(world.told.filter(({ name }) => name === 'webhook_disabled')).toHaveLength(1)
    await node.close(0)
  })
})
