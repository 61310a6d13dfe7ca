import { describe, expect, it } from 'vitest'
import { type ReplayRequest, replayDeliveries } from '../../src/delivery/replay.js'
import { sendTest } from '../../src/delivery/test-delivery.js'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld, headerOf, type World } from './world.js'

const replay = (world: World, request: ReplayRequest, webhookId = 'w1', accountId = 'acc') =>
  replayDeliveries(
    {
      webhooks: world.store.webhooks,
      deliveries: world.store.deliveries,
      newId: world.newId,
      storeNow: world.clock.now,
    },
    accountId,
    webhookId,
    request,
    100,
  )

/** Three calls: `a` and `c` were delivered, `b` was given up. */
async function ended() {
  const world = await deliveryWorld([aWebhook({ retries: 0 }), aWebhook({}, { id: 'w2' })])
  world.sender.script = (request) => answered(JSON.parse(request.body!).call_id === 'b' ? 500 : 200)
  const node = world.node()
  await node.start()
  for (const call of ['a', 'b', 'c']) {
    await world.publish(call)
    await world.clock.advance(1000)
  }
  await world.clock.advance(60_000)
  world.sender.requests.length = 0
  return { world, node, old: await world.deliveries() }
}

describe('replaying', () => {
  it('sends one delivery again: the same bytes under a new id, linked to the old', async () => {
    const { world, node, old } = await ended()
    const body = '{"hook_event":"channel_create"'
    const [id] = await replay(world, { deliveryId: old[0]!.id })
    await world.clock.settle()
    const [request] = world.sender.requests
    expect(headerOf(request!, 'webhook-id')).toBe(id)
    expect(request!.body!.startsWith(body)).toBe(true)
    expect(JSON.parse(request!.body!)).toMatchObject({ event_id: old[0]!.eventId, sequence: 1 })
    expect(await world.store.deliveries.delivery('acc', id!)).toMatchObject({
      state: 'delivered',
      replayOf: old[0]!.id,
      eventId: old[0]!.eventId,
      callId: 'a',
    })
    expect(await world.store.deliveries.delivery('acc', old[0]!.id)).toEqual(old[0])
    await node.close(0)
  })

  it('sends a range again in its old order, one after the other', async () => {
    const { world, node } = await ended()
    world.sender.script = (_, attempt) => answered(attempt === 1 ? 500 : 200)
    const webhook = (await world.store.webhooks.read('acc', 'w1'))!
    await world.store.webhooks.replace(
      { ...webhook, settings: { ...webhook.settings, retries: 1 }, revision: 2 },
      1,
    )
    expect(await replay(world, {})).toHaveLength(3)
    await world.clock.advance(60_000)
    expect(world.sent()).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
    await node.close(0)
  })

  it.each([
    ['success', ['a', 'c']],
    ['failure', ['b']],
  ])('chooses by result: %s', async (result, calls) => {
    const { world, node } = await ended()
    await replay(world, { result })
    await world.clock.settle()
    expect(world.sent().sort()).toEqual(calls)
    await node.close(0)
  })

  it('chooses by time of acceptance', async () => {
    const { world, node, old } = await ended()
    const range = { createdFromMs: old[1]!.acceptedMs, createdToMs: old[2]!.acceptedMs }
    expect(await replay(world, range)).toHaveLength(2)
    expect(await replay(world, { createdFromMs: old[2]!.acceptedMs + 1_000_000 })).toEqual([])
    await node.close(0)
  })

  it.each(['all', 'constructor', '__proto__', ''])('is refused for the unknown result %j', async (result) => {
    const { world, node } = await ended()
    await expect(replay(world, { result })).rejects.toMatchObject({ code: 'InvalidInput', field: 'result' })
    await node.close(0)
  })

  it('is refused for what is not there, has not ended, or cannot be sent', async () => {
    const { world, node, old } = await ended()
    const deliveryId = old[0]!.id
    await expect(replay(world, { deliveryId: 'unknown' })).rejects.toMatchObject({
      code: 'NotFound',
      id: 'unknown',
    })
    await expect(replay(world, { deliveryId }, 'w2')).rejects.toMatchObject({ code: 'NotFound' })
    await expect(replay(world, { deliveryId }, 'w1', 'sub')).rejects.toMatchObject({
      code: 'NotFound',
      id: 'w1',
    })
    await node.close(0)
    await world.publish('d')
    const waiting = (await world.deliveries()).at(-1)!
    await expect(replay(world, { deliveryId: waiting.id })).rejects.toMatchObject({ code: 'Conflict' })
    const webhook = (await world.store.webhooks.read('acc', 'w1'))!
    const disabled = { ...webhook, settings: { ...webhook.settings, enabled: false }, revision: 2, epoch: 2 }
    await world.store.webhooks.replace(disabled, 1)
    await expect(replay(world, { deliveryId })).rejects.toMatchObject({ code: 'Conflict', field: 'enabled' })
  })
})

