import { describe, expect, it } from 'vitest'
import { constant, custom, type PolicyFunction } from '../../src/delivery/policy.js'
import type { RetryRules } from '../../src/delivery/retry.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, responseWith } from './harness.js'

expectNothingUnhandled()

const broken = (): never => {
  throw new Error('host error')
}
/** Throws on the first `times` calls, then returns. */
const failing = <Result>(times: number, succeed: () => Result) => {
  let calls = 0
  return (): Result => (calls++ < times ? broken() : succeed())
}
/** Expects that everything ended, no slot is in use, and another event is sent at once. */
async function expectStillWorking(
  harness: Harness,
  node: ReturnType<Harness['node']>,
  expected: readonly unknown[],
) {
  await harness.clock.advance(3_600_000)
  expect((await harness.deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual(expected)
  expect(node.inFlight('w1')).toBe(0)
  expect(node.stats()).toMatchObject({ inFlight: 0, oldestDueMs: 0 })
  const before = harness.sender.requests.length
  harness.sender.script = () => responseWith(200)
  await harness.publish('another')
  await harness.clock.settle()
  expect(harness.sender.requests).toHaveLength(before + 1)
  await node.close(0)
}

describe('a policy function of the host', () => {
  const promised = (promise: Promise<number>) => promise as unknown as number
  const hostile: readonly (readonly [string, PolicyFunction | undefined])[] = [
    ['throws', broken],
    [
      'throws undefined',
      () => {
        throw undefined
      },
    ],
    ['rejects', () => promised(Promise.reject(new Error('later')))],
    ['returns a promise', () => promised(Promise.resolve(1))],
    ['returns a promise that never settles', () => promised(new Promise(() => {}))],
    ['returns NaN', () => Number.NaN],
    ['returns a string', () => '5' as unknown as number],
    ['returns undefined', () => undefined as unknown as number],
    [
      'returns an object that throws on access',
      () => new Proxy({}, { get: broken, getPrototypeOf: broken }) as unknown as number,
    ],
    ['does not exist', undefined],
  ]
  it.each(hostile)(
    'that %s is replaced by the default policy: the delivery is retried',
    async (_, policy) => {
      const harness = await createHarness([aWebhook({ retries: 2 })])
      harness.sender.script = (_request, attempt) => responseWith(attempt < 3 ? 500 : 200)
      const functions: RetryRules['functions'] = policy ? { mine: policy } : {}
      const node = harness.node(
        { caps: { perEndpoint: 1 } },
        { rulesOf: () => ({ policy: custom('mine'), functions, retries: 2 }) },
      )
      await node.start()
      await harness.publish('call')
      await expectStillWorking(harness, node, [['delivered', 3]])
    },
  )

  it.each<[string, number, number]>([
    ['more than a week', 1e300, 7 * 24 * 3_600_000],
    ['infinity', Number.POSITIVE_INFINITY, 7 * 24 * 3_600_000],
    ['a negative number', -1e9, 0],
    ['a fraction', 1000.6, 1001],
  ])('that returns %s is bounded', async (_, result, delayMs) => {
    const harness = await createHarness([aWebhook({ maxAgeSeconds: 8 * 86_400 })])
    harness.sender.script = (_request, attempt) => responseWith(attempt === 1 ? 500 : 200)
    const policy = custom('mine')
    const node = harness.node(
      {},
      { rulesOf: () => ({ policy, functions: { mine: () => result }, retries: 2 }) },
    )
    await node.start()
    await harness.publish('call')
    await harness.clock.settle()
    const dueMs = harness.clock.now() + delayMs
    if (delayMs > 0) expect(await harness.deliveries()).toMatchObject([{ state: 'waiting', dueMs }])
    await harness.clock.advance(delayMs)
    expect((await harness.deliveries()).map(({ state }) => state)).toEqual(['delivered'])
    await node.close(0)
  })
})

describe('an outcome', () => {
  const policy = constant(1000, { jitter: 0 })

  it.each([
    ['retry rules', { rulesOf: broken }],
    ['randomness', { random: { bytes: () => new Uint8Array(16), fraction: broken } }],
    ['valid randomness', { random: { bytes: () => new Uint8Array(16), fraction: () => Number.NaN } }],
  ])('is decided without %s when that dependency throws or returns an invalid value', async (_, deps) => {
    const brief = aWebhook({ retries: 2, maxAgeSeconds: 0.5, hook: 'channel_answer' }, { id: 'w2' })
    const harness = await createHarness([aWebhook({ retries: 2, hook: 'channel_create' }), brief])
    harness.sender.script = ({ group }, attempt) => responseWith(group === 'w2' || attempt < 3 ? 500 : 200)
    const node = harness.node({ caps: { perEndpoint: 1 }, policy }, deps)
    await node.start()
    await harness.publish('call')
    await harness.publish('call', { hook: 'channel_answer' })
    await harness.clock.advance(60_000)
    const all = await harness.attempts()
    const attemptsOf = (id: string) =>
      all.filter(({ webhookId }) => webhookId === id).map(({ attempt, reason }) => [attempt, reason])
    expect(attemptsOf('w1')).toEqual([
      [1, 'bad status'],
      [2, 'bad status'],
      [3, undefined],
    ])
    expect(attemptsOf('w2')).toEqual([
      [1, 'bad status'],
      [undefined, 'expired'],
    ])
    await expectStillWorking(harness, node, [['delivered', 3]])
  })

  const rules = (retries: number): RetryRules => ({ policy, functions: {}, retries })

  it('is decided with the default policy when the rules of the webhook are not available', async () => {
    const harness = await createHarness([aWebhook({ retries: 2 })])
    harness.sender.script = (_request, attempt) => responseWith(attempt < 3 ? 500 : 200)
    const node = harness.node({ caps: { perEndpoint: 1 } }, { rulesOf: failing(1, () => rules(2)) })
    await node.start()
    await harness.publish('call')
    await expectStillWorking(harness, node, [['delivered', 3]])
  })

  it.each([
    ['throws', broken],
    ['is NaN', () => Number.NaN],
    ['is negative', () => -1],
    ['is above one', () => 7],
  ])('is decided without jitter when the random number %s', async (_, fraction) => {
    const harness = await createHarness([aWebhook({ retries: 1 })])
    harness.sender.script = (_request, attempt) => responseWith(attempt < 2 ? 500 : 200)
    const node = harness.node({ caps: { perEndpoint: 1 } }, { random: { ...harness.random, fraction } })
    await node.start()
    await harness.publish('call')
    await harness.clock.settle()
    // The policy waits 2 s before its first retry, here without jitter.
    const [waiting] = await harness.deliveries()
    expect(waiting!.dueMs! - harness.clock.now()).toBe(2000)
    await expectStillWorking(harness, node, [['delivered', 2]])
  })

  it('that cannot be decided at all is recorded as interrupted, and does not affect the others of its batch', async () => {
    const harness = await createHarness([aWebhook(), aWebhook({}, { id: 'w2' })])
    harness.sender.script = ({ group }) =>
      group === 'w1'
        ? ({ ...responseWith(200), headers: new Proxy([], { get: broken }) } as never)
        : responseWith(200)
    const node = harness.node()
    await node.start()
    await harness.publish('call')
    await harness.clock.settle()
    expect((await harness.deliveries('w2')).map(({ state }) => state)).toEqual(['delivered'])
    const reasons = (await harness.attempts()).filter(({ webhookId }) => webhookId === 'w1')
    expect(new Set(reasons.map(({ reason }) => reason))).toEqual(new Set(['interrupted', 'quarantined']))
    expect(node.stats()).toMatchObject({ inFlight: 0 })
    await node.close(0)
  })

  it('that cannot even get a record id releases its slot', async () => {
    const harness = await createHarness()
    let isBroken = false
    const node = harness.node(
      { caps: { perEndpoint: 1 } },
      { newId: () => (isBroken ? broken() : harness.newId()) },
    )
    await node.start()
    isBroken = true
    await harness.publish('call')
    await harness.clock.settle()
    expect(node.inFlight('w1')).toBe(0)
    expect(node.stats()).toMatchObject({ inFlight: 0 })
    isBroken = false
    await harness.publish('another')
    await harness.clock.settle()
    expect((await harness.deliveries()).map(({ state }) => state)).toEqual(['waiting', 'delivered'])
    // It is sent again after a pause, under the same attempt number: nothing of it was recorded.
    await harness.clock.advance(1000)
    expect((await harness.deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['delivered', 1],
      ['delivered', 1],
    ])
    await node.close(0)
  })
})

describe('a host that throws in an event listener', () => {
  it('still gets its deliveries recorded and the slots released', async () => {
    const harness = await createHarness()
    const node = harness.node({ caps: { perEndpoint: 1, total: 1 } }, { emit: broken })
    await node.start()
    for (const call of ['a', 'b', 'c']) await harness.publish(call)
    await harness.clock.settle()
    expect((await harness.attempts()).map(({ attempt, result }) => [attempt, result])).toEqual(
      new Array(3).fill([1, 'success']),
    )
    await expectStillWorking(harness, node, new Array(3).fill(['delivered', 1]))
  })
})
