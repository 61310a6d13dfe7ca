import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import type { Observation, SendRequest } from '../../src/ports.js'
import { aWebhook } from './fixtures.js'
import { createHarness, headerOf, type NodeOptions, responseWith } from './harness.js'

type Caps = Required<NonNullable<NodeOptions['caps']>>

const POLICY = constant(1000, { jitter: 0.5 })
const NO_PAUSES = { pauses: false, autoDisable: null }
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

/** Records the highest number of requests in flight, for every cap. */
function observePeaks(harness: Awaited<ReturnType<typeof createHarness>>, caps: Caps) {
  const peaks = { endpoint: 0, account: 0, origin: 0, total: 0 }
  const inFlight: SendRequest[] = []
  const count = (isCounted: (sendRequest: SendRequest) => boolean) => inFlight.filter(isCounted).length
  const { send } = harness.sender
  harness.sender.send = async (request) => {
    inFlight.push(request)
    const account = accountOf(request.group)
    peaks.endpoint = Math.max(
      peaks.endpoint,
      count(({ group }) => group === request.group),
    )
    peaks.account = Math.max(
      peaks.account,
      count(({ group }) => accountOf(group) === account),
    )
    peaks.origin = Math.max(
      peaks.origin,
      count((other) => hostOf(other) === hostOf(request)),
    )
    peaks.total = Math.max(peaks.total, inFlight.length)
    try {
      return await send(request)
    } finally {
      inFlight.splice(inFlight.indexOf(request), 1)
    }
  }
  const expectWithinCaps = () => {
    expect(peaks.endpoint).toBeLessThanOrEqual(caps.perEndpoint)
    expect(peaks.account).toBeLessThanOrEqual(caps.perAccount)
    expect(peaks.origin).toBeLessThanOrEqual(caps.perOrigin)
    expect(peaks.total).toBeLessThanOrEqual(caps.total)
  }
  return { peaks, expectWithinCaps }
}

