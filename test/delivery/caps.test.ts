import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import type { Observation, SendRequest } from '../../src/ports.js'
import { aWebhook } from './fixtures.js'
import { answered, deliveryWorld, headerOf, type NodeOptions } from './world.js'

type Caps = Required<NonNullable<NodeOptions['caps']>>

const POLICY = constant(1000, { jitter: 0.5 })
const NO_BREAKER = { breaker: null, autoDisable: null }
const hostOf = ({ url }: SendRequest) => new URL(url).host

/** Twelve webhooks of two accounts that share three origins. */
const WEBHOOKS = Array.from({ length: 12 }, (_, index) =>
  aWebhook(
    {
      uri: `https://host-${index % 3}.example/${index}`,
      retries: 2,
      ordering: index % 2 ? 'none' : 'call',
      includeSubaccounts: true,
    },
    { id: `w${index}`, accountId: index % 4 < 2 ? 'acc' : 'sub' },
  ),
)
const accountOf = (webhookId: string) => WEBHOOKS.find(({ id }) => id === webhookId)!.accountId

/** Counts what is in flight at every moment, against every cap. */
function watched(world: Awaited<ReturnType<typeof deliveryWorld>>, caps: Caps) {
  const most = { endpoint: 0, account: 0, origin: 0, all: 0 }
  const flying: SendRequest[] = []
  const count = (fits: (one: SendRequest) => boolean) => flying.filter(fits).length
  const { send } = world.sender
  world.sender.send = async (request) => {
    flying.push(request)
    const account = accountOf(request.group)
    most.endpoint = Math.max(
      most.endpoint,
      count(({ group }) => group === request.group),
    )
    most.account = Math.max(
      most.account,
      count(({ group }) => accountOf(group) === account),
    )
    most.origin = Math.max(
      most.origin,
      count((one) => hostOf(one) === hostOf(request)),
    )
    most.all = Math.max(most.all, flying.length)
    try {
      return await send(request)
    } finally {
      flying.splice(flying.indexOf(request), 1)
    }
  }
  const holds = () => {
    expect(most.endpoint).toBeLessThanOrEqual(caps.perEndpoint)
    expect(most.account).toBeLessThanOrEqual(caps.perAccount)
    expect(most.origin).toBeLessThanOrEqual(caps.perOrigin)
    expect(most.all).toBeLessThanOrEqual(caps.inAll)
  }
  return { most, holds }
}

const anyCaps = fc.record({
  perEndpoint: fc.integer({ min: 1, max: 4 }),
  perAccount: fc.integer({ min: 1, max: 8 }),
  perOrigin: fc.integer({ min: 1, max: 6 }),
  inAll: fc.integer({ min: 1, max: 12 }),
})
const anyStep = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('publish' as const), call: fc.nat(5) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      which: fc.nat(99),
      status: fc.constantFrom(200, 200, 500, 503, 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(3000) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('restart' as const, 'crash' as const, 'store' as const) }),
  },
)
const silence: Observation = { kind: 'no_response', failure: 'timeout', detail: '' }

