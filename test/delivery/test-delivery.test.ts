import { describe, expect, it } from 'vitest'
import { sendTest } from '../../src/delivery/test-delivery.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, headerOf } from './harness.js'

describe('sendTest', () => {
  const catalogue = catalogueOf()
  const test = (harness: Harness, webhookId: string, accountId = 'acc') => {
    const sampleOf = (hook: string) => catalogue.find(({ id }) => id === hook)!.sample[0]!
    return sendTest({ ...harness.accept, webhooks: harness.store.webhooks, sampleOf }, accountId, webhookId)
  }

  it.each([
    ['all', 'channel_create'],
    ['channel_destroy', 'channel_destroy'],
  ])('sends a webhook for %s a current sample of %s', async (hook, sampleHook) => {
    const harness = await createHarness([aWebhook({ hook, customData: { own: 'x' } })])
    const node = harness.node()
    await node.start()
    const id = await test(harness, 'w1')
    await harness.clock.settle()
    const [request] = harness.sender.requests
    expect(headerOf(request!, 'webhook-id')).toBe(id)
    const timestamp = Math.floor(harness.clock.now() / 1000) + 62_167_219_200
    expect(JSON.parse(request!.body!)).toMatchObject({
      hook_event: sampleHook,
      account_id: 'acc',
      timestamp,
      sequence: 1,
      own: 'x',
    })
    await node.close(0)
  })

  it('sends to a disabled webhook too, and to no other', async () => {
    const harness = await createHarness([
      aWebhook({ enabled: false }, { epoch: 3 }),
      aWebhook({}, { id: 'w2' }),
    ])
    const node = harness.node()
    await node.start()
    await test(harness, 'w1')
    await harness.clock.settle()
    expect((await harness.deliveries('w1')).map(({ state }) => state)).toEqual(['delivered'])
    expect(await harness.deliveries('w2')).toEqual([])
    await node.close(0)
  })

  it('takes no sequence number of a call and waits for no other delivery', async () => {
    const harness = await createHarness()
    const callId = catalogue[0]!.sample[0]!.callId as string
    const node = harness.node()
    await node.start()
    await harness.publish('warm-up')
    await harness.clock.settle()
    harness.sender.script = () => undefined
    await harness.publish(callId)
    await test(harness, 'w1')
    await test(harness, 'w1')
    await harness.clock.settle()
    expect(harness.sender.open).toHaveLength(3)
    await node.close(0)
    expect((await harness.deliveries())[0]!.eventId).toBeDefined()
    const numbered = {
      id: 'e',
      accountId: 'acc',
      callId,
      hook: 'channel_create',
      timestampMs: 0,
      numbered: true,
      bodies: [],
    }
    const [next] = await harness.accept.accept({ events: [numbered], deliveries: [] })
    expect(next!.sequence).toBe(2)
  })

  it('rejects an unknown webhook, and one of another account', async () => {
    const harness = await createHarness()
    await expect(test(harness, 'unknown')).rejects.toMatchObject({ code: 'NotFound', id: 'unknown' })
    await expect(test(harness, 'w1', 'sub')).rejects.toMatchObject({ code: 'NotFound' })
  })
})
