/** The delivery policy (docs/concepts/retries.md) where a receiver is away: checks 1, 2 and 8. */
import { constant, exponential, memoryStore, schedule } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { type EndpointInput, figures, IS_FULL_SIZE, readHealth, replayAll, runPolicy } from './harness.js'
import {
  answers,
  away,
  calls,
  HUNG,
  largest,
  quantile,
  REFUSED,
  type Reaction,
  randomNumbers,
} from './receivers.js'

const HOUR = 3600
const DAY = 24 * HOUR
const TIMEOUT = { timeout: 900_000 }
/** An answer takes a tenth of a second, a refusal a hundredth. */
const LATENCY = 0.2

describe('check 1: one event at a random time of an outage', TIMEOUT, () => {
  const SEEDS = IS_FULL_SIZE ? 300 : 10
  const OUTAGES = [
    { seconds: 7, how: REFUSED, limit: 15 },
    { seconds: 20, how: REFUSED, limit: 15 },
    { seconds: 100, how: REFUSED, limit: 15 },
    { seconds: 290, how: REFUSED, limit: 15 },
    { seconds: 600, how: REFUSED, limit: 60 },
    { seconds: 3 * HOUR, how: REFUSED, limit: 60 },
    { seconds: 7, how: HUNG, limit: 20 },
    { seconds: 20, how: HUNG, limit: 20 },
    { seconds: 100, how: HUNG, limit: 20 },
    { seconds: 290, how: HUNG, limit: 20 },
    { seconds: 600, how: HUNG, limit: 60 },
    { seconds: 3 * HOUR, how: HUNG, limit: 60 },
  ]
  const POLICIES = {
    standard: undefined,
    patient: 'patient',
    constant: constant(HOUR * 1000),
    schedule: schedule([1000, 600_000]),
    exponential: exponential({ baseMs: 1000, factor: 10, capMs: DAY * 1000 }),
  } as const

  it.each(Object.entries(POLICIES))('%s: it is delivered soon after the recovery', async (name, policy) => {
    // The outages begin one after the other, so that the receivers do not compete for slots.
    const begins: number[] = []
    const endpoints = OUTAGES.flatMap(({ seconds, how }, kind) =>
      Array.from({ length: SEEDS }, (_, seed): EndpointInput => {
        const begin = 100 + 10 * seed + kind
        begins.push(begin)
        const at = begin + randomNumbers(seed + 1)() * seconds
        return { receiver: away(begin, begin + seconds, how), arrivals: [[at, 'c', 0]] }
      }),
    )
    const run = await runPolicy({
      endpoints,
      until: 2 * DAY,
      options: policy === undefined ? {} : { retryPolicy: policy },
    })
    const waits = OUTAGES.map(({ seconds, how, limit }, kind) => {
      const all = run.endpoints.slice(kind * SEEDS, (kind + 1) * SEEDS).map(({ events }, seed) => {
        const { state, endedAt = Infinity } = events[0]!
        return state === 'delivered' ? endedAt - (begins[kind * SEEDS + seed]! + seconds) : Infinity
      })
      return {
        kind: `${how === HUNG ? 'hung' : 'refused'} for ${seconds} s`,
        longest: largest(all),
        limit,
        all,
      }
    })
    for (const { kind, longest, all } of waits)
      figures(`1 ${name} ${kind}`, { p50: quantile(all, 0.5), p95: quantile(all, 0.95), longest })
    const late = waits.filter(({ longest, limit }) => longest > limit + LATENCY)
    expect(late.map(({ kind, longest }) => `${kind}: ${longest}`)).toEqual([])
    expect(run.endpoints.reduce((total, { lost }) => total + lost, 0)).toBe(0)
  })
})

