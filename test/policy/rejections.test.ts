/** The delivery policy (docs/concepts/retries.md) where a receiver answers and takes nothing, or not everything: checks 3 to 6. */
import { describe, expect, it } from 'vitest'
import { figures, IS_FULL_SIZE, runPolicy } from './harness.js'
import {
  answers,
  away,
  calls,
  HUNG,
  largest,
  OK,
  quantile,
  type Reaction,
  randomNumbers,
} from './receivers.js'

const MINUTE = 60
const HOUR = 3600
const DAY = 24 * HOUR
const TIMEOUT = { timeout: 900_000 }
/** An answer takes a tenth of a second, and each is measured in milliseconds. */
const LATENCY = 0.2

describe('check 3: everything is rejected for three hours', TIMEOUT, () => {
  const BEGIN = 200
  const END = BEGIN + 3 * HOUR
  it.each(IS_FULL_SIZE ? [500, 401, 404] : [500])(
    'with %i: nothing is lost, few requests',
    async (status) => {
      const receiver = away(BEGIN, END, answers(status))
      const run = await runPolicy({
        until: END + DAY,
        endpoints: [
          { receiver, arrivals: calls(1, 0, END + 120), settings: { retries: 5 } },
          // What it loses, it loses at first.
          {
            receiver,
            arrivals: calls(1, 0, IS_FULL_SIZE ? END + 120 : BEGIN + 20 * MINUTE),
            settings: { retries: 1 },
          },
        ],
      })
      const [patient, impatient] = run.endpoints
      const recovery = Math.min(
        ...patient!.requests
          .filter((request) => request.at >= END && request.status === 200)
          .map(({ at }) => at),
      )
      const failures = patient!.failures().length
      const inFirstHour = patient!.failures(BEGIN, BEGIN + HOUR).length
      const last = largest(patient!.backlog(recovery))
      figures(`3 ${status}`, {
        lost: patient!.lost,
        lostOf1: impatient!.lost,
        inFirstHour,
        perHour: failures / 3,
        last,
        outOfOrder: patient!.outOfOrder,
        pauses: patient!.pauses.length,
      })
      expect(patient!.lost).toBe(0)
      expect(impatient!.lost).toBeLessThanOrEqual(10)
      expect(inFirstHour).toBeLessThanOrEqual(110)
      expect(failures / 3).toBeLessThanOrEqual(80)
      expect(last).toBeLessThanOrEqual(150 + LATENCY)
      expect(patient!.outOfOrder).toBe(0)
      expect(patient!.pending + impatient!.pending).toBe(0)
    },
  )
})

/** How long receivers reject kinds of events: what is asserted is a rate. */
const HOURS = IS_FULL_SIZE ? 3 : 1

describe('check 4: one kind of event is always rejected', TIMEOUT, () => {
  it('one of three: no pause, the others are in time', async () => {
    const run = await runPolicy({
      until: DAY,
      endpoints: [
        { receiver: (_, { seq }) => (seq === 1 ? answers(400) : OK), arrivals: calls(1, 0, HOURS * HOUR) },
      ],
    })
    const endpoint = run.endpoints[0]!
    const latencies = endpoint.latencies()
    const p75 = quantile(latencies, 0.75)
    const p99 = quantile(latencies, 0.99)
    figures('4 one of three', { p75, p99, pauses: endpoint.pauses.length, lost: endpoint.lost })
    expect(endpoint.pauses).toEqual([])
    expect(p75).toBeLessThanOrEqual(1)
    expect(p99).toBeLessThanOrEqual(65)
    // Only what the receiver rejects is given up.
    expect(endpoint.events.filter(({ seq, state }) => (state === 'delivered') !== (seq !== 1))).toEqual([])
  })

  it('two of three: few pauses', async () => {
    const run = await runPolicy({
      until: DAY,
      endpoints: [
        { receiver: (_, { seq }) => (seq === 0 ? OK : answers(400)), arrivals: calls(0.5, 0, HOURS * HOUR) },
      ],
    })
    const endpoint = run.endpoints[0]!
    const pauses = endpoint.pauses.filter((at) => at < HOURS * HOUR).length
    figures('4 two of three', { pauses, lost: endpoint.lost, p99: quantile(endpoint.latencies(), 0.99) })
    expect(pauses).toBeLessThanOrEqual((20 * HOURS) / 3)
    expect(endpoint.events.filter(({ seq, state }) => (state === 'delivered') !== (seq === 0))).toEqual([])
  })
})

