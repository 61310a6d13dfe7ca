import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { constant, custom, type PolicyFunction } from '../../src/delivery/policy.js'
import type { RetryRules } from '../../src/delivery/retry.js'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld, type World } from './world.js'

const unhandled: unknown[] = []
const notice = (reason: unknown) => void unhandled.push(reason)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', notice).on('uncaughtException', notice)
})
afterEach(async () => {
  // Rejections are reported after the microtasks of the turn in which they were made.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', notice).off('uncaughtException', notice)
  expect(unhandled).toEqual([])
})

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

describe('an outcome that cannot be decided', () => {
  const policy = constant(1000, { jitter: 0 })
  const rules = (retries: number): RetryRules => ({ policy, functions: {}, retries })

  it('for its rules is an attempt that nobody saw the end of, and the delivery is tried again', async () => {
    const world = await deliveryWorld()
    const node = world.node({ caps: { perEndpoint: 1 } }, { rulesOf: failing(1, () => rules(2)) })
    await node.start()
    await world.publish('call')
    await world.clock.settle()
    expect((await world.attempts()).map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'interrupted'],
      [2, undefined],
    ])
    await goesOn(world, node, [['delivered', 2]])
  })

  it('for chance is the same', async () => {
    const world = await deliveryWorld()
    const random = { ...world.random, fraction: failing(1, () => 0.5) }
    const node = world.node({ caps: { perEndpoint: 1 } }, { random })
    await node.start()
    await world.publish('call')
    await goesOn(world, node, [['delivered', 2]])
  })

  it('does not take those with it that ended in the same turn', async () => {
    const world = await deliveryWorld([aWebhook(), aWebhook({}, { id: 'w2' })])
    const node = world.node({}, { rulesOf: failing(1, () => rules(2)) })
    await node.start()
    await world.publish('call')
    await world.clock.settle()
    const ends = (await Promise.all([world.deliveries('w1'), world.deliveries('w2')])).flat()
    expect(ends.map(({ state, attempts }) => [state, attempts]).sort()).toEqual([
      ['delivered', 1],
      ['delivered', 2],
    ])
    await node.close(0)
  })

  it('time after time sets the delivery aside: it is not sent for ever', async () => {
    const world = await deliveryWorld()
    // Each decision asks for the rules first, then, for the attempt that is lost, again.
    let calls = 0
    const node = world.node({}, { rulesOf: () => (calls++ < 6 && calls % 2 === 1 ? broken() : rules(2)) })
    await node.start()
    await world.publish('call')
    await world.clock.settle()
    expect(world.sender.requests).toHaveLength(3)
    await goesOn(world, node, [['quarantined', 2]])
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
