/** Options that affect delivery, end to end. */
import { constant } from 'hookswitch'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { fakeSender, responseWith } from '../delivery/harness.js'
import { channelCreate, nextEvents, type ServiceOptions, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

/** A service on a manual clock whose receiver responds `status` to every request. */
async function serviceWithStatus(status: number, options: ServiceOptions = {}) {
  const clock = manualClock()
  const sender = fakeSender(() => responseWith(status))
  const { hs, createWebhook } = await startService({
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
    createWebhook,
    async publish(count: number) {
      for (let n = 0; n < count; n += 1) await hs.publish(channelCreate(`call-${calls++}`))
      await clock.settle()
    },
    enabled: async (id: string) => (await hs.webhooks.read('parent', id)).enabled,
  }
}

describe('the option pauses', () => {
  const count = async (options: ServiceOptions) => {
    const { sender, createWebhook, publish } = await serviceWithStatus(500, options)
    await createWebhook('/', { retries: 0 })
    for (let call = 0; call < 50; call += 1) await publish(1)
    return sender.requests.length
  }

  it('true pauses a webhook whose receiver has rejected ten deliveries in a row', async () => {
    expect(await count({})).toBe(10)
    expect(await count({ preset: 'kazoo', pauses: true, autoDisable: false })).toBe(10)
  })

  it('false never pauses a failing webhook', async () => {
    expect(await count({ pauses: false })).toBe(50)
    expect(await count({ preset: 'kazoo', autoDisable: false })).toBe(50)
  })
})

describe('the option autoDisable', () => {
  const RULE = { kind: 'burst', failures: 4, withinMs: 60_000 } as const

  it('{ failures: 4 } disables the webhook at the fourth failure and emits webhook_disabled', async () => {
    const { hs, createWebhook, publish, enabled, sender } = await serviceWithStatus(500, {
      autoDisable: RULE,
    })
    const disabled = nextEvents(hs, 'webhook_disabled')
    const id = await createWebhook('/', { retries: 0 })
    for (let n = 0; n < 6; n += 1) await publish(1)
    expect(await disabled).toEqual([
      { webhookId: id, accountId: 'parent', reason: 'too many failed attempts' },
    ])
    expect(await enabled(id)).toBe(false)
    expect(sender.requests).toHaveLength(4)
  })

  it('false keeps a webhook enabled that fails for days, also with the preset kazoo', async () => {
    for (const preset of [{}, { preset: 'kazoo' }] as const) {
      const { clock, createWebhook, publish, enabled } = await serviceWithStatus(500, {
        ...preset,
        autoDisable: false,
        pauses: false,
      })
      const id = await createWebhook('/', { retries: 0 })
      for (let hour = 0; hour < 60; hour += 1) {
        await publish(2)
        await clock.advance(3_600_000)
      }
      expect(await enabled(id)).toBe(true)
    }
  })

  it('false does not affect the disabling by a 410 of the receiver', async () => {
    const { createWebhook, publish, enabled } = await serviceWithStatus(410, { autoDisable: false })
    const id = await createWebhook('/')
    await publish(1)
    expect(await enabled(id)).toBe(false)
  })
})

describe('the option recordSuccesses', () => {
  it('false records only failed attempts; deliveries and events are unaffected', async () => {
    const { hs, clock, sender, createWebhook, publish } = await serviceWithStatus(200, {
      recordSuccesses: false,
    })
    sender.script = (_, attempt) => responseWith(attempt === 1 ? 500 : 200)
    const id = await createWebhook('/')
    const attempts = nextEvents(hs, 'attempt', 4)
    await publish(2)
    await clock.advance(2000)
    expect((await attempts).map(({ attempt, result }) => [attempt, result]).sort()).toEqual([
      [1, 'failure'],
      [1, 'failure'],
      [2, 'success'],
      [2, 'success'],
    ])
    const recorded = await hs.webhooks.attempts('parent', id)
    expect(recorded.map(({ attempt, result }) => [attempt, result])).toEqual([
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

describe('the option inFlightPerOrigin', () => {
  it('is shared by all webhooks of one origin, however their URI is spelled', async () => {
    const { hs, sender, createWebhook, publish } = await serviceWithStatus(200, { inFlightPerOrigin: 3 })
    for (const uri of [
      'https://shared.example/a',
      'https://SHARED.example:443/b?x=1',
      'https://shared.example/c',
      'https://shared.example:8443/d',
    ])
      await createWebhook(uri, { uri })
    await publish(1)
    sender.script = () => undefined
    await publish(5)
    const ports = sender.open.map(({ request }) => new URL(request.url).port)
    expect(ports.filter((port) => port === '')).toHaveLength(3)
    expect(ports.filter((port) => port === '8443')).toHaveLength(3)
    await hs.close({ drainMs: 0 })
  })

  it('is named in the explanation of a waiting delivery', async () => {
    const { hs, sender, createWebhook, publish } = await serviceWithStatus(200, { inFlightPerOrigin: 1 })
    sender.script = () => undefined
    const id = await createWebhook('/', { uri: 'https://shared.example/' })
    await publish(2)
    const [waiting] = await hs.webhooks.deliveries('parent', id, { states: ['waiting'] })
    expect(await hs.webhooks.explain('parent', waiting!.id)).toBe(
      'Waits for capacity: the origin of the uri is at its cap of 1 request in flight.',
    )
    await hs.close({ drainMs: 0 })
  })
})