describe('check 2: traffic during an outage', TIMEOUT, () => {
  // Ten events a second take long.
  const RATES = IS_FULL_SIZE ? [0.01, 0.05, 1, 10] : [0.01, 1]
  const RETRIES = IS_FULL_SIZE ? [0, 1, 2, 3, 5, 7, 10] : [0, 1, 10]
  const BEGIN = 200

  const outage = (seconds: number, rate: number, retries: number, how: Reaction): EndpointInput => ({
    receiver: away(BEGIN, BEGIN + seconds, how),
    // Much traffic for an hour only: then it all waits, and shows no more than a little.
    arrivals: calls(rate, 0, BEGIN + Math.min(seconds + 120, IS_FULL_SIZE || rate < 1 ? Infinity : HOUR)),
    settings: { retries },
  })

  for (const [name, how] of [
    ['refused', REFUSED],
    ['hung', HUNG],
  ] as const) {
    it.each(RATES)(`${name} for 10 min at %s events/s: nothing is lost`, async (rate) => {
      const run = await runPolicy({
        until: 3 * DAY,
        endpoints: RETRIES.map((retries) => outage(600, rate, retries, how)),
      })
      for (const [index, endpoint] of run.endpoints.entries()) {
        const retries = RETRIES[index]!
        const { lost, pending } = endpoint
        const failures = endpoint.failures().length
        const last = largest(endpoint.backlog(BEGIN + 600))
        figures(`2 ${name} ${rate}/s retries ${retries}`, {
          lost,
          failures,
          last,
          pauses: endpoint.pauses.length,
        })
        // Without retries, what was written to a connection ends with it.
        expect(lost, `retries ${retries}`).toBeLessThanOrEqual(retries === 0 && how === HUNG ? 45 : 0)
        expect(pending).toBe(0)
        expect(failures).toBeLessThanOrEqual(100)
        expect(endpoint.outOfOrder).toBe(0)
      }
    })

    it(`${name} for 4 h: few requests`, async () => {
      const run = await runPolicy({
        until: DAY,
        endpoints: [0.01, 0.05, 1].map((rate) => outage(4 * HOUR, rate, 5, how)),
      })
      for (const endpoint of run.endpoints) {
        const perHour = [0, 1, 2, 3].map(
          (hour) => endpoint.failures(BEGIN + hour * HOUR, BEGIN + (hour + 1) * HOUR).length,
        )
        figures(`2 ${name} for 4 h`, {
          perHour: perHour.join(' '),
          last: largest(endpoint.backlog(BEGIN + 4 * HOUR)),
        })
        expect(endpoint.lost).toBe(0)
        expect(perHour[0]).toBeLessThanOrEqual(100)
        expect(Math.max(...perHour.slice(1))).toBeLessThanOrEqual(75)
      }
    })
  }

  it('refused for an hour, one event, 2 retries: three attempts, then checks, then the delivery', async () => {
    const seen: { attempts: number; checked: boolean }[] = []
    const run = await runPolicy({
      until: 3 * HOUR,
      endpoints: [{ receiver: away(0, HOUR, REFUSED), arrivals: [[1, 'c', 0]], settings: { retries: 2 } }],
      actions: [HOUR / 2, HOUR - 1].map((at) => ({
        at,
        async run({ hs, endpoints: [endpoint], clock }) {
          const { accountId, webhookId } = endpoint!
          const attempts = await hs.webhooks.attempts(accountId, webhookId)
          const { checkedMs = 0 } = await readHealth(hs, endpoint!)
          seen.push({ attempts: attempts.length, checked: clock.now() - checkedMs <= 61_000 })
        },
      })),
    })
    const [endpoint] = run.endpoints
    const wait = endpoint!.events[0]!.endedAt! - HOUR
    figures('2 one event', { wait, attempts: seen[0]?.attempts, requests: endpoint!.requests.length })
    expect(endpoint!.events[0]!.state).toBe('delivered')
    expect(wait).toBeLessThanOrEqual(60 + LATENCY)
    expect(seen).toEqual([
      { attempts: 3, checked: true },
      { attempts: 3, checked: true },
    ])
    // Probes that could not connect are requests of the sender, and have the number of the attempt that follows.
    expect([...new Set(endpoint!.requests.map(({ attempt }) => attempt))]).toEqual([1, 2, 3, 4])
    expect(endpoint!.requests.filter(({ attempt }) => attempt < 4)).toHaveLength(3)
  })

  it.each([500, 404])(
    'one event, always %i, 2 retries: three attempts, then it is given up',
    async (status) => {
      const run = await runPolicy({
        until: DAY,
        endpoints: [{ receiver: () => answers(status), arrivals: [[1, 'c', 0]], settings: { retries: 2 } }],
      })
      const [endpoint] = run.endpoints
      expect(endpoint!.requests.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
      expect(endpoint!.events[0]!.state).toBe('exhausted')
    },
  )
})

describe('check 8: long outages', TIMEOUT, () => {
  it('away for 30 h: the last 24 h are delivered, the rest is too old', async () => {
    const rate = IS_FULL_SIZE ? 0.5 : 0.05
    const end = 1000 + 30 * HOUR
    const run = await runPolicy({
      until: end + DAY,
      endpoints: [{ receiver: away(1000, end, REFUSED), arrivals: calls(rate, 0, end + 120) }],
      options: { store: memoryStore({ attemptsPerWebhook: 100_000 }) },
    })
    const endpoint = run.endpoints[0]!
    const backlog = endpoint.backlog(end)
    const first = Math.min(...backlog)
    const expired = endpoint.ended('expired')
    const youngest = largest(expired.map(({ at }) => at))
    figures('8 away for 30 h', {
      first,
      last: largest(backlog),
      expired: expired.length,
      events: endpoint.events.length,
    })
    expect(endpoint.disabledAt).toBeUndefined()
    expect(first).toBeLessThanOrEqual(60 + LATENCY)
    expect(endpoint.count('delivered') + expired.length).toBe(endpoint.events.length)
    // What is sent at the end of the backlog has become older meanwhile.
    expect(youngest).toBeLessThan(end - DAY + 600)
    expect(largest(endpoint.latencies())).toBeLessThanOrEqual(DAY + LATENCY)
    expect(await replayAll(run.hs, endpoint, { result: 'expired' })).toBe(expired.length)
    await run.clock.advance(600_000)
    expect(endpoint.replays.filter(({ state }) => state === 'delivered')).toHaveLength(expired.length)
  })

  it.each([
    ['refuses connections', REFUSED],
    ['rejects everything', answers(500)],
  ])('it %s for five days: it is disabled', async (_, how) => {
    const run = await runPolicy({
      until: 6 * DAY,
      isFull: true,
      endpoints: [
        { receiver: away(HOUR, Infinity, how), arrivals: calls(0.002, 0, 6 * DAY), settings: { retries: 2 } },
      ],
    })
    const { disabledAt = Infinity } = run.endpoints[0]!
    figures('8 five days', { disabledAfterDays: (disabledAt - HOUR) / DAY })
    expect(disabledAt - HOUR).toBeGreaterThanOrEqual(5 * DAY)
    expect(disabledAt - HOUR).toBeLessThanOrEqual(5.5 * DAY)
  })

  it('idle for three days, then 20 given up in a minute: it is not disabled', async () => {
    const burst = Array.from({ length: 30 }, (_, index) => [3 * DAY + index, `b${index}`, 0] as const)
    const run = await runPolicy({
      until: 4 * DAY,
      isFull: true,
      endpoints: [
        { receiver: () => answers(500), arrivals: [[1, 'c', 0], ...burst], settings: { retries: 0 } },
      ],
    })
    const endpoint = run.endpoints[0]!
    expect(endpoint.ended('exhausted').length).toBeGreaterThanOrEqual(20)
    expect(endpoint.disabledAt).toBeUndefined()
  })
})
