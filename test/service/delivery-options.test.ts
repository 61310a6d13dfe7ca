/** The options of delivery, end to end: what a host chooses is what receivers see. */
import { constant } from 'hookswitch'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { answered, fakeSender } from '../delivery/world.js'
import { created, type Options, services, told } from './running.js'

const running = services()

/** A service in manual time whose receiver answers `status` to everything. */
async function failing(status: number, options: Options = {}) {
  const clock = manualClock()
  const sender = fakeSender(() => answered(status))
  const { hs, webhook } = await running({
    clock,
    sender,
    retryPolicy: constant(1000, { jitter: 0 }),
    ...options,
  })
  let calls = 0
  return {
    hs,
    clock,
    sender,
    webhook,
    async publish(count: number) {
      for (let n = 0; n < count; n += 1) await hs.publish(created(`call-${calls++}`))
      await clock.settle()
    },
    enabled: async (id: string) => (await hs.webhooks.read('parent', id)).enabled,
  }
}

describe('breaker', () => {
  it('of three failures opens with the third, for its own pause', async () => {
    const breaker = { failures: 3, pauseMs: 5000, capMs: 5000 }
    const { clock, sender, webhook, publish } = await failing(500, { breaker, inFlightPerEndpoint: 1 })
    await webhook('/', { retries: 0 })
    await publish(10)
    expect(sender.requests).toHaveLength(3)
    await clock.advance(3999)
    expect(sender.requests).toHaveLength(3)
    await clock.advance(2002)
    expect(sender.requests).toHaveLength(4)
  })

  it('false: however often it fails, it is called again', async () => {
    const { sender, webhook, publish } = await failing(500, { breaker: false })
    await webhook('/', { retries: 0 })
    await publish(50)
    expect(sender.requests).toHaveLength(50)
  })
})

describe('autoDisable', () => {
  const RULE = { kind: 'burst', failures: 4, withinMs: 60_000 } as const

  it('of four failures in a minute disables with the fourth, and tells', async () => {
    const { hs, webhook, publish, enabled, sender } = await failing(500, { autoDisable: RULE })
    const disabled = told(hs, 'webhook_disabled')
    const id = await webhook('/', { retries: 0 })
    for (let n = 0; n < 6; n += 1) await publish(1)
    expect(await disabled).toEqual([
      { webhookId: id, accountId: 'parent', reason: 'too many failed attempts' },
    ])
    expect(await enabled(id)).toBe(false)
    expect(sender.requests).toHaveLength(4)
  })

  it('false: a webhook that fails for days stays enabled, also under the preset kazoo', async () => {
    for (const preset of [{}, { preset: 'kazoo' }] as const) {
      const { clock, webhook, publish, enabled } = await failing(500, {
        ...preset,
        autoDisable: false,
        breaker: false,
      })
      const id = await webhook('/', { retries: 0 })
      for (let hour = 0; hour < 60; hour += 1) {
        await publish(2)
        await clock.advance(3_600_000)
      }
      expect(await enabled(id)).toBe(true)
    }
  })

  it('false: 410 disables all the same, for it is the receiver that says so', async () => {
    const { webhook, publish, enabled } = await failing(410, { autoDisable: false })
    const id = await webhook('/')
    await publish(1)
    expect(await enabled(id)).toBe(false)
  })
})

describe('recordSuccesses', () => {
  it('false: attempts show failures alone, deliveries and events are as ever', async () => {
    const { hs, clock, sender, webhook, publish } = await failing(200, { recordSuccesses: false })
    sender.script = (_, attempt) => answered(attempt === 1 ? 500 : 200)
    const id = await webhook('/')
    const attempts = told(hs, 'attempt', 4)
    await publish(2)
    await clock.advance(2000)
    expect((await attempts).map(({ attempt, result }) => [attempt, result]).sort()).toEqual([
      [1, 'failure'],
      [1, 'failure'],
      [2, 'success'],
      [2, 'success'],
    ])
    const kept = await hs.webhooks.attempts('parent', id)
    expect(kept.map(({ attempt, result }) => [attempt, result])).toEqual([
      [1, 'failure'],
      [1, 'failure'],
    ])
    const deliveries = await hs.webhooks.deliveries('parent', id)
    expect(deliveries.map(({ state, attempts: number }) => [state, number])).toEqual([
      ['delivered', 2],
      ['delivered', 2],
    ])
    expect(await hs.webhooks.explain('parent', deliveries[0]!.id)).toBe('Delivered after 2 attempts.')
  })
})

describe('inFlightPerOrigin', () => {
  it('is shared by all webhooks that lead to one origin, however their URI is spelt', async () => {
    const { hs, sender, webhook, publish } = await failing(200, { inFlightPerOrigin: 3 })
    sender.script = () => undefined
    for (const uri of [
      'https://shared.example/a',
      'https://SHARED.example:443/b?x=1',
      'https://shared.example/c',
      'https://shared.example:8443/d',
    ])
      await webhook(uri, { uri })
    await publish(5)
    const ports = sender.open.map(({ request }) => new URL(request.url).port)
    expect(ports.filter((port) => port === '')).toHaveLength(3)
    expect(ports.filter((port) => port === '8443')).toHaveLength(3)
    await hs.close({ drainMs: 0 })
  })

  it('is said where a delivery is explained', async () => {
    const { hs, sender, webhook, publish } = await failing(200, { inFlightPerOrigin: 1 })
    sender.script = () => undefined
    const id = await webhook('/', { uri: 'https://shared.example/' })
    await publish(2)
    const [waiting] = await hs.webhooks.deliveries('parent', id, { states: ['waiting'] })
    expect(await hs.webhooks.explain('parent', waiting!.id)).toBe(
      'Waits for room: the origin of the uri is at its cap of 1 request in flight.',
    )
    await hs.close({ drainMs: 0 })
  })
})
