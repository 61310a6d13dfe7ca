import { describe, expect, it } from 'vitest'
import { constant, custom, type PolicyFunction } from '../../src/delivery/policy.js'
import type { RetryRules } from '../../src/delivery/retry.js'
import { nothingUnhandled } from '../unhandled.js'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld, type World } from './world.js'

nothingUnhandled()

const broken = (): never => {
  throw new Error('of the host')
}
/** As many calls as fail, one after the other, before all is well. */
const failing = <Result>(times: number, well: () => Result) => {
  let calls = 0
  return (): Result => (calls++ < times ? broken() : well())
}
/** Everything ended, no place is taken, and another event is sent at once. */
async function goesOn(world: World, node: ReturnType<World['node']>, expected: readonly unknown[]) {
  await world.clock.advance(3_600_000)
  expect((await world.deliveries()).map(({ state, attempts }) => [state, attempts])).toEqual(expected)
  expect(node.inFlight('w1')).toBe(0)
  expect(node.overview()).toMatchObject({ inFlight: 0, oldestDueMs: 0 })
  const before = world.sender.requests.length
  world.sender.script = () => answered(200)
  await world.publish('another')
  await world.clock.settle()
  expect(world.sender.requests).toHaveLength(before + 1)
  await node.close(0)
}

describe('a policy of the host', () => {
  const promised = (promise: Promise<number>) => promise as unknown as number
  const hostile: readonly (readonly [string, PolicyFunction | undefined])[] = [
    ['throws', broken],
    [
      'throws nothing that is an error',
      () => {
        throw undefined
      },
    ],
    ['rejects', () => promised(Promise.reject(new Error('later')))],
    ['promises', () => promised(Promise.resolve(1))],
    ['never answers', () => promised(new Promise(() => {}))],
    ['answers NaN', () => Number.NaN],
    ['answers a text', () => '5' as unknown as number],
    ['answers undefined', () => undefined as unknown as number],
    [
      'answers what throws when it is looked at',
      () => new Proxy({}, { get: broken, getPrototypeOf: broken }) as unknown as number,
    ],
    ['is not there', undefined],
  ]
  it.each(hostile)('that %s leaves the default: the delivery is tried again', async (_, policy) => {
    const world = await deliveryWorld([aWebhook({ retries: 2 })])
    world.sender.script = (_request, attempt) => answered(attempt < 3 ? 500 : 200)
    const functions: RetryRules['functions'] = policy ? { mine: policy } : {}
    const node = world.node(
      { caps: { perEndpoint: 1 } },
      { rulesOf: () => ({ policy: custom('mine'), functions, retries: 2 }) },
    )
    await node.start()
    await world.publish('call')
    await goesOn(world, node, [['delivered', 3]])
  })

  it.each<[string, number, number]>([
    ['more than a week', 1e300, 7 * 24 * 3_600_000],
    ['endless', Number.POSITIVE_INFINITY, 7 * 24 * 3_600_000],
    ['less than nothing', -1e9, 0],
    ['an odd fraction', 1000.6, 1001],
  ])('that answers %s is bounded', async (_, answer, delayMs) => {
    const world = await deliveryWorld()
    world.sender.script = (_request, attempt) => answered(attempt === 1 ? 500 : 200)
    const policy = custom('mine')
    const node = world.node(
      {},
      { rulesOf: () => ({ policy, functions: { mine: () => answer }, retries: 2 }) },
    )
    await node.start()
    await world.publish('call')
    await world.clock.settle()
    const dueMs = world.clock.now() + delayMs
    if (delayMs > 0) expect(await world.deliveries()).toMatchObject([{ state: 'waiting', dueMs }])
    await world.clock.advance(delayMs)
    expect((await world.deliveries()).map(({ state }) => state)).toEqual(['delivered'])
    await node.close(0)
  })
})

