import { describe, expect, it } from 'vitest'
import {
  countReplays,
  type ReplayCursor,
  type ReplayRequest,
  replayDeliveries,
} from '../../src/delivery/replay.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, headerOf, responseWith } from './harness.js'

const replay = (harness: Harness, request: ReplayRequest, webhookId = 'w1', accountId = 'acc') =>
  replayDeliveries(
    {
      webhooks: harness.store.webhooks,
      deliveries: harness.store.deliveries,
      newId: harness.newId,
      storeNow: harness.accept.storeNow,
      accept: harness.accept.accept,
    },
    accountId,
    webhookId,
    request,
  )

/** Three ended deliveries: `a` and `c` delivered, `b` exhausted. */
async function createEndedDeliveries() {
  const harness = await createHarness([aWebhook({ retries: 0 }), aWebhook({}, { id: 'w2' })])
  harness.sender.script = (request) => responseWith(JSON.parse(request.body!).call_id === 'b' ? 500 : 200)
  const node = harness.node()
  await node.start()
  for (const call of ['a', 'b', 'c']) {
    await harness.publish(call)
    await harness.clock.advance(1000)
  }
  await harness.clock.advance(60_000)
  harness.sender.requests.length = 0
  return { harness, node, old: await harness.deliveries() }
}

/** An account with this many deliveries that ended as `exhausted`, one second apart. */
async function createFailedDeliveries(count: number) {
  const harness = await createHarness([aWebhook({ retries: 0 })], false, { attemptsPerWebhook: 10_000 })
  harness.sender.script = () => responseWith(500)
  const node = harness.node({ healthRules: { pauses: false, autoDisable: null } })
  await node.start()
  for (let call = 0; call < count; call++) {
    await harness.publish(`call-${call}`)
    if (call % 50 === 49) await harness.clock.advance(1_000)
  }
  await harness.clock.advance(30_000)
  harness.sender.requests.length = 0
  return { harness, node }
}

const count = (harness: Harness, request: ReplayRequest, webhookId = 'w1') =>
  countReplays(
    { webhooks: harness.store.webhooks, deliveries: harness.store.deliveries },
    'acc',
    webhookId,
    request,
  )

describe('the replay of more deliveries than one request takes', () => {
  it('continues where the request before ended: every delivery once, in order, and none of the replays', async () => {
    const { harness, node } = await createFailedDeliveries(2_100)
    const old = await harness.deliveries()
    expect(await count(harness, { result: 'failure' })).toEqual({ count: 2_100, isCapped: false })
    const sizes: number[] = []
    let after: ReplayCursor | undefined
    do {
      const { deliveryIds, next } = await replay(harness, { result: 'failure', ...(after && { after }) })
      sizes.push(deliveryIds.length)
      after = next
      // The replays fail too, and are replayed by no later request.
      await harness.clock.advance(60_000)
    } while (after)
    expect(sizes).toEqual([1_000, 1_000, 100])
    const replays = (await harness.deliveries()).filter(({ replayOf }) => replayOf !== undefined)
    expect(replays.map(({ replayOf }) => replayOf)).toEqual(old.map(({ id }) => id))
    await node.close(0)
  }, 60_000)

  it('keeps to the end of the range', async () => {
    const { harness, node } = await createFailedDeliveries(3)
    const [first, second] = await harness.deliveries()
    const after = { position: first!.position, untilMs: harness.clock.now() }
    const request = { result: 'failure', createdToMs: second!.acceptedMs, after }
    expect(await count(harness, request)).toMatchObject({ count: 2 })
    const before = { ...request, createdToMs: first!.acceptedMs - 1 }
    expect(await count(harness, before)).toEqual({ count: 0, isCapped: false })
    await node.close(0)
  })
})

describe('countReplays', () => {
  it('counts what a replay would send, and sends nothing', async () => {
    const { harness, node, old } = await createEndedDeliveries()
    expect(await count(harness, {})).toEqual({ count: 3, isCapped: false })
    expect(await count(harness, { result: 'success' })).toEqual({ count: 2, isCapped: false })
    expect(await count(harness, { deliveryId: old[0]!.id })).toEqual({ count: 1, isCapped: false })
    await harness.clock.advance(1_000)
    expect(harness.sender.requests).toEqual([])
    expect(await harness.deliveries()).toHaveLength(3)
    await node.close(0)
  })

  it('stops at 10,000', async () => {
    const harness = await createHarness()
    const deliveries = {
      ...harness.store.deliveries,
      countDeliveries: async ({ limit }: { readonly limit: number }) => Math.min(limit, 25_000),
    }
    const deps = { webhooks: harness.store.webhooks, deliveries }
    expect(await countReplays(deps, 'acc', 'w1', {})).toEqual({ count: 10_000, isCapped: true })
  })

  it('rejects what a replay rejects', async () => {
    const { harness, node, old } = await createEndedDeliveries()
    await expect(count(harness, {}, 'unknown')).rejects.toMatchObject({ code: 'NotFound' })
    await expect(count(harness, { deliveryId: 'unknown' })).rejects.toMatchObject({ code: 'NotFound' })
    await expect(count(harness, { deliveryId: old[0]!.id }, 'w2')).rejects.toMatchObject({ code: 'NotFound' })
    await expect(count(harness, { result: 'maybe' })).rejects.toMatchObject({ code: 'InvalidInput' })
    await node.close(0)
  })
})

