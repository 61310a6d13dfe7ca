import { describe, expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import type { Observation } from '../../src/ports.js'
import { HEALTH_PRESETS, type Health } from '../../src/webhooks/health.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, type NodeOptions, responseWith } from './harness.js'

const refused: Observation = {
  kind: 'no_response',
  failure: 'connection',
  detail: '',
  cause: 'refused',
  isSent: false,
}

/** A node without jitter. */
const nodeWithoutJitter = (harness: Harness, options: NodeOptions = {}) =>
  harness.node(options, { random: { ...harness.random, fraction: () => 0 } })
const healthOf = async (harness: Harness, id = 'w1') => (await harness.store.webhooks.read('acc', id))?.health
const statesOf = async (harness: Harness, id = 'w1') =>
  (await harness.deliveries(id)).map(({ state }) => state)

describe('an endpoint that rejects ten deliveries in a row', () => {
  it('is paused, then probed with single deliveries, and served again after one succeeds', async () => {
    const harness = await createHarness([aWebhook({ retries: 0 })])
    harness.sender.script = () => responseWith(500)
    const node = nodeWithoutJitter(harness)
    await node.start()
    await harness.publish('first')
    await harness.clock.settle()
    await Promise.all(Array.from({ length: 29 }, (_, call) => harness.publish(`call-${call}`)))
    await harness.clock.settle()
    // Ten were in flight when the tenth failed; the other nineteen wait.
    expect(harness.sender.requests).toHaveLength(11)
    await harness.clock.advance(4_999)
    expect(harness.sender.requests).toHaveLength(11)
    await harness.clock.advance(1)
    expect(harness.sender.requests).toHaveLength(12)
    await harness.clock.advance(9_999)
    expect(harness.sender.requests).toHaveLength(12)
    harness.sender.script = () => responseWith(200)
    await harness.clock.advance(1)
    expect(harness.sender.requests).toHaveLength(30)
    expect(harness.sender.maxOpen).toBeLessThanOrEqual(10)
    expect(await healthOf(harness)).toBeUndefined()
    expect(harness.emitted.map(({ name }) => name).filter((name) => name.startsWith('webhook_'))).toEqual([
      'webhook_paused',
      'webhook_resumed',
    ])
    await node.close(0)
  })

  it('is probed with one request at a time by a node that has just started', async () => {
    const harness = await createHarness([aWebhook({ retries: 0 })])
    harness.sender.script = () => responseWith(500)
    const first = nodeWithoutJitter(harness)
    await first.start()
    for (let call = 0; call < 30; call++) await harness.publish(`call-${call}`)
    await harness.clock.settle()
    const failed = harness.sender.requests.length
    await first.close(0)
    harness.sender.script = () => undefined
    const second = nodeWithoutJitter(harness)
    await second.start()
    await harness.clock.advance(30_000)
    expect(harness.sender.requests).toHaveLength(failed + 1)
    expect(second.inFlight('w1')).toBe(1)
    await second.close(0)
  })

  it('is probed at a random moment, not together with all others that failed with it', async () => {
    const webhooks = Array.from({ length: 40 }, (_, index) => aWebhook({ retries: 0 }, { id: `w${index}` }))
    const harness = await createHarness(webhooks)
    harness.sender.script = () => responseWith(500)
    const node = harness.node({ caps: { total: 1000, perAccount: 1000, perOrigin: 1000 } })
    await node.start()
    await harness.publish('first')
    await harness.clock.settle()
    await Promise.all(Array.from({ length: 12 }, (_, call) => harness.publish(`call-${call}`)))
    await harness.clock.settle()
    expect(harness.sender.requests).toHaveLength(440)
    await harness.clock.advance(5_000)
    expect(harness.sender.requests).toHaveLength(480)
    // 8 to 10 s after the first probe.
    await harness.clock.advance(7_999)
    expect(harness.sender.requests).toHaveLength(480)
    const probes: number[] = []
    for (let part = 0; part < 5; part++) {
      const before = harness.sender.requests.length
      await harness.clock.advance(401)
      probes.push(harness.sender.requests.length - before)
    }
    expect(probes.reduce((sum, probe) => sum + probe, 0)).toBe(40)
    expect(Math.max(...probes)).toBeLessThanOrEqual(20)
    await node.close(0)
  })

  it('delays no other endpoint', async () => {
    const harness = await createHarness([aWebhook({ retries: 0 }), aWebhook({}, { id: 'w2' })])
    harness.sender.script = (request) =>
      request.headers.includes('w1') ? responseWith(500) : responseWith(200)
    const node = harness.node({
      endpointSecrets: (webhook) => ({ keys: [], headers: ['X-Hook-ID', webhook.id] }),
    })
    await node.start()
    for (let call = 0; call < 30; call++) await harness.publish(`call-${call}`)
    await harness.clock.settle()
    const states = (await harness.deliveries('w2')).map(({ state }) => state)
    expect(states).toEqual(new Array(30).fill('delivered'))
    await node.close(0)
  })
})

describe('an endpoint that cannot be reached', () => {
  /** Three deliveries were refused: the endpoint is paused. */
  async function openPause(settings: Parameters<typeof aWebhook>[0] = { retries: 1 }) {
    const harness = await createHarness([aWebhook(settings)])
    harness.sender.script = () => refused
    const node = nodeWithoutJitter(harness)
    await node.start()
    for (const call of ['a', 'b', 'c', 'd', 'e']) {
      await harness.publish(call)
      await harness.clock.settle()
    }
    expect((await healthOf(harness))?.pause?.kind).toBe('unavailable')
    expect(harness.sender.requests).toHaveLength(3)
    return { harness, node }
  }

  it('is probed by connecting alone: that is no attempt, costs nothing and leaves no record', async () => {
    const { harness, node } = await openPause()
    const began = harness.clock.now()
    await harness.clock.advance(600_000)
    // 5, 15, 30, …, then every minute.
    const { length } = harness.sender.requests
    expect(length).toBeGreaterThan(20)
    expect(length).toBeLessThan(35)
    expect(await harness.attempts()).toHaveLength(3)
    const health = await healthOf(harness)
    expect(health).toMatchObject({ failuresInRow: 3, checkCause: 'refused' })
    expect(health!.checkedMs).toBeGreaterThan(began + 500_000)
    for (const { state, attempts, tries } of await harness.deliveries())
      expect([state, attempts <= 1, tries]).toEqual(['waiting', true, 0])
    await node.close(0)
  })

  it('gets everything, oldest first, when it can be reached again, one request first', async () => {
    const { harness, node } = await openPause()
    await harness.clock.advance(3_600_000)
    const before = harness.sender.requests.length
    harness.sender.script = () => undefined
    await harness.clock.advance(60_000)
    expect(harness.sender.open).toHaveLength(1)
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    expect(harness.sender.open).toHaveLength(1)
    harness.sender.script = () => responseWith(200)
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    expect(await statesOf(harness)).toEqual(new Array(5).fill('delivered'))
    const after = harness.sent().slice(before + 1)
    expect(after).toEqual([...after].sort())
    await node.close(0)
  })

  it('is probed at least every five seconds if deliveries soon become too old, and those expire', async () => {
    const { harness, node } = await openPause({ maxAgeSeconds: 6 })
    await harness.clock.advance(60_000)
    expect(new Set(await statesOf(harness))).toEqual(new Set(['expired']))
    await node.close(0)
  })

  it('is given no request more than its retries allow, but probes', async () => {
    const harness = await createHarness([aWebhook({ retries: 2 })])
    harness.sender.script = () => ({ kind: 'no_response', failure: 'timeout', detail: '' })
    const node = nodeWithoutJitter(harness)
    await node.start()
    await harness.publish('alone')
    await harness.clock.settle()
    const times: number[] = []
    for (let second = 0, seen = 1; second < 70; second++) {
      await harness.clock.advance(1000)
      const { length } = harness.sender.requests
      if (length > seen) times.push(second + 1)
      seen = length
    }
    // Its own schedule (80 % of 2 and 6 s), then the probes of the pause that opens with the third attempt.
    expect(times).toEqual([2, 7, 12, 22, 37, 52, 67])
    expect((await healthOf(harness))?.pause).toMatchObject({ kind: 'unavailable' })
    expect((await harness.deliveries())[0]).toMatchObject({ state: 'waiting', attempts: 8, tries: 0 })
    await node.close(0)
  })
})

describe('the time that an answer is waited for', () => {
  it('is 30 s for probes once the receiver has failed for five minutes, and the limit of an attempt before', async () => {
    const harness = await createHarness()
    harness.sender.script = () => ({ kind: 'no_response', failure: 'timeout', detail: '' })
    const node = nodeWithoutJitter(harness)
    await node.start()
    for (const call of ['a', 'b', 'c']) await harness.publish(call)
    await harness.clock.advance(299_000)
    expect(new Set(harness.sender.requests.map(({ deadlineMs }) => deadlineMs))).toEqual(new Set([10_000]))
    harness.sender.requests.length = 0
    await harness.clock.advance(1_200_000)
    // The first may be one that was due before.
    expect(new Set(harness.sender.requests.slice(1).map(({ deadlineMs }) => deadlineMs))).toEqual(
      new Set([30_000]),
    )
    await node.close(0)
  })

  it('is 30 s, with one request at a time, while answers are late', async () => {
    const late: Health = { failuresInRow: 0, lateMs: 12_000 }
    const harness = await createHarness([aWebhook({}, { health: late })])
    harness.sender.script = () => undefined
    const node = nodeWithoutJitter(harness)
    await node.start()
    for (const call of ['a', 'b', 'c']) await harness.publish(call)
    await harness.clock.settle()
    expect(harness.sender.open.map(({ request }) => request.deadlineMs)).toEqual([30_000])
    await harness.clock.advance(12_000)
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    expect((await harness.attempts())[0]).toMatchObject({ result: 'success', late: true })
    expect(await healthOf(harness)).toEqual({ failuresInRow: 0, lateMs: 12_000 })
    expect(harness.sender.open).toHaveLength(1)
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    expect(await healthOf(harness)).toBeUndefined()
    expect(harness.sender.open[0]!.request.deadlineMs).toBe(10_000)
    await node.close(0)
  })
})

describe('a paused endpoint', () => {
  it('is probed within five seconds after another webhook of its origin was answered with a success', async () => {
    const uri = 'https://shared.example.com/'
    const harness = await createHarness([
      aWebhook({ uri, hook: 'channel_create' }),
      aWebhook({ uri, hook: 'channel_answer' }, { id: 'w2' }),
    ])
    harness.sender.script = () => refused
    const node = harness.node({}, { random: { ...harness.random, fraction: () => 0.99 } })
    await node.start()
    for (const call of ['a', 'b', 'c']) await harness.publish(call)
    await harness.clock.advance(25_000)
    for (const call of ['a', 'b', 'c']) await harness.publish(call, { hook: 'channel_answer' })
    await harness.clock.advance(1_200_000)
    harness.sender.script = () => responseWith(200)
    const isServed = async (id: string) => (await healthOf(harness, id)) === undefined
    const served: Record<string, number> = {}
    for (let step = 0; step < 100 && Object.keys(served).length < 2; step++) {
      await harness.clock.advance(1000)
      for (const id of ['w1', 'w2']) if (await isServed(id)) served[id] ??= step
    }
    expect(Math.abs(served.w1! - served.w2!)).toBeLessThanOrEqual(5)
    await node.close(0)
  })
})

describe('an endpoint that has been failing for a day', () => {
  it('is reported once, until it has succeeded and failed for another day', async () => {
    const harness = await createHarness([aWebhook({ maxAgeSeconds: 1_000_000 })])
    harness.sender.script = () => refused
    const node = harness.node()
    await node.start()
    const reports = () => harness.emitted.filter(({ name }) => name === 'webhook_failing')
    await harness.publish('first')
    await harness.clock.settle()
    const failingSinceMs = (await healthOf(harness))!.failingSinceMs!
    await harness.clock.advance(86_000_000)
    expect(reports()).toEqual([])
    await harness.clock.advance(4_000_000)
    expect(reports().map(({ payload }) => payload)).toMatchObject([
      { webhookId: 'w1', accountId: 'acc', failingSinceMs, reason: 'refused' },
    ])
    harness.sender.script = () => responseWith(200)
    await harness.clock.advance(70_000)
    expect(await healthOf(harness)).toBeUndefined()
    harness.sender.script = () => refused
    await harness.publish('second')
    await harness.clock.advance(90_000_000)
    expect(reports()).toHaveLength(2)
    await node.close(0)
  })
})

describe('a global outage', () => {
  const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) =>
    aWebhook({ uri: `https://${id}.example.com/`, retries: 1 }, { id }),
  )

  it('disables nothing and costs no try, however long it lasts; the first answer makes all due within 15 s', async () => {
    const harness = await createHarness(six)
    harness.sender.script = () => refused
    const node = harness.node()
    await node.start()
    for (let call = 0; call < 5; call++) {
      await harness.publish(`call-${call}`)
      await harness.clock.advance(120)
    }
    await harness.clock.advance(20 * 3_600_000)
    for (const { id } of six) {
      expect((await healthOf(harness, id))?.countsSinceMs).toBeUndefined()
      for (const { state, tries } of await harness.deliveries(id))
        expect([state, tries]).toEqual(['waiting', 0])
    }
    harness.sender.script = () => responseWith(200)
    let waited = 0
    while ((await anyDelivered(harness)) === 0) {
      await harness.clock.advance(1000)
      expect(++waited).toBeLessThanOrEqual(60)
    }
    await harness.clock.advance(15_000)
    for (const { id } of six) expect(new Set(await statesOf(harness, id))).toEqual(new Set(['delivered']))
    await node.close(0)
  })

  it('gives no delivery up: one that becomes too old meanwhile does not count', async () => {
    const settings = {
      hook: 'channel_answer',
      retries: 1,
      maxAgeSeconds: 60,
      uri: 'https://brief.example.com/',
    }
    const givenUp = async (webhooks: typeof six) => {
      const harness = await createHarness([aWebhook(settings, { id: 'brief' }), ...webhooks])
      harness.sender.script = ({ group }) => (group === 'brief' ? responseWith(500) : refused)
      const node = harness.node({ policy: constant(600_000, { jitter: 0 }) })
      await node.start()
      await harness.publish('call', { hook: 'channel_answer' })
      await harness.clock.advance(120_000)
      await harness.publish('call')
      await harness.clock.advance(500_000)
      expect(await statesOf(harness, 'brief')).toEqual(['expired'])
      const { exhausted } = (await healthOf(harness, 'brief'))!
      await node.close(0)
      return exhausted
    }
    expect(await givenUp([])).toBe(1)
    expect(
      await givenUp(
        six.map((delivery) => ({ ...delivery, settings: { ...delivery.settings, hook: 'channel_create' } })),
      ),
    ).toBe(undefined)
  })

  const anyDelivered = async (harness: Harness) =>
    (await Promise.all(six.map(({ id }) => statesOf(harness, id))))
      .flat()
      .filter((state) => state === 'delivered').length
})

describe('the preset kazoo', () => {
  it('disables a webhook after six failed tries in a minute', async () => {
    const harness = await createHarness([aWebhook({ retries: 0 })])
    harness.sender.script = () => responseWith(500)
    const node = harness.node({ healthRules: HEALTH_PRESETS.kazoo })
    await node.start()
    for (let call = 0; call < 8; call++) {
      await harness.publish(`call-${call}`)
      await harness.clock.settle()
    }
    expect(harness.sender.requests).toHaveLength(6)
    expect(await harness.store.webhooks.read('acc', 'w1')).toMatchObject({
      settings: { enabled: false },
      disableReason: 'too many failed attempts',
    })
    expect(harness.emitted.filter(({ name }) => name === 'webhook_disabled')).toHaveLength(1)
    await node.close(0)
  })
})
