/** P6: latency of `publish` for its caller. */
import { fillStore } from './fill-store.js'
import { LARGE_HEAP, startProcess } from './processes.js'
import { quantile, repeat, summarize } from './statistics.js'
import { findSteadyRate, formatRate, lateRoundsNote } from './steady-rate.js'

const PER_SECOND = 5_000
const STEADY_SECONDS = 2

/** Goals, units and load by store. `count`: sequential publishes in a round. */
const KINDS = {
  memory: { goal: 200, unit: 'µs', perUnit: 1, count: 2_000, idleCount: 1_000 },
  sqlite: { goal: 5, unit: 'ms', perUnit: 1_000, count: 1_000, idleCount: 500 },
  postgres: { goal: 15, unit: 'ms', perUnit: 1_000, count: 1_000, idleCount: 500 },
}

/** @param {{ name: string, rounds: number, pending: number, stores: import('./stores.js').Stores }} options */
export async function measurePublish(options) {
  const { name, rounds, stores } = options
  const { goal, unit, perUnit, ...counts } = KINDS[stores.kind]
  const row = (measurement, results, note = '') => {
    const quantiles = (share) => summarize(results.map((micros) => quantile(micros, share) / perUnit))
    return {
      row: name,
      measurement: `publish() p99, ${measurement}, ${stores.title}`,
      baseline: '–',
      unit,
      goal,
      ...quantiles(0.99),
      p50: quantiles(0.5).median,
      details: `p50 ${quantiles(0.5).median.toFixed(perUnit === 1 ? 0 : 2)} ${unit}${note}`,
    }
  }
  const receiver = startProcess('receiver')
  const live = startProcess('publisher')
  const backlogged = startProcess('publisher', { nodeOptions: LARGE_HEAP })
  try {
    const { port } = await receiver.request('listen')
    await live.request('prepare', { location: stores.newLocation(), port, webhooks: 1 })
    await live.request('warmUp', { count: 5_000 })
    const idle = await repeat(rounds, () => live.request('publishIdle', { count: counts.idleCount }))
    const busy =
      stores.kind === 'memory' ? await measureSequential(live, rounds) : await measureConcurrent(live, rounds)
    const backlog = await measureWithBacklog(backlogged, counts.count, options)
    return [
      row('idle', idle),
      row(`at ${busy.text}`, busy.results, busy.note),
      row(backlog.text, backlog.results),
    ]
  } finally {
    await Promise.all([live, backlogged, receiver].map((process) => process.stop()))
  }
}

/** For a store that takes microseconds: each publish waits for the one before. */
async function measureSequential(live, rounds) {
  const load = { count: PER_SECOND * STEADY_SECONDS, perSecond: PER_SECOND }
  const results = await repeat(rounds, () => live.request('steadySequential', load))
  return { results, text: formatRate(PER_SECOND, PER_SECOND), note: '' }
}

/** For a store that waits for a disk: each publish starts on schedule, whether earlier ones are accepted or not. */
async function measureConcurrent(live, rounds) {
  const perSecond = await findSteadyRate(live, PER_SECOND)
  const load = { count: perSecond * STEADY_SECONDS, perSecond }
  const runs = await repeat(rounds, () => live.request('steady', load))
  return {
    results: runs.map(({ micros }) => micros),
    text: formatRate(perSecond, PER_SECOND),
    note: lateRoundsNote(runs),
  }
}

/** With a backlog, in a process that gets no responses. */
async function measureWithBacklog(publisher, count, { rounds, pending, stores }) {
  const location = stores.newLocation()
  let waiting = pending
  if (stores.kind === 'memory') {
    await publisher.request('prepare', { location, webhooks: 1 })
    await publisher.request('fill', { count: pending })
  } else {
    waiting = (await fillStore(location, { pending })).pending
    await publisher.request('prepare', { location, webhooks: 1 })
  }
  const { rssMb } = await publisher.request('memory')
  const results = await repeat(rounds, () => publisher.request('publishMany', { count }))
  return { results, text: `${waiting.toLocaleString('en')} pending (${Math.round(rssMb)} MB)` }
}
