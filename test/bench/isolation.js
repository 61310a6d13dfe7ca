/** P8: how much a few dead or slow endpoints delay healthy ones. Latency: from publishing to the first byte received. */
import { accountsOf, endpointsOf } from './endpoints.js'
import { sleep, startProcess } from './processes.js'
import { interleave, median, quantile, summarize } from './statistics.js'

const HEALTHY = { name: 'healthy', accounts: 20, perAccount: 10 }
const SLOW_RESPONSE_MS = 9_000
/** Dead endpoints, and slow ones: 1 % each, in accounts that also have healthy endpoints. */
const FEW = 2

/** Longest wait for late deliveries; the latency of those still missing is counted as this. */
const MAX_WAIT_MS = 15_000

/** Runs a steady load and measures the latencies of the healthy endpoints in it. */
async function measureLatencies(publisher, receiver, input) {
  await receiver.request('reset')
  const before = await receiver.request('connections')
  const run = await publisher.request('steady', input)
  const expected = run.events[0] * HEALTHY.perAccount
  const range = { group: 'hooks', from: run.from, to: run.to }
  const limit = performance.now() + MAX_WAIT_MS
  while ((await receiver.request('count', range)) < expected && performance.now() < limit) await sleep(20)
  const arrived = await receiver.request('latencies', range)
  const missing = Math.max(0, expected - arrived.length)
  const all = [...arrived, ...Array.from({ length: missing }, () => MAX_WAIT_MS)]
  const connections = (await receiver.request('connections')) - before
  return { ...run, missing, connections, p50: quantile(all, 0.5), p99: quantile(all, 0.99) }
}

/** The details column: medians of both sides. */
function describe(without, beside) {
  const medianOf = (side, name) => median(side.map((round) => round[name]))
  const ms = (side, name) => medianOf(side, name).toFixed(1)
  const missing = Math.max(...beside.map((round) => round.missing))
  return (
    `p99 ${ms(beside, 'p99')} vs. ${ms(without, 'p99')} ms, ` +
    `p50 ${ms(beside, 'p50')} vs. ${ms(without, 'p50')} ms, ` +
    `failed attempts ${medianOf(beside, 'failed')}, ` +
    `new connections to healthy endpoints ${medianOf(beside, 'connections')} vs. ${medianOf(without, 'connections')}, ` +
    `CPU ${Math.round(medianOf(beside, 'cpu') * 100)} vs. ${Math.round(medianOf(without, 'cpu') * 100)} %` +
    (missing > 0 ? `, up to ${missing} healthy deliveries missing after ${MAX_WAIT_MS / 1000} s` : '')
  )
}

/**
 * 1 % dead and 1 % slow endpoints beside 200 healthy ones, at half of the highest rate.
 *
 * @param {{ rounds: number, profile: string | false }} options
 */
export async function measureIsolation({ rounds, profile }) {
  const receiver = startProcess('timing-receiver')
  const failing = startProcess('failing-receivers')
  const without = startProcess('steady-publisher')
  const beside = startProcess('steady-publisher', { profile })
  try {
    const { port } = await receiver.request('listen')
    const { slowPort, closedPort } = await failing.request('listen', { delayMs: SLOW_RESPONSE_MS })
    const healthy = endpointsOf({ ...HEALTHY, port })
    const accounts = accountsOf(HEALTHY)
    const bad = [slowPort, closedPort].flatMap((badPort, kind) =>
      Array.from({ length: FEW }, (_, index) => ({
        accountId: accounts[kind * FEW + index],
        uri: `http://bad-${kind}-${index}.localhost:${badPort}/bad/${index}`,
      })),
    )
    await without.request('prepare', { webhooks: healthy })
    await beside.request('prepare', { webhooks: [...healthy, ...bad] })
    const findMaxRate = () => without.request('maxRate', { accounts, fanOut: HEALTHY.perAccount, ms: 2_000 })
    await findMaxRate()
    // The same warm-up for the other publisher, in accounts that have healthy endpoints only.
    const healthyAccounts = accounts.slice(2 * FEW)
    await beside.request('maxRate', { accounts: healthyAccounts, fanOut: HEALTHY.perAccount, ms: 4_000 })
    const { perSecond } = await findMaxRate()
    const loads = [{ accounts, perSecond: perSecond / 2 / HEALTHY.perAccount }]
    const run = (publisher) => () =>
      measureLatencies(publisher, receiver, { loads, rampMs: 2_000, ms: 4_000 })
    await run(beside)()
    const done = await interleave(rounds, { without: run(without), beside: run(beside) })
    return [
      {
        row: 'P8',
        measurement: `healthy endpoints' p99 beside 1 % dead and 1 % that respond after 9 s, ${Math.round(perSecond / 2)}/s`,
        baseline: `${healthy.length} healthy endpoints alone`,
        unit: '×',
        goal: 1.1,
        floor: 1.5,
        ...summarize(done.beside.map((round, index) => round.p99 / done.without[index].p99)),
        details: describe(done.without, done.beside),
      },
    ]
  } finally {
    await Promise.all([without, beside, failing, receiver].map((process) => process.stop()))
  }
}
