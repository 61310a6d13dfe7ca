import { memoryStore } from 'hookswitch'
import { gate, status } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { channelCreate, nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

describe('the history of a call', () => {
  it('has all legs from any leg, what waits, and the numbers of what nobody wanted', async () => {
    const { hs, receiver, createWebhook } = await startService()
    const held = gate()
    receiver.on('/hook', [held, status(200)])
    const id = await createWebhook('/hook')
    const parties = { direction: 'inbound', from: 'a@x.example', to: 'b@x.example' } as const
    await hs.publish(channelCreate('leg/1', { ...parties, otherLegCallId: 'leg-2' }))
    await hs.publish({ ...channelCreate('leg/1'), hook: 'channel_answer' })
    await hs.publish(channelCreate('leg/1'))
    await expect.poll(() => held.waiting).toBe(1)
    const history = await hs.webhooks.call('parent', 'leg-2')
    expect(history).toMatchObject({
      callId: 'leg-2',
      legs: [
        { callId: 'leg-2', events: 0 },
        { callId: 'leg/1', events: 2, ...parties },
      ],
      events: [
        {
          hook: 'channel_create',
          sequence: 1,
          deliveries: [{ webhookId: id, state: 'in_flight', attempts: 0 }],
        },
        { sequence: 3, deliveries: [{ state: 'waiting', ahead: 1 }] },
      ],
      unwanted: [{ callId: 'leg/1', sequence: 2 }],
      isTruncated: false,
    })
    const delivered = nextEvents(hs, 'delivered', 2)
    held.release()
    await delivered
    const { legs, events } = await hs.webhooks.call('parent', 'leg/1')
    expect(legs.map(({ callId, direction }) => [callId, direction])).toEqual([
      ['leg/1', 'inbound'],
      ['leg-2', undefined],
    ])
    expect(events.map(({ deliveries }) => deliveries[0]!.state)).toEqual(['delivered', 'delivered'])
  })

  it('reads large events some at a time, and has short parties', async () => {
    const store = memoryStore()
    const { hs, createWebhook } = await startService({ store })
    await createWebhook('/hook', { ordering: 'none' })
    for (let leg = 0; leg < 120; leg += 1) {
      const from = `${leg}@${'x'.repeat(10_000)}`
      await hs.publish(channelCreate(`leg-${leg}`, { otherLegCallId: leg === 0 ? 'leg-1' : 'leg-0', from }))
    }
    const sizes: number[] = []
    const { eventBodies } = store.deliveries
    store.deliveries.eventBodies = (keys) => {
      sizes.push(keys.length)
      return eventBodies(keys)
    }
    const { legs } = await hs.webhooks.call('parent', 'leg-0')
    expect(sizes).toEqual([50, 50, 20])
    expect(legs.map(({ callId, from = '' }) => [callId, from.split('@')[0], from.length])).toEqual(
      Array.from({ length: 120 }, (_, leg) => [`leg-${leg}`, String(leg), 255]),
    )
  })

  it('does not exist for a call of another account', async () => {
    const { hs, createWebhook } = await startService()
    await createWebhook('/hook')
    await hs.publish(channelCreate('call'))
    for (const [account, call] of [
      ['child', 'call'],
      ['parent', 'unknown'],
    ] as const)
      await expect(hs.webhooks.call(account, call)).rejects.toMatchObject({ code: 'NotFound' })
  })
})
