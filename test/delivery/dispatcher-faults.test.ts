import { describe, expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld, headerOf, silent } from './world.js'

const states = async (world: Awaited<ReturnType<typeof deliveryWorld>>, webhookId = 'w1') =>
  (await world.deliveries(webhookId)).map(({ state }) => state)

describe('an answer of the receiver', () => {
  it('that asks for patience pauses the whole endpoint and no other', async () => {
    const world = await deliveryWorld([aWebhook(), aWebhook({}, { id: 'w2' })])
    let asked = 0
    world.sender.script = (request) => {
      const { call_id } = JSON.parse(request.body!)
      return call_id === 'a' && asked++ === 0 ? answered(429, ['Retry-After', '60']) : answered(200)
    }
    const node = world.node()
    await node.start()
    await world.publish('a')
    await world.clock.settle()
    await world.publish('b')
    await world.clock.advance(59_999)
    expect(world.sent().sort()).toEqual(['a', 'a', 'b'])
    expect(await states(world, 'w1')).toEqual(['waiting', 'waiting'])
    expect(await states(world, 'w2')).toEqual(['delivered', 'delivered'])
    await world.clock.advance(1)
    expect(await states(world, 'w1')).toEqual(['delivered', 'delivered'])
    await node.close(0)
  })

  it('of 410 disables the webhook and cancels what is pending, each with a record', async () => {
    const world = await deliveryWorld()
    world.sender.script = () => answered(410)
    const node = world.node({ caps: { perEndpoint: 1 } })
    for (const call of ['a', 'a', 'b', 'c']) await world.publish(call)
    await node.start()
    await world.clock.settle()
    expect(world.sender.requests).toHaveLength(1)
    expect(await world.store.webhooks.read('acc', 'w1')).toMatchObject({
      settings: { enabled: false },
      disableReason: 'gone',
      epoch: 2,
    })
    expect(await states(world)).toEqual(new Array(4).fill('cancelled'))
    const records = await world.attempts()
    expect(records.map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'bad response code'],
      [undefined, 'cancelled'],
      [undefined, 'cancelled'],
      [undefined, 'cancelled'],
    ])
    expect(world.told).toContainEqual({
      name: 'webhook_disabled',
      payload: { webhookId: 'w1', accountId: 'acc', reason: 'gone' },
    })
    expect(world.told.filter(({ name }) => name === 'cancelled')).toHaveLength(4)
    expect(await world.store.deliveries.pending()).toBe(0)
    await node.close(0)
  })
})

describe('an event that is too old when its turn comes', () => {
  it('ends unsent, frees its lane, and is told', async () => {
    const world = await deliveryWorld([aWebhook({ maxAgeSeconds: 30, retries: 1 })])
    world.sender.script = () => answered(500)
    const node = world.node({ policy: constant(60_000, { jitter: 0 }) })
    await node.start()
    await world.publish('a')
    await world.publish('a')
    await world.clock.settle()
    await world.clock.advance(60_000)
    expect(world.sender.requests).toHaveLength(1)
    expect(await states(world)).toEqual(['expired', 'expired'])
    const [, first, second] = await world.attempts()
    for (const record of [first, second]) {
      expect(record).toMatchObject({ result: 'failure', reason: 'expired', method: 'post' })
      expect(record).not.toHaveProperty('attempt')
      expect(record).not.toHaveProperty('requestHeaders')
    }
    await node.close(0)
  })

  it('is sent all the same when it was replayed on purpose', async () => {
    const world = await deliveryWorld([aWebhook({ maxAgeSeconds: 1 })])
    const node = world.node()
    await world.publish('a')
    await world.clock.advance(5000)
    await node.start()
    await world.clock.settle()
    const [old] = await world.deliveries()
    expect(old?.state).toBe('expired')
    const { id: _, ahead: _a, position: _p, ...again } = old!
    await world.store.deliveries.accept(
      {
        events: [],
        deliveries: [{ ...again, id: 'again', lane: 'replay/1', replayOf: old!.id }],
        maxPending: 9,
      },
      world.clock.now(),
    )
    await world.clock.settle()
    expect(await states(world)).toEqual(['expired', 'delivered'])
    await node.close(0)
  })
})

