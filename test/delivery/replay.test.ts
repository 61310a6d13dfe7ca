import { describe, expect, it } from 'vitest'
import { replayByJob, replayDelivery } from '../../src/delivery/replay.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, headerOf, responseWith } from './harness.js'

const replay = (harness: Harness, deliveryId: string, webhookId = 'w1', accountId = 'acc') =>
  replayDelivery({ ...harness.accept, ...harness.store }, accountId, webhookId, deliveryId)

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

describe('the replay of one delivery', () => {
  it('sends the same bytes under a new id, refers to the original, and marks it', async () => {
    const { harness, node, old } = await createEndedDeliveries()
    const body = '{"hook_event":"channel_create"'
    const id = await replay(harness, old[0]!.id)
    await harness.clock.settle()
    const [request] = harness.sender.requests
    expect(headerOf(request!, 'webhook-id')).toBe(id)
    expect(request!.body!.startsWith(body)).toBe(true)
    expect(JSON.parse(request!.body!)).toMatchObject({ event_id: old[0]!.eventId, sequence: 1 })
    const replayed = await harness.store.deliveries.delivery('acc', id)
    expect(replayed).toMatchObject({
      state: 'delivered',
      replayOf: old[0]!.id,
      originalPosition: old[0]!.position,
      eventId: old[0]!.eventId,
      callId: 'a',
    })
    const replays = { lastId: id, lastAcceptedMs: replayed!.acceptedMs, hasRecovered: true }
    expect(await harness.store.deliveries.delivery('acc', old[0]!.id)).toEqual({ ...old[0], replays })
    await node.close(0)
  })

  it('that is a replay itself repeats the original', async () => {
    const { harness, node, old } = await createEndedDeliveries()
    const first = await replay(harness, old[1]!.id)
    await harness.clock.advance(60_000)
    const second = await replay(harness, first)
    await harness.clock.advance(60_000)
    expect(await harness.store.deliveries.delivery('acc', second)).toMatchObject({ replayOf: old[1]!.id })
    const original = await harness.store.deliveries.delivery('acc', old[1]!.id)
    expect(original!.replays).toMatchObject({ lastId: second, hasRecovered: false })
    await node.close(0)
  })

  it('is refused for deliveries that do not exist, have not ended, or cannot be sent', async () => {
    const { harness, node, old } = await createEndedDeliveries()
    const deliveryId = old[0]!.id
    const unknown = { code: 'NotFound', id: 'unknown' }
    await expect(replay(harness, 'unknown')).rejects.toMatchObject(unknown)
    await expect(replay(harness, deliveryId, 'unknown')).rejects.toMatchObject(unknown)
    await expect(replay(harness, deliveryId, 'w2')).rejects.toMatchObject({ code: 'NotFound' })
    await expect(replay(harness, deliveryId, 'w1', 'sub')).rejects.toMatchObject({
      code: 'NotFound',
      id: 'w1',
    })
    await node.close(0)
    await harness.publish('d')
    const waiting = (await harness.deliveries()).at(-1)!
    await expect(replay(harness, waiting.id)).rejects.toMatchObject({ code: 'Conflict' })
    const webhook = (await harness.store.webhooks.read('acc', 'w1'))!
    const disabled = { ...webhook, settings: { ...webhook.settings, enabled: false }, revision: 2, epoch: 2 }
    await harness.store.webhooks.replace(disabled, 1)
    await expect(replay(harness, deliveryId)).rejects.toMatchObject({ code: 'Conflict', field: 'enabled' })
  })
})

describe('the replay of a delivery by a job', () => {
  it('has an id that follows from the original, its newest replay and the salt, and a lane of its call', async () => {
    const { node, old } = await createEndedDeliveries()
    const delivery = old[0]!
    const idOf = (changes: object, salt = 0) =>
      replayByJob({ ...delivery, ...changes }, { epoch: 1 }, 'job', salt).id
    const replays = { lastId: 'r', lastAcceptedMs: 1, hasRecovered: false }
    const ids = [
      idOf({}),
      idOf({}, 1),
      idOf({ replays }),
      idOf({ webhookId: 'w2' }),
      idOf({ id: old[1]!.id }),
    ]
    expect(new Set(ids).size).toBe(5)
    expect(ids.every((id) => id.length === 32 && id.startsWith(delivery.eventId.slice(0, 24)))).toBe(true)
    expect(replayByJob(delivery, { epoch: 1 }, 'other', 0).id).toBe(ids[0])
    const laneOf = (changes: object) => replayByJob({ ...delivery, ...changes }, { epoch: 1 }, 'job', 0).lane
    expect(laneOf({})).toBe('replay/job/acc/a')
    // Not ordered, or without a call: it waits for nothing.
    expect(laneOf({ lane: '-/x' })).toBe(`replay/${ids[0]}`)
    expect(laneOf({ callId: undefined })).toBe(`replay/${ids[0]}`)
    await node.close(0)
  })
})