describe('an outcome', () => {
  const policy = constant(1000, { jitter: 0 })

  it.each([
    ['its rules', { rulesOf: broken }],
    ['chance', { random: { bytes: () => new Uint8Array(16), fraction: broken } }],
    ['chance that is none', { random: { bytes: () => new Uint8Array(16), fraction: () => Number.NaN } }],
  ])('is decided without %s, where that door throws or answers nonsense', async (_, doors) => {
    const world = await deliveryWorld([aWebhook({ retries: 2, maxAgeSeconds: 3600 })])
    world.sender.script = (_request, attempt) => answered(attempt < 3 ? 500 : 200)
    const node = world.node({ caps: { perEndpoint: 1 }, policy }, doors)
    await node.start()
    await world.publish('call')
    await world.publish('old', { timestampMs: world.clock.now() - 3_601_000 })
    await world.clock.advance(60_000)
    expect((await world.attempts()).map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'bad response code'],
      [undefined, 'expired'],
      [2, 'bad response code'],
      [3, undefined],
    ])
    await goesOn(world, node, [
      ['delivered', 3],
      ['expired', 0],
    ])
  })
})

describe('an outcome', () => {
  const policy = constant(1000, { jitter: 0 })
  const rules = (retries: number): RetryRules => ({ policy, functions: {}, retries })

  it('is decided by the standard rules where those of the webhook cannot be told', async () => {
    const world = await deliveryWorld([aWebhook({ retries: 2 })])
    world.sender.script = (_request, attempt) => answered(attempt < 3 ? 500 : 200)
    const node = world.node({ caps: { perEndpoint: 1 } }, { rulesOf: failing(1, () => rules(2)) })
    await node.start()
    await world.publish('call')
    await goesOn(world, node, [['delivered', 3]])
  })

  it.each([
    ['throws', broken],
    ['is no number', () => Number.NaN],
    ['is below nothing', () => -1],
    ['is above one', () => 7],
  ])('is decided without chance where that %s', async (_, fraction) => {
    const world = await deliveryWorld([aWebhook({ retries: 1 })])
    world.sender.script = (_request, attempt) => answered(attempt < 2 ? 500 : 200)
    const node = world.node({ caps: { perEndpoint: 1 } }, { random: { ...world.random, fraction } })
    await node.start()
    await world.publish('call')
    await world.clock.settle()
    // The telephony policy waits 2 s for its first retry, jittered by nothing.
    const [waiting] = await world.deliveries()
    expect(waiting!.dueMs! - world.clock.now()).toBe(2000)
    await goesOn(world, node, [['delivered', 2]])
  })

  it('that cannot be decided at all is an attempt that nobody saw the end of, alone of its turn', async () => {
    const world = await deliveryWorld([aWebhook(), aWebhook({}, { id: 'w2' })])
    world.sender.script = ({ group }) =>
      group === 'w1'
        ? ({ ...answered(200), headers: new Proxy([], { get: broken }) } as never)
        : answered(200)
    const node = world.node()
    await node.start()
    await world.publish('call')
    await world.clock.settle()
    expect((await world.deliveries('w2')).map(({ state }) => state)).toEqual(['delivered'])
    const reasons = (await world.attempts()).filter(({ webhookId }) => webhookId === 'w1')
    expect(new Set(reasons.map(({ reason }) => reason))).toEqual(new Set(['interrupted', 'quarantined']))
    expect(node.overview()).toMatchObject({ inFlight: 0 })
    await node.close(0)
  })

  it('that cannot even be numbered gives its place back', async () => {
    const world = await deliveryWorld()
    let isBroken = false
    const node = world.node(
      { caps: { perEndpoint: 1 } },
      { newId: () => (isBroken ? broken() : world.newId()) },
    )
    await node.start()
    isBroken = true
    await world.publish('call')
    await world.clock.settle()
    expect(node.inFlight('w1')).toBe(0)
    expect(node.overview()).toMatchObject({ inFlight: 0 })
    isBroken = false
    await world.publish('another')
    await world.clock.settle()
    expect((await world.deliveries()).map(({ state }) => state)).toEqual(['in_flight', 'delivered'])
    await node.close(0)
  })
})

describe('a host that throws when it is told', () => {
  it('has what ended recorded all the same, and its places back', async () => {
    const world = await deliveryWorld()
    const node = world.node({ caps: { perEndpoint: 1, inAll: 1 } }, { tell: broken })
    await node.start()
    for (const call of ['a', 'b', 'c']) await world.publish(call)
    await world.clock.settle()
    expect((await world.attempts()).map(({ attempt, result }) => [attempt, result])).toEqual(
      new Array(3).fill([1, 'success']),
    )
    await goesOn(world, node, new Array(3).fill(['delivered', 1]))
  })
})