describe('a fault of ours', () => {
  it.each([
    ['that the sender observed', () => ({ kind: 'own_fault', detail: 'EMFILE' }) as const],
    [
      'that the sender threw',
      () => {
        throw new Error('against its promise')
      },
    ],
  ])('%s is tried again until it is over, and charged to nobody', async (_, fault) => {
    const world = await deliveryWorld([aWebhook({ retries: 0 })])
    world.sender.script = fault
    const node = world.node()
    await node.start()
    await world.publish('a')
    await world.clock.advance(20_000)
    const soFar = world.sender.requests.length
    // After 1, 2, 4 and 8 seconds, each spread by half.
    expect(soFar).toBeGreaterThan(3)
    expect(soFar).toBeLessThan(8)
    expect((await world.deliveries())[0]).toMatchObject({ state: 'waiting', tries: 0, attempts: soFar })
    expect((await world.store.webhooks.read('acc', 'w1'))?.health).toBeUndefined()
    world.sender.script = () => answered(200)
    await world.clock.advance(60_000)
    expect((await world.deliveries())[0]).toMatchObject({ state: 'delivered', tries: 1 })
    await node.close(0)
  })

  it('says why in the log, one line a while, and owners of webhooks are not told', async () => {
    const world = await deliveryWorld([aWebhook({ retries: 0 })])
    const lines: unknown[] = []
    const log = { ...silent, warn: (fields: object) => void lines.push(fields) }
    world.sender.script = () => ({ kind: 'own_fault', detail: 'the proxy answered 407' })
    const node = world.node({}, { log })
    await node.start()
    for (let call = 0; call < 20; call++) await world.publish(`call-${call}`)
    await world.clock.settle()
    expect(lines).toEqual([{ reason: 'the proxy answered 407' }])
    await world.clock.advance(30_000)
    expect(lines.length).toBeGreaterThan(1)
    expect(lines.length).toBeLessThanOrEqual(4)
    expect(JSON.stringify([await world.attempts(), await world.deliveries()])).not.toContain('proxy')
    await node.close(0)
  })

  it('that prevents the request itself sets the delivery aside and holds up nobody', async () => {
    const world = await deliveryWorld([aWebhook(), aWebhook({}, { id: 'w2' })])
    const node = world.node({
      caps: { perEndpoint: 1 },
      material(webhook) {
        if (webhook.id === 'w1') throw new Error('unreadable')
        return { keys: [], headers: [] }
      },
    })
    await node.start()
    await world.publish('a')
    await world.publish('b')
    await world.clock.settle()
    expect(await states(world, 'w1')).toEqual(['quarantined', 'quarantined'])
    expect(await states(world, 'w2')).toEqual(['delivered', 'delivered'])
    expect(node.inFlight('w1')).toBe(0)
    await node.close(0)
  })
})

describe('while the store is out', () => {
  it('outcomes wait for it: nothing is lost, nothing is sent twice', async () => {
    const world = await deliveryWorld()
    const node = world.node({ caps: { perEndpoint: 3 } })
    await node.start()
    world.faults.out.add('settle')
    for (let call = 0; call < 8; call++) await world.publish(`call-${call}`)
    await world.clock.advance(60_000)
    expect(world.sender.requests).toHaveLength(3)
    expect(node.inFlight('w1')).toBe(3)
    world.faults.out.clear()
    await world.clock.advance(5000)
    expect(await states(world)).toEqual(new Array(8).fill('delivered'))
    expect(world.sender.requests).toHaveLength(8)
    await node.close(0)
  })

  it('claiming is tried again until it is back', async () => {
    const world = await deliveryWorld()
    const node = world.node()
    await node.start()
    world.faults.out.add('claim')
    await world.publish('a')
    await world.clock.advance(30_000)
    expect(world.sender.requests).toHaveLength(0)
    world.faults.out.clear()
    await world.clock.advance(250)
    expect(await states(world)).toEqual(['delivered'])
    await node.close(0)
  })

  it('looking for work at the start is tried again until it is back', async () => {
    const world = await deliveryWorld()
    await world.publish('a')
    world.faults.out.add('ready')
    const node = world.node()
    const started = node.start()
    await world.clock.advance(5000)
    expect(world.sender.requests).toHaveLength(0)
    world.faults.out.clear()
    await world.clock.advance(250)
    await started
    expect(await states(world)).toEqual(['delivered'])
    await node.close(0)
  })

  it('a settlement that was written though it seemed to fail does not lose the next of its call', async () => {
    const world = await deliveryWorld()
    const node = world.node()
    await node.start()
    world.sender.script = () => undefined
    await world.publish('a')
    await world.publish('a')
    await world.clock.settle()
    world.faults.unheard.add('settle')
    world.sender.script = () => answered(200)
    world.sender.open[0]!.answer(answered(200))
    await world.clock.settle()
    world.faults.unheard.clear()
    await world.clock.advance(5000)
    expect(await states(world)).toEqual(['delivered', 'delivered'])
    expect(world.sender.requests).toHaveLength(2)
    await node.close(0)
  })

  it('what is written late does not undo a pause that was decided after it', async () => {
    const world = await deliveryWorld([aWebhook({ ordering: 'none' })])
    world.sender.script = () => undefined
    const node = world.node({ policy: constant(2000, { jitter: 0 }) })
    await node.start()
    await world.publish('slow-to-settle')
    await world.publish('throttled')
    await world.clock.settle()
    const [first, second] = world.sender.open
    world.faults.out.add('settle')
    first!.answer(answered(500))
    await world.clock.advance(50)
    world.faults.out.clear()
    second!.answer(answered(503, ['retry-after', '300']))
    await world.clock.settle()
    const paused = (await world.store.webhooks.read('acc', 'w1'))?.health
    expect(paused).toMatchObject({ failuresInRow: 2 })
    await world.clock.advance(1000)
    expect(await states(world)).toEqual(['waiting', 'waiting'])
    expect((await world.store.webhooks.read('acc', 'w1'))?.health).toEqual(paused)
    await world.clock.advance(200_000)
    expect(world.sender.requests).toHaveLength(2)
    expect(headerOf(world.sender.requests[0]!, 'x-hook-attempt')).toBe('1')
    await node.close(0)
  })
})
