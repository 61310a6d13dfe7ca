/**
 * The delivery policy (docs/concepts/retries.md) where much waits: beside live events (check 9), of many webhooks at once
 * (check 10), and more than may wait (check 11).
 */
import { memoryStore } from 'hookswitch'
import { describe, expect, it, vi } from 'vitest'
import {
  type EndpointInput,
  type EndpointRun,
  figures,
  IS_FULL_SIZE,
  replayAll,
  runPolicy,
} from './harness.js'
import { away, calls, HUNG, healthy, largest, quantile, REFUSED, singles, sum } from './receivers.js'

// Thousands of webhooks take long on a busy machine.
vi.setConfig({ testTimeout: 600_000 })

const HOUR = 3600
const DAY = 24 * HOUR
const TIMEOUT = { timeout: IS_FULL_SIZE ? 7_200_000 : 900_000 }

/** When a receiver first took a request after a time. */
const firstTaken = ({ requests }: EndpointRun, from: number) =>
  requests.find(({ at, status }) => at >= from && status === 200)?.at ?? Infinity

/** Seconds from publish to delivery of the events of calls that began in a period. */
const latenciesOfNewCalls = (endpoint: EndpointRun, from: number, to: number) =>
  [...endpoint.calls.values()]
    .filter(([first]) => first!.at >= from)
    .flat()
    .filter(({ at }) => at < to)
    .map(({ at, endedAt = Infinity }) => endedAt - at)

describe('check 9: live events beside old ones', TIMEOUT, () => {
  it('a backlog drains as fast as one of 3 h in ten minutes, and new calls do not wait for it', async () => {
    const hours = IS_FULL_SIZE ? 3 : 0.5
    const end = 200 + hours * HOUR
    const limit = 200 * hours
    const run = await runPolicy({
      until: end + DAY,
      endpoints: [{ receiver: away(200, end, HUNG), arrivals: calls(3, 0, end + limit) }],
    })
    const endpoint = run.endpoints[0]!
    const noticed = firstTaken(endpoint, end)
    const drained = end + largest(endpoint.backlog(end))
    // In the first seconds the number of requests at a time grows from one.
    const latencies = latenciesOfNewCalls(endpoint, noticed + 10, drained)
    const p99 = quantile(latencies, 0.99)
    figures('9 backlog', {
      noticed: noticed - end,
      drained: drained - noticed,
      backlog: endpoint.backlog(end).length,
      live: latencies.length,
      p50: quantile(latencies, 0.5),
      p99,
    })
    expect(endpoint.lost).toBe(0)
    expect(drained - noticed).toBeLessThanOrEqual(limit)
    expect(latencies.length).toBeGreaterThan(50)
    expect(p99).toBeLessThanOrEqual(1)
    expect(endpoint.outOfOrder).toBe(0)
  })

  it('new calls do not wait for a mass replay', async () => {
    const count = IS_FULL_SIZE ? 49_000 : 5000
    const begin = count / 50 + 100
    const live = calls(3, begin, begin + (IS_FULL_SIZE ? 1000 : 200))
    const run = await runPolicy({
      until: begin + DAY,
      endpoints: [{ receiver: healthy, arrivals: [...singles(count, 0.02), ...live] }],
      options: {
        recordSuccesses: true,
        attemptsPerWebhook: 100_000,
        store: memoryStore({ attemptsPerWebhook: 100_000 }),
      },
      actions: [
        {
          at: begin + 100,
          async run({ hs, endpoints, clock }) {
            const createdToMs = clock.now() - 100_000
            expect(await replayAll(hs, endpoints[0]!, { createdToMs, result: 'success' })).toBe(count)
          },
        },
      ],
    })
    const endpoint = run.endpoints[0]!
    if (endpoint.replays.length < count) await run.clock.advance(HOUR * 1000)
    const drained = largest(endpoint.replays.map(({ at }) => at))
    const latencies = latenciesOfNewCalls(endpoint, begin + 100, Math.min(drained, begin + 1000))
    const p99 = quantile(latencies, 0.99)
    figures('9 replay', {
      replays: endpoint.replays.length,
      seconds: drained - begin - 100,
      live: latencies.length,
      p99,
    })
    expect(endpoint.replays.filter(({ state }) => state === 'delivered')).toHaveLength(count)
    expect(latencies.length).toBeGreaterThan(50)
    expect(p99).toBeLessThanOrEqual(1)
  })
})

