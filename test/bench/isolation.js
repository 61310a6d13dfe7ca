/** P8: how long healthy endpoints wait because others are dead or slow. Latency: published → first byte received. */
import { accountsOf, endpoints } from './endpoints.js'
import { inTurns, median, quantile, spread } from './numbers.js'
import { sleep, startProcess } from './processes.js'

const HEALTHY = { name: 'healthy', accounts: 20, perAccount: 10 }
const SLOW_ANSWER_MS = 9_000
/** One in a hundred of the healthy ones, in accounts that have healthy ones too. */
const FEW = 2

const MANY = { accounts: 1_000, perAccount: 10 }
const STEADY_EVENTS = 100
const DEAD_EVENTS = 50

/** How long late deliveries are waited for; what is missing then counts as this late. */
const PATIENCE_MS = 15_000

/** One load of healthy endpoints, with whatever else there is beside it; the latencies of the healthy ones. */
async function latenciesOf(publisher, receiver, input) {
  await receiver.ask('forget')
  const before = await receiver.ask('connections')
  const run = await publisher.ask('steady', input)
  const expected = run.events[0] * HEALTHY.perAccount
  const range = { group: 'hooks', from: run.from, to: run.to }
  const limit = performance.now() + PATIENCE_MS
  while ((await receiver.ask('count', range)) < expected && performance.now() < limit) await sleep(20)
  const came = await receiver.ask('latencies', range)
  const missing = Math.max(0, expected - came.length)
  const all = [...came, ...Array.from({ length: missing }, () => PATIENCE_MS)]
  const connections = (await receiver.ask('connections')) - before
  return { ...run, missing, connections, p50: quantile(all, 0.5), p99: quantile(all, 0.99) }
}

/** What was seen besides the row's own figure. */
function seen(without, beside) {
  const middle = (side, name) => median(side.map((round) => round[name]))
  const ms = (side, name) => middle(side, name).toFixed(1)
  const missing = Math.max(...beside.map((round) => round.missing))
  return (
    `p99 ${ms(beside, 'p99')} against ${ms(without, 'p99')} ms, ` +
    `p50 ${ms(beside, 'p50')} against ${ms(without, 'p50')} ms, ` +
    `failed attempts ${middle(beside, 'failed')}, ` +
    `new connections to the healthy ${middle(beside, 'connections')} against ${middle(without, 'connections')}, ` +
    `CPU ${Math.round(middle(beside, 'cpu') * 100)} against ${Math.round(middle(without, 'cpu') * 100)} %` +
    (missing > 0 ? `, up to ${missing} healthy deliveries not in after ${PATIENCE_MS / 1000} s` : '')
  )
}

/** 1 % dead and 1 % slow beside 200 healthy endpoints, at half of the rate that is the most. */
async function measureFew({ rounds, profile }) {
  const receiver = startProcess('timing-receiver')
  const troubled = startProcess('troubled-receivers')
  const without = startProcess('steady-publisher')
  const beside = startProcess('steady-publisher', { profile })
  try {
    const { port } = await receiver.ask('listen')
    const { slowPort, closedPort } = await troubled.ask('listen', { answerMs: SLOW_ANSWER_MS })
    const healthy = endpoints({ ...HEALTHY, port })
    const accounts = accountsOf(HEALTHY)
    const bad = [slowPort, closedPort].flatMap((badPort, kind) =>
      Array.from({ length: FEW }, (_, index) => ({
        accountId: accounts[kind * FEW + index],
        uri: `http://bad-${kind}-${index}.localhost:${badPort}/bad/${index}`,
      })),
    )
    await without.ask('prepare', { webhooks: healthy })
    await beside.ask('prepare', { webhooks: [...healthy, ...bad] })
    const most = () => without.ask('most', { accounts, fanOut: HEALTHY.perAccount, ms: 2_000 })
    await most()
    // Warm as the other one, by accounts of which all are healthy.
    const wellOff = accounts.slice(2 * FEW)
    await beside.ask('most', { accounts: wellOff, fanOut: HEALTHY.perAccount, ms: 4_000 })
    const { perSecond } = await most()
    const loads = [{ accounts, perSecond: perSecond / 2 / HEALTHY.perAccount }]
    const run = (publisher) => () => latenciesOf(publisher, receiver, { loads, rampMs: 2_000, ms: 4_000 })
    await run(beside)()
    const done = await inTurns(rounds, { without: run(without), beside: run(beside) })
    return {
      row: 'P8',
      what: `healthy endpoints' p99 beside 1 % dead and 1 % that answer in 9 s, ${Math.round(perSecond / 2)}/s`,
      baseline: `${healthy.length} healthy endpoints alone`,
      unit: '×',
      goal: 1.1,
      floor: 1.5,
      ...spread(done.beside.map((round, index) => round.p99 / done.without[index].p99)),
      seen: seen(done.without, done.beside),
    }
  } finally {
    await Promise.all([without, beside, troubled, receiver].map((process) => process.stop()))
  }
}

/** 10,000 dead ones beside 200 healthy endpoints. Each round begins anew: nothing is known of the dead ones then. */
async function measureMany({ rounds, profile }, kind) {
  const receiver = startProcess('timing-receiver')
  const troubled = startProcess('troubled-receivers')
  const without = startProcess('steady-publisher')
  try {
    const { port } = await receiver.ask('listen')
    const ports = await troubled.ask('listen', { answerMs: SLOW_ANSWER_MS })
    const dead = { name: 'dead', ...MANY, port: kind === 'refused' ? ports.closedPort : ports.silentPort }
    const healthy = endpoints({ ...HEALTHY, port })
    const load = { accounts: accountsOf(HEALTHY), perSecond: STEADY_EVENTS }
    const deadLoad = { accounts: accountsOf(dead), perSecond: DEAD_EVENTS }
    await without.ask('prepare', { webhooks: healthy })
    await without.ask('most', { accounts: load.accounts, fanOut: HEALTHY.perAccount, ms: 2_000 })
    const times = { rampMs: 12_000, ms: 8_000 }
    const beside = async () => {
      const publisher = startProcess('steady-publisher', { profile })
      try {
        await publisher.ask('prepare', { webhooks: [...healthy, ...endpoints(dead)] })
        await publisher.ask('most', { accounts: load.accounts, fanOut: HEALTHY.perAccount, ms: 2_000 })
        return await latenciesOf(publisher, receiver, { loads: [load, deadLoad], ...times })
      } finally {
        await publisher.stop()
      }
    }
    const alone = () => latenciesOf(without, receiver, { loads: [load], ...times, rampMs: 1_000 })
    const done = await inTurns(Math.min(rounds, 3), { without: alone, beside })
    const count = (MANY.accounts * MANY.perAccount).toLocaleString('en')
    return {
      row: 'P8',
      what: `healthy endpoints' p99 beside ${count} dead ones (${kind}), minus that without`,
      baseline: `${healthy.length} healthy endpoints alone, ${STEADY_EVENTS * HEALTHY.perAccount}/s`,
      unit: 'ms',
      goal: 50,
      ...spread(done.beside.map((round, index) => round.p99 - done.without[index].p99)),
      seen: seen(done.without, done.beside),
    }
  } finally {
    await Promise.all([without, troubled, receiver].map((process) => process.stop()))
  }
}

/** @param {{ rounds: number, profile: boolean }} options */
export async function measureIsolation(options) {
  return [
    await measureFew(options),
    await measureMany(options, 'refused'),
    await measureMany(options, 'never answer'),
  ]
}