describe('replayDeliveries', () => {
  it('sends one delivery again: the same bytes under a new id, with a reference to the old one', async () => {
    const { harness, node, old } = await createEndedDeliveries()
    const body = '{"hook_event":"channel_create"'
    const {
      deliveryIds: [id],
    } = await replay(harness, { deliveryId: old[0]!.id })
    await harness.clock.settle()
    const [request] = harness.sender.requests
    expect(headerOf(request!, 'webhook-id')).toBe(id)
    expect(request!.body!.startsWith(body)).toBe(true)
    expect(JSON.parse(request!.body!)).toMatchObject({ event_id: old[0]!.eventId, sequence: 1 })
    expect(await harness.store.deliveries.delivery('acc', id!)).toMatchObject({
      state: 'delivered',
      replayOf: old[0]!.id,
      eventId: old[0]!.eventId,
      callId: 'a',
    })
    expect(await harness.store.deliveries.delivery('acc', old[0]!.id)).toEqual(old[0])
    await node.close(0)
  })

  it('sends a range again in its old order, one after the other', async () => {
    const { harness, node } = await createEndedDeliveries()
    harness.sender.script = (_, attempt) => responseWith(attempt === 1 ? 500 : 200)
    const webhook = (await harness.store.webhooks.read('acc', 'w1'))!
    await harness.store.webhooks.replace(
      { ...webhook, settings: { ...webhook.settings, retries: 1 }, revision: 2 },
      1,
    )
    expect((await replay(harness, {})).deliveryIds).toHaveLength(3)
    await harness.clock.advance(60_000)
    expect(harness.sent()).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
    await node.close(0)
  })

  it.each([
    ['success', ['a', 'c']],
    ['failure', ['b']],
  ])('selects by result: %s', async (result, calls) => {
    const { harness, node } = await createEndedDeliveries()
    await replay(harness, { result })
    await harness.clock.settle()
    expect(harness.sent().sort()).toEqual(calls)
    await node.close(0)
  })

  it('selects by time of acceptance', async () => {
    const { harness, node, old } = await createEndedDeliveries()
    const range = { createdFromMs: old[1]!.acceptedMs, createdToMs: old[2]!.acceptedMs }
    expect((await replay(harness, range)).deliveryIds).toHaveLength(2)
    expect(await replay(harness, { createdFromMs: old[2]!.acceptedMs + 1_000_000 })).toEqual({
      deliveryIds: [],
    })
    await node.close(0)
  })

  it.each(['all', 'constructor', '__proto__', ''])('rejects the unknown result %j', async (result) => {
    const { harness, node } = await createEndedDeliveries()
    await expect(replay(harness, { result })).rejects.toMatchObject({ code: 'InvalidInput', field: 'result' })
    await node.close(0)
  })

  it('rejects deliveries that do not exist, have not ended, or cannot be sent', async () => {
    const { harness, node, old } = await createEndedDeliveries()
    const deliveryId = old[0]!.id
    await expect(replay(harness, { deliveryId: 'unknown' })).rejects.toMatchObject({
      code: 'NotFound',
      id: 'unknown',
    })
    await expect(replay(harness, { deliveryId }, 'w2')).rejects.toMatchObject({ code: 'NotFound' })
    await expect(replay(harness, { deliveryId }, 'w1', 'sub')).rejects.toMatchObject({
      code: 'NotFound',
      id: 'w1',
    })
    await node.close(0)
    await harness.publish('d')
    const waiting = (await harness.deliveries()).at(-1)!
    await expect(replay(harness, { deliveryId: waiting.id })).rejects.toMatchObject({ code: 'Conflict' })
    const webhook = (await harness.store.webhooks.read('acc', 'w1'))!
    const disabled = { ...webhook, settings: { ...webhook.settings, enabled: false }, revision: 2, epoch: 2 }
    await harness.store.webhooks.replace(disabled, 1)
    await expect(replay(harness, { deliveryId })).rejects.toMatchObject({
      code: 'Conflict',
      field: 'enabled',
    })
  })
})