describe('a receiver that takes only the last event of each call', () => {
  it('is found out, and gets what it takes', async () => {
    const run = await runPolicy({
      until: DAY,
      endpoints: [
        { receiver: (_, { seq }) => (seq === 2 ? OK : answers(400)), arrivals: calls(0.5, 0, HOURS * HOUR) },
      ],
    })
    const endpoint = run.endpoints[0]!
    const pauses = endpoint.pauses.filter((at) => at < HOURS * HOUR).length
    figures('only the last', { pauses, lost: endpoint.lost, p99: quantile(endpoint.latencies(), 0.99) })
    expect(pauses).toBeLessThanOrEqual((20 * HOURS) / 3)
    expect(endpoint.events.filter(({ seq, state }) => (state === 'delivered') !== (seq === 2))).toEqual([])
  })
})

describe('check 5: one event always fails', TIMEOUT, () => {
  const FAILURES: Readonly<Record<string, Reaction>> = { hangs: HUNG, 'gets 429': answers(429, 60) }
  // A day of one event a second takes long.
  const TRAFFIC = [
    { rate: 0.003, seconds: DAY },
    { rate: 0.01, seconds: DAY },
    { rate: 1, seconds: IS_FULL_SIZE ? DAY : HOUR },
  ]
  const cases = Object.entries(FAILURES).flatMap(([name, how]) =>
    TRAFFIC.map(({ rate, seconds }) => ({ name, how, rate, seconds })),
  )
  it.each(cases)(
    'it $name among $rate events/s: the others are in time',
    async ({ name, how, rate, seconds }) => {
      const arrivals = calls(rate, 0, seconds)
      const [, call, seq] = arrivals[Math.floor(arrivals.length / 10)]!
      const run = await runPolicy({
        until: seconds + 2 * DAY,
        endpoints: [
          { receiver: (_, request) => (request.call === call && request.seq === seq ? how : OK), arrivals },
        ],
      })
      const endpoint = run.endpoints[0]!
      const failing = endpoint.events.find((event) => event.call === call && event.seq === seq)!
      const others = endpoint.events.filter((event) => event !== failing)
      const undelivered = others.filter(({ state }) => state !== 'delivered').length
      const late = others.filter(({ at, endedAt = Infinity }) => endedAt - at > 20 * MINUTE).length
      const requests = endpoint.requestsFor(failing).length
      figures(`5 ${name} ${rate}/s`, {
        events: others.length,
        undelivered,
        late,
        requests,
        state: failing.state,
        pauses: endpoint.pauses.length,
        max: largest(endpoint.latencies()),
      })
      expect(undelivered).toBe(0)
      expect(late).toBeLessThanOrEqual(2)
      expect(requests).toBeLessThanOrEqual(70)
      expect(failing.state).toBe('expired')
    },
  )
})

describe('check 6: every second request is answered 503', TIMEOUT, () => {
  it('nothing is given up, and attempts out of order are marked', async () => {
    const random = randomNumbers(5)
    const run = await runPolicy({
      until: 3 * DAY,
      recordsOrder: true,
      endpoints: [
        {
          receiver: () => (random() < 0.5 ? answers(503) : OK),
          arrivals: calls(1, 0, 2 * HOUR),
          settings: { retries: 1 },
        },
      ],
    })
    const endpoint = run.endpoints[0]!
    const outOfOrder = endpoint.requestsOutOfOrder()
    // Later attempts of such an event keep the mark.
    const possible = new Set(outOfOrder.map(({ request }) => request.event))
    const unmarked = outOfOrder.filter(({ request, isCertain }) => isCertain && !request.isMarked)
    const wronglyMarked = endpoint.requests.filter(
      (request) => request.isMarked && !possible.has(request.event),
    )
    figures('6', {
      events: endpoint.events.length,
      lost: endpoint.lost,
      pauses: endpoint.pauses.length,
      outOfOrder: endpoint.outOfOrder,
      attemptsOutOfOrder: outOfOrder.length,
      unmarked: unmarked.length,
      wronglyMarked: wronglyMarked.length,
      p99: quantile(endpoint.latencies(), 0.99),
    })
    expect(endpoint.lost).toBe(0)
    expect(endpoint.pending).toBe(0)
    // Calls overtake a failing event after a minute: without any, this would check nothing.
    expect(outOfOrder.length).toBeGreaterThan(0)
    expect(unmarked).toEqual([])
  })
})
