import { describe, expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import { aWebhook } from './fixtures.js'
import { createHarness, headerOf, responseWith, silentLog } from './harness.js'

const states = async (harness: Awaited<ReturnType<typeof createHarness>>, webhookId = 'w1') =>
  (await harness.deliveries(webhookId)).map(({ state }) => state)

describe('an answer of a receiver', () => {
  it('with a throttling status pauses the whole endpoint and no other', async () => {
    const harness = await createHarness([aWebhook(), aWebhook({}, { id: 'w2' })])
    let throttled = 0
    harness.sender.script = (request) => {
      const { call_id } = JSON.parse(request.body!)
      return call_id === 'a' && throttled++ === 0
        ? responseWith(429, ['Retry-After', '60'])
        : responseWith(200)
    }
    const node = harness.node()
    await node.start()
    await harness.publish('a')
    await harness.clock.settle()
    await harness.publish('b')
    await harness.clock.advance(59_999)
    expect(harness.sent().sort()).toEqual(['a', 'a', 'b'])
    expect(await states(harness, 'w1')).toEqual(['waiting', 'waiting'])
    expect(await states(harness, 'w2')).toEqual(['delivered', 'delivered'])
    // One request goes first, at a rate that begins low.
    await harness.clock.advance(1)
    expect((await states(harness, 'w1')).toSorted()).toEqual(['delivered', 'waiting'])
    await harness.clock.advance(6_000)
    expect(await states(harness, 'w1')).toEqual(['delivered', 'delivered'])
    await node.close(0)
  })

  it('of 410 disables the webhook and cancels its pending deliveries, each with a record', async () => {
    const harness = await createHarness()
    harness.sender.script = () => responseWith(410)
    const node = harness.node({ caps: { perEndpoint: 1 } })
    for (const call of ['a', 'a', 'b', 'c']) await harness.publish(call)
    await node.start()
    await harness.clock.settle()
    expect(harness.sender.requests).toHaveLength(1)
    expect(await harness.store.webhooks.read('acc', 'w1')).toMatchObject({
      settings: { enabled: false },
      disableReason: 'gone',
      epoch: 2,
    })
    expect(await states(harness)).toEqual(new Array(4).fill('cancelled'))
    const records = await harness.attempts()
    expect(records.map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'bad status'],
      [undefined, 'cancelled'],
      [undefined, 'cancelled'],
      [undefined, 'cancelled'],
    ])
    expect(harness.emitted).toContainEqual({
      name: 'webhook_disabled',
      payload: { webhookId: 'w1', accountId: 'acc', reason: 'gone' },
    })
    expect(harness.emitted.filter(({ name }) => name === 'cancelled')).toHaveLength(4)
    expect(await harness.pending()).toBe(0)
    await node.close(0)
  })
})

describe('an event that is too old when it is due', () => {
  it('expires without a request and frees its lane', async () => {
    const harness = await createHarness([aWebhook({ maxAgeSeconds: 30, retries: 1 })])
    harness.sender.script = () => responseWith(500)
    const node = harness.node({ policy: constant(60_000, { jitter: 0 }) })
    await node.start()
    await harness.publish('a')
    await harness.publish('a')
    await harness.clock.settle()
    await harness.clock.advance(60_000)
    expect(harness.sender.requests).toHaveLength(1)
    expect(await states(harness)).toEqual(['expired', 'expired'])
    const [, first, second] = await harness.attempts()
    for (const record of [first, second]) {
      expect(record).toMatchObject({ result: 'failure', reason: 'expired', method: 'post' })
      expect(record).not.toHaveProperty('attempt')
      expect(record).not.toHaveProperty('requestHeaders')
    }
    await node.close(0)
  })

  it('is still sent when it is replayed', async () => {
    const harness = await createHarness([aWebhook({ maxAgeSeconds: 1 })])
    const node = harness.node()
    await harness.publish('a')
    await harness.clock.advance(5000)
    await node.start()
    await harness.clock.settle()
    const [old] = await harness.deliveries()
    expect(old?.state).toBe('expired')
    const { id: _, ahead: _a, position: _p, ...again } = old!
    await node.accept({
      events: [],
      deliveries: [{ ...again, id: 'again', lane: 'replay/1', replayOf: old!.id }],
    })
    await harness.clock.settle()
    expect(await states(harness)).toEqual(['expired', 'delivered'])
    await node.close(0)
  })
})