describe('a test', () => {
  const catalogue = catalogueOf()
  const test = (world: World, webhookId: string, accountId = 'acc') => {
    const sampleOf = (hook: string) => catalogue.find(({ id }) => id === hook)!.sample[0]!
    return sendTest({ ...world.accept, webhooks: world.store.webhooks, sampleOf }, accountId, webhookId, 100)
  }

  it.each([
    ['all', 'channel_create'],
    ['channel_destroy', 'channel_destroy'],
  ])('of a webhook that listens to %s sends a sample of %s, now', async (hook, sent) => {
    const world = await deliveryWorld([aWebhook({ hook, customData: { own: 'x' } })])
    const node = world.node()
    await node.start()
    const id = await test(world, 'w1')
    await world.clock.settle()
    const [request] = world.sender.requests
    expect(headerOf(request!, 'webhook-id')).toBe(id)
    const timestamp = Math.floor(world.clock.now() / 1000) + 62_167_219_200
    expect(JSON.parse(request!.body!)).toMatchObject({
      hook_event: sent,
      account_id: 'acc',
      timestamp,
      sequence: 1,
      own: 'x',
    })
    await node.close(0)
  })

  it('goes to a disabled webhook too, and to no other', async () => {
    const world = await deliveryWorld([
      aWebhook({ enabled: false }, { epoch: 3 }),
      aWebhook({}, { id: 'w2' }),
    ])
    const node = world.node()
    await node.start()
    await test(world, 'w1')
    await world.clock.settle()
    expect((await world.deliveries('w1')).map(({ state }) => state)).toEqual(['delivered'])
    expect(await world.deliveries('w2')).toEqual([])
    await node.close(0)
  })

  it('takes no number of a call and waits for none', async () => {
    const world = await deliveryWorld()
    const callId = catalogue[0]!.sample[0]!.callId as string
    world.sender.script = () => undefined
    const node = world.node()
    await node.start()
    await world.publish(callId)
    await test(world, 'w1')
    await test(world, 'w1')
    await world.clock.settle()
    expect(world.sender.open).toHaveLength(3)
    await node.close(0)
    expect((await world.deliveries())[0]!.eventId).toBeDefined()
    const [next] = await world.store.deliveries.accept(
      {
        events: [
          {
            id: 'e',
            accountId: 'acc',
            callId,
            hook: 'channel_create',
            timestampMs: 0,
            numbered: true,
            bodies: [],
          },
        ],
        deliveries: [],
        maxPending: 9,
      },
      0,
    )
    expect(next!.sequence).toBe(2)
  })

  it('is refused for what is not there', async () => {
    const world = await deliveryWorld()
    await expect(test(world, 'unknown')).rejects.toMatchObject({ code: 'NotFound', id: 'unknown' })
    await expect(test(world, 'w1', 'sub')).rejects.toMatchObject({ code: 'NotFound' })
  })
})