const anyCaps = fc.record({
  probes: fc.constant(1_000),
  perEndpoint: fc.integer({ min: 1, max: 4 }),
  perAccount: fc.integer({ min: 1, max: 8 }),
  perOrigin: fc.integer({ min: 1, max: 6 }),
  total: fc.integer({ min: 1, max: 12 }),
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
const timeout: Observation = { kind: 'no_response', failure: 'timeout', detail: '' }

describe('requests in flight', () => {
  it('never exceed a cap under any history, not after restarts either, and everything ends', async () => {
    await fc.assert(
      fc.asyncProperty(anyCaps, fc.array(anyStep, { maxLength: 60 }), async (caps, history) => {
        const harness = await createHarness(WEBHOOKS)
        const { expectWithinCaps } = observePeaks(harness, caps)
        harness.sender.script = () => undefined
        const open = () => harness.node({ caps, policy: POLICY, healthRules: NO_PAUSES })
        let node = open()
        await node.start()
        for (const step of history) {
          if (step.kind === 'publish') await harness.publish(`call-${step.call}`, { accountId: 'sub' })
          else if (step.kind === 'answer') {
            const request = harness.sender.open[step.which % Math.max(1, harness.sender.open.length)]
            request?.answer(step.status === 0 ? timeout : responseWith(step.status))
          } else if (step.kind === 'wait') await harness.clock.advance(step.ms)
          else if (step.kind === 'restart') {
            const closing = node.close(0)
            await harness.clock.settle()
            await closing
            node = open()
            await node.start()
          } else if (step.kind === 'crash') {
            // The process is gone with its connections: the next node finds what it left in flight.
            harness.faults.failing.add('commit').add('release')
            const closing = node.close(0)
            await harness.clock.advance(10_000)
            await closing
            harness.faults.failing.clear()
            node = open()
            await node.start()
          } else {
            harness.faults.failing.add(harness.random.pick(['commit', 'bodies', 'poll'] as const))
            await harness.clock.advance(300)
            harness.faults.failing.clear()
          }
          await harness.clock.settle()
          expectWithinCaps()
        }
        for (let round = 0; round < 3000 && (await harness.pending()) > 0; round++) {
          for (const { answer } of [...harness.sender.open]) answer(responseWith(200))
          await harness.clock.advance(500)
          expectWithinCaps()
        }
        expect(await harness.pending()).toBe(0)
        for (const { id } of WEBHOOKS) expect(node.inFlight(id)).toBe(0)
        await node.close(0)
      }),
      { numRuns: 40 },
    )
  })

  it.each<[string, Partial<Caps>, keyof ReturnType<typeof observePeaks>['peaks'], number]>([
    ['an endpoint', { perEndpoint: 3 }, 'endpoint', 3],
    ['an account', { perAccount: 7 }, 'account', 7],
    ['an origin', { perOrigin: 5 }, 'origin', 5],
    ['the whole node', { total: 9 }, 'total', 9],
  ])('reach the cap of %s, and a restart does not exceed it', async (_, changed, cap, limit) => {
    const caps = { perEndpoint: 10, perAccount: 100, perOrigin: 100, total: 500, probes: 1_000, ...changed }
    const harness = await createHarness(WEBHOOKS)
    const observed = observePeaks(harness, caps)
    const first = harness.node({ caps })
    await first.start()
    // Endpoints that have answered fast may use every slot.
    await harness.publish('warm-up', { accountId: 'sub' })
    await harness.clock.settle()
    harness.sender.script = () => undefined
    for (let call = 0; call < 20; call++) await harness.publish(`call-${call}`, { accountId: 'sub' })
    await harness.clock.settle()
    expect(observed.peaks[cap]).toBe(limit)
    // A second node takes over the store: the attempts of the first are interrupted, and its connections are
    // closed.
    await harness.sender.close()
    observed.peaks[cap] = 0
    const second = harness.node({ caps })
    await second.start()
    await harness.clock.settle()
    // It does not know yet which endpoints answer: it starts with probes.
    expect(observed.peaks[cap]).toBeGreaterThan(0)
    observed.expectWithinCaps()
    await second.close(0)
    await first.close(0)
  })
})

describe('an origin that never answers', () => {
  it('holds at most its cap of requests, whatever the number of its webhooks; others are served at once', async () => {
    const silent = Array.from({ length: 60 }, (_, index) =>
      aWebhook({ uri: `https://silent.example/${index}` }, { id: `silent-${index}`, accountId: 'sub' }),
    )
    const healthy = Array.from({ length: 10 }, (_, index) =>
      aWebhook({ uri: `https://healthy-${index}.example/` }, { id: `healthy-${index}` }),
    )
    const harness = await createHarness([...silent, ...healthy])
    // The cap of the account is above that of the origin, which is the one that limits.
    const node = harness.node({ caps: { perAccount: 400 } })
    await node.start()
    // Its webhooks have answered once, fast: no other limit applies to them yet.
    await harness.publish('warm-up', { accountId: 'sub' })
    await harness.clock.settle()
    expect(harness.sender.requests).toHaveLength(60)
    harness.sender.script = (request) =>
      hostOf(request) === 'silent.example' ? undefined : responseWith(200)
    for (let call = 0; call < 10; call++) await harness.publish(`silent-${call}`, { accountId: 'sub' })
    await harness.clock.settle()
    expect(harness.sender.open).toHaveLength(100)
    expect(node.limitReached('silent-0')).toMatch(/endpoint|origin/)
    for (let call = 0; call < 50; call++) await harness.publish(`call-${call}`)
    await harness.clock.settle()
    expect(harness.sender.open).toHaveLength(100)
    for (const { id } of healthy) {
      const deliveries = await harness.deliveries(id)
      expect(deliveries.map(({ state }) => state)).toEqual(new Array(50).fill('delivered'))
      for (const { acceptedMs, endedMs } of deliveries) expect(endedMs).toBe(acceptedMs)
    }
    // None of its webhooks starves: as slots become free, all sixty are served.
    for (let round = 0; round < 600 && harness.sender.open.length > 0; round++) {
      harness.sender.open[0]!.answer(responseWith(200))
      await harness.clock.settle()
    }
    const calls = harness.sender.requests.filter((request) => hostOf(request) === 'silent.example')
    expect(new Set(calls.map((request) => headerOf(request, 'webhook-id'))).size).toBe(660)
    await node.close(0)
  })
})

describe('a webhook with a rate limit', () => {
  it('gets no more requests than that in any second, and others are not held up', async () => {
    const harness = await createHarness([
      aWebhook({ rateLimit: 2, retries: 0 }),
      aWebhook({ uri: 'https://other.example/' }, { id: 'w2' }),
    ])
    const sentMs: number[] = []
    harness.sender.script = (request) => {
      if (hostOf(request) !== 'other.example') sentMs.push(harness.clock.monotonic())
      return responseWith(200)
    }
    const node = harness.node({ rateLimitOf: ({ settings }) => settings.rateLimit })
    await node.start()
    for (let call = 0; call < 20; call++) await harness.publish(`call-${call}`)
    await harness.clock.settle()
    expect((await harness.deliveries('w2')).every(({ state }) => state === 'delivered')).toBe(true)
    expect(sentMs).toHaveLength(1)
    expect(node.limitReached('w1')).toBe('rate')
    await harness.clock.advance(10_000)
    expect(sentMs).toHaveLength(20)
    expect(node.limitReached('w1')).not.toBe('rate')
    for (const [index, ms] of sentMs.slice(2).entries()) expect(ms - sentMs[index]!).toBeGreaterThan(950)
    await node.close(0)
  })
})