describe('an internal fault', () => {
  it.each([
    ['observed by the sender', () => ({ kind: 'own_fault', detail: 'EMFILE' }) as const],
    [
      'thrown by the sender',
      () => {
        throw new Error('a broken contract')
      },
    ],
  ])('%s is retried until it ends, and is not charged to the webhook', async (_, fault) => {
    const harness = await createHarness([aWebhook({ retries: 0 })])
    harness.sender.script = fault
    const node = harness.node()
    await node.start()
    await harness.publish('a')
    await harness.clock.advance(20_000)
    const attempts = harness.sender.requests.length
    // After 1, 2, 4 and 8 seconds, each ±50 %.
    expect(attempts).toBeGreaterThan(3)
    expect(attempts).toBeLessThan(8)
    expect((await harness.deliveries())[0]).toMatchObject({ state: 'waiting', tries: 0, attempts })
    expect((await harness.store.webhooks.read('acc', 'w1'))?.health).toBeUndefined()
    harness.sender.script = () => responseWith(200)
    await harness.clock.advance(60_000)
    expect((await harness.deliveries())[0]).toMatchObject({ state: 'delivered', tries: 1 })
    await node.close(0)
  })

  it('is logged with its reason, and is not shown to owners of webhooks', async () => {
    const harness = await createHarness([aWebhook({ retries: 0 })])
    const lines: unknown[] = []
    const log = { ...silentLog, warn: (fields: object) => void lines.push(fields) }
    harness.sender.script = () => ({ kind: 'own_fault', detail: 'the proxy answered 407' })
    const node = harness.node({}, { log })
    await node.start()
    for (let call = 0; call < 20; call++) await harness.publish(`call-${call}`)
    await harness.clock.settle()
    expect(lines).toEqual(Array(20).fill({ reason: 'the proxy answered 407' }))
    expect(JSON.stringify([await harness.attempts(), await harness.deliveries()])).not.toContain('proxy')
    await node.close(0)
  })

  it('that prevents building the request quarantines the delivery and delays no other webhook', async () => {
    const harness = await createHarness([aWebhook(), aWebhook({}, { id: 'w2' })])
    const node = harness.node({
      caps: { perEndpoint: 1 },
      endpointSecrets(webhook) {
        if (webhook.id === 'w1') throw new Error('unreadable')
        return { keys: [], headers: [] }
      },
    })
    await node.start()
    await harness.publish('a')
    await harness.publish('b')
    await harness.clock.settle()
    expect(await states(harness, 'w1')).toEqual(['quarantined', 'quarantined'])
    expect(await states(harness, 'w2')).toEqual(['delivered', 'delivered'])
    expect(node.inFlight('w1')).toBe(0)
    await node.close(0)
  })
})

describe('while the store is unavailable', () => {
  it('settlements wait: nothing is lost, nothing is sent twice', async () => {
    const harness = await createHarness()
    const node = harness.node({ caps: { perEndpoint: 3 } })
    await node.start()
    await harness.publish('warm-up')
    await harness.clock.settle()
    harness.sender.script = () => undefined
    for (let call = 1; call < 8; call++) await harness.publish(`call-${call}`)
    await harness.clock.settle()
    harness.faults.failing.add('commit')
    harness.sender.script = () => responseWith(200)
    for (const { answer } of [...harness.sender.open]) answer(responseWith(200))
    await harness.clock.advance(60_000)
    expect(harness.sender.requests).toHaveLength(4)
    harness.faults.failing.clear()
    await harness.clock.advance(5000)
    expect(await states(harness)).toEqual(new Array(8).fill('delivered'))
    expect(harness.sender.requests).toHaveLength(8)
    await node.close(0)
  })

  it('starts are retried until it is back', async () => {
    const harness = await createHarness()
    const node = harness.node()
    await harness.publish('a')
    harness.faults.failing.add('commit')
    await node.start()
    await harness.clock.advance(30_000)
    expect(harness.sender.requests).toHaveLength(0)
    harness.faults.failing.clear()
    await harness.clock.advance(5000)
    expect(await states(harness)).toEqual(['delivered'])
    expect(harness.sender.requests).toHaveLength(1)
    await node.close(0)
  })

  it.each(['load', 'completeTakeover', 'bodies'] as const)(
    '%s at the start is retried until it is back',
    async (name) => {
      const harness = await createHarness()
      await harness.publish('a')
      harness.faults.failing.add(name)
      const node = harness.node()
      const started = node.start()
      await harness.clock.advance(5000)
      expect(harness.sender.requests).toHaveLength(0)
      harness.faults.failing.clear()
      await harness.clock.advance(5000)
      await started
      expect(await states(harness)).toEqual(['delivered'])
      await node.close(0)
    },
  )

  it('a settlement that committed although its call failed does not lose the next delivery of the call', async () => {
    const harness = await createHarness()
    const node = harness.node()
    await node.start()
    harness.sender.script = () => undefined
    await harness.publish('a')
    await harness.publish('a')
    await harness.clock.settle()
    harness.faults.losesAnswer.add('commit')
    harness.sender.script = () => responseWith(200)
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    harness.faults.losesAnswer.clear()
    await harness.clock.advance(5000)
    expect(await states(harness)).toEqual(['delivered', 'delivered'])
    expect(harness.sender.requests).toHaveLength(2)
    await node.close(0)
  })

  it('a settlement that is written late does not undo a pause that was decided after it', async () => {
    const harness = await createHarness([aWebhook({ ordering: 'none' })])
    harness.sender.script = () => undefined
    const node = harness.node({ policy: constant(2000, { jitter: 0 }) })
    await node.start()
    await harness.publish('slow-to-settle')
    await harness.publish('throttled')
    await harness.clock.settle()
    const [first, second] = harness.sender.open
    harness.faults.failing.add('commit')
    first!.answer(responseWith(500))
    await harness.clock.advance(50)
    harness.faults.failing.clear()
    second!.answer(responseWith(503, ['retry-after', '300']))
    await harness.clock.advance(100)
    const paused = (await harness.store.webhooks.read('acc', 'w1'))?.health
    expect(paused).toMatchObject({ failuresInRow: 2 })
    await harness.clock.advance(1000)
    expect(await states(harness)).toEqual(['waiting', 'waiting'])
    expect((await harness.store.webhooks.read('acc', 'w1'))?.health).toEqual(paused)
    await harness.clock.advance(200_000)
    expect(harness.sender.requests).toHaveLength(2)
    expect(headerOf(harness.sender.requests[0]!, 'x-hook-attempt')).toBe('1')
    await node.close(0)
  })
})