describe('check 10: thousands of webhooks fail together', TIMEOUT, () => {
  // A part of the webhooks gets the same part of the slots.
  const PART = IS_FULL_SIZE ? 1 : 0.05
  const COUNT = 5000 * PART
  const LIMITS = { inFlight: 500 * PART, probeSockets: 1000 * PART }

  it('all hang, one of 50 comes back: most of these are found within a minute', async () => {
    const begin = IS_FULL_SIZE ? 2000 : 1000
    const back = (index: number) => (index % 50 === 0 ? begin + index / (50 * PART) : Infinity)
    const run = await runPolicy({
      until: begin + (IS_FULL_SIZE ? 1600 : 300),
      options: LIMITS,
      endpoints: Array.from({ length: COUNT }, (_, index) => ({
        receiver: away(100, back(index), HUNG),
        arrivals: calls(0.02, 0, begin + (IS_FULL_SIZE ? 600 : 200), 100 + index),
      })),
    })
    const firsts = run.endpoints.flatMap((endpoint, index) => {
      const at = back(index)
      return at < Infinity ? [firstTaken(endpoint, at) - at] : []
    })
    const p90 = quantile(firsts, 0.9)
    figures('10 some come back', { p50: quantile(firsts, 0.5), p90, max: largest(firsts) })
    expect(p90).toBeLessThanOrEqual(60)
  })

  it.each(
    IS_FULL_SIZE
      ? [
          { name: 'refuse', how: REFUSED, count: COUNT, seconds: HOUR / 2, rate: 0.01, healthyRate: 2 },
          { name: 'hang', how: HUNG, count: COUNT, seconds: HOUR / 2, rate: 0.01, healthyRate: 2 },
        ]
      : [
          // In the first minutes probes are frequent: so few webhooks come back together, and reach the limit of a node.
          { name: 'refuse', how: REFUSED, count: 100, seconds: 240, rate: 0.5, healthyRate: 0.5 },
          { name: 'hang', how: HUNG, count: COUNT, seconds: HOUR / 4, rate: 0.01, healthyRate: 0.2 },
        ],
  )(
    'all $name and come back at once: the backlog leaves in order, others are not delayed',
    async ({ name, how, count, seconds, rate, healthyRate }) => {
      const begin = 100
      const end = begin + seconds
      const failing = Array.from(
        { length: count },
        (_, index): EndpointInput => ({
          receiver: away(begin, end, how),
          arrivals: calls(rate, begin - 30, end + 30, 100 + index),
        }),
      )
      const healthyOnes = Array.from(
        { length: 20 },
        (_, index): EndpointInput => ({
          receiver: healthy,
          arrivals: calls(healthyRate, 0, end + 100, 9000 + index),
        }),
      )
      const run = await runPolicy({ until: end + DAY, endpoints: [...failing, ...healthyOnes] })
      const starts = new Map<number, number>()
      for (const endpoint of run.endpoints.slice(0, count)) {
        for (const { at, event } of endpoint.requests) {
          if (at < end || event.at >= end) continue
          starts.set(Math.floor(at), (starts.get(Math.floor(at)) ?? 0) + 1)
        }
      }
      const others = run.endpoints.slice(count)
      const p99 = (from: number, to: number) =>
        quantile(
          others.flatMap((endpoint) => endpoint.latencies(from, to)),
          0.99,
        )
      const before = p99(0, begin)
      const meanwhile = p99(begin, end)
      const after = p99(end, end + 100)
      const lost = sum(run.endpoints.map((endpoint) => endpoint.lost))
      const last = largest(run.endpoints.map((endpoint) => largest(endpoint.backlog(end))))
      const mostPerSecond = Math.max(...starts.values())
      figures(`10 all ${name}`, { mostPerSecond, before, meanwhile, after, lost, last })
      expect(lost).toBe(0)
      expect(mostPerSecond).toBeLessThanOrEqual(1000)
      expect(Math.max(meanwhile, after) - before).toBeLessThanOrEqual(0.05)
    },
  )
})

describe('check 11: more than may wait', TIMEOUT, () => {
  it('one tenant of 50 fills its share: no delivery of another expires', async () => {
    const end = (IS_FULL_SIZE ? 3 : 1) * HOUR
    const maxPending = 2 * end
    const run = await runPolicy({
      until: end + DAY,
      options: { maxPending },
      endpoints: Array.from({ length: 50 }, (_, index) => ({
        receiver: away(0, end, REFUSED),
        arrivals: calls(index === 0 ? 1 : 0.02, 1, end + 120, 300 + index),
      })),
    })
    const [filling, ...others] = run.endpoints
    const displaced = filling!.count('expired', 'queue_full')
    figures('11 share', {
      displaced,
      events: filling!.events.length,
      others: sum(others.map((other) => other.events.length)),
    })
    expect(displaced).toBeGreaterThan(0)
    expect(sum(others.map(({ lost }) => lost))).toBe(0)
    expect(sum(run.endpoints.map(({ refusals }) => refusals.length))).toBe(0)
  })

  it('far more than all that may wait: `publish` never rejects', async () => {
    // With 5,000 webhooks and the default of a million it is the same, and takes minutes and gigabytes.
    const count = IS_FULL_SIZE ? 1000 : 40
    const hours = IS_FULL_SIZE ? 3 : 1
    const end = hours * HOUR
    const run = await runPolicy({
      until: end + DAY,
      // The history holds all that is displaced.
      options: { maxPending: count * 70 * hours, store: memoryStore({ attemptsInAll: 1_000_000 }) },
      endpoints: Array.from({ length: count }, (_, index) => ({
        receiver: away(0, end, REFUSED),
        arrivals: calls(0.05, 1, end, 500 + index),
      })),
    })
    const events = sum(run.endpoints.map((endpoint) => endpoint.events.length))
    const displaced = sum(run.endpoints.map((endpoint) => endpoint.count('expired', 'queue_full')))
    const delivered = sum(run.endpoints.map((endpoint) => endpoint.count('delivered')))
    figures('11 all', { events, displaced, delivered })
    expect(run.endpoints.flatMap(({ refusals }) => refusals)).toEqual([])
    expect(displaced).toBeGreaterThan(0)
    expect(delivered + displaced).toBe(events)
    // What was displaced is replayed by itself, once.
    await run.clock.advance(600_000)
    const replays = run.endpoints.flatMap((endpoint) => endpoint.replays)
    expect(replays.filter(({ state }) => state === 'delivered')).toHaveLength(displaced)
    expect(replays).toHaveLength(displaced)
  })
})