describe('requests in flight', () => {
  it('never pass a cap under any history, also after restarts with orphans, and everything ends', async () => {
    await fc.assert(
      fc.asyncProperty(anyCaps, fc.array(anyStep, { maxLength: 60 }), async (caps, history) => {
        const world = await deliveryWorld(WEBHOOKS)
        const { holds } = watched(world, caps)
        world.sender.script = () => undefined
        const open = () => world.node({ caps, policy: POLICY, healthRules: NO_BREAKER })
        let node = open()
        await node.start()
        for (const step of history) {
          if (step.kind === 'publish') await world.publish(`call-${step.call}`, { accountId: 'sub' })
          else if (step.kind === 'answer') {
            const one = world.sender.open[step.which % Math.max(1, world.sender.open.length)]
            one?.answer(step.status === 0 ? silence : answered(step.status))
          } else if (step.kind === 'wait') await world.clock.advance(step.ms)
          else if (step.kind === 'restart') {
            const closing = node.close(0)
            await world.clock.settle()
            await closing
            node = open()
            await node.start()
          } else if (step.kind === 'crash') {
            // Its process is gone, and so are its connections: what it claimed is found as orphans.
            world.faults.out.add('settle').add('claim').add('release')
            const closing = node.close(0)
            await world.clock.advance(10_000)
            await closing
            world.faults.out.clear()
            node = open()
            await node.start()
          } else {
            world.faults.out.add(world.random.pick(['claim', 'settle', 'ready'] as const))
            await world.clock.advance(300)
            world.faults.out.clear()
          }
          await world.clock.settle()
          holds()
        }
        for (let round = 0; round < 3000 && (await world.store.deliveries.pending()) > 0; round++) {
          for (const { answer } of [...world.sender.open]) answer(answered(200))
          await world.clock.advance(500)
          holds()
        }
        expect(await world.store.deliveries.pending()).toBe(0)
        for (const { id } of WEBHOOKS) expect(node.inFlight(id)).toBe(0)
        await node.close(0)
      }),
      { numRuns: 40 },
    )
  })

  it.each<[string, Partial<Caps>, keyof ReturnType<typeof watched>['most'], number]>([
    ['an endpoint', { perEndpoint: 3 }, 'endpoint', 3],
    ['an account', { perAccount: 7 }, 'account', 7],
    ['an origin', { perOrigin: 5 }, 'origin', 5],
    ['all', { inAll: 9 }, 'all', 9],
  ])('reach the cap of %s, and a restart with orphans does not add to it', async (_, changed, what, most) => {
    const caps = { perEndpoint: 10, perAccount: 100, perOrigin: 100, inAll: 500, ...changed }
    const world = await deliveryWorld(WEBHOOKS)
    const seen = watched(world, caps)
    const first = world.node({ caps })
    await first.start()
    // Those that have answered may have every place.
    await world.publish('warm-up', { accountId: 'sub' })
    await world.clock.settle()
    world.sender.script = () => undefined
    for (let call = 0; call < 20; call++) await world.publish(`call-${call}`, { accountId: 'sub' })
    await world.clock.settle()
    expect(seen.most[what]).toBe(most)
    // A second life takes the store over: those of the first are orphans, and its connections are cut.
    await world.sender.close()
    seen.most[what] = 0
    const second = world.node({ caps })
    await second.start()
    await world.clock.settle()
    // It does not know yet who answers: a few places may be left to those that do.
    expect(seen.most[what]).toBeGreaterThanOrEqual(most / 2)
    seen.holds()
    await second.close(0)
    await first.close(0)
  })
})

describe('an origin that never answers', () => {
  it('holds as many requests as its cap, whatever the number of webhooks there; others get theirs at once', async () => {
    const silent = Array.from({ length: 60 }, (_, index) =>
      aWebhook({ uri: `https://silent.example/${index}` }, { id: `silent-${index}`, accountId: 'sub' }),
    )
    const healthy = Array.from({ length: 10 }, (_, index) =>
      aWebhook({ uri: `https://healthy-${index}.example/` }, { id: `healthy-${index}` }),
    )
    const world = await deliveryWorld([...silent, ...healthy])
    world.sender.script = (request) => (hostOf(request) === 'silent.example' ? undefined : answered(200))
    // The account of the silent ones may have more in flight than their origin: that is what holds them.
    const node = world.node({ caps: { perAccount: 400 } })
    await node.start()
    for (let call = 0; call < 10; call++) await world.publish(`silent-${call}`, { accountId: 'sub' })
    await world.clock.settle()
    expect(world.sender.open).toHaveLength(100)
    expect(node.fullAt('silent-0')).toMatch(/endpoint|origin/)
    for (let call = 0; call < 50; call++) await world.publish(`call-${call}`)
    await world.clock.settle()
    expect(world.sender.open).toHaveLength(100)
    for (const { id } of healthy) {
      const deliveries = await world.deliveries(id)
      expect(deliveries.map(({ state }) => state)).toEqual(new Array(50).fill('delivered'))
      for (const { acceptedMs, endedMs } of deliveries) expect(endedMs).toBe(acceptedMs)
    }
    // Nobody there is left out for good: as places come free, all sixty have their turn.
    for (let round = 0; round < 600 && world.sender.open.length > 0; round++) {
      world.sender.open[0]!.answer(answered(200))
      await world.clock.settle()
    }
    const calls = world.sender.requests.filter((request) => hostOf(request) === 'silent.example')
    expect(new Set(calls.map((request) => headerOf(request, 'webhook-id'))).size).toBe(600)
    await node.close(0)
  })
})
