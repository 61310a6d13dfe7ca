/** P6: how long `publish` takes its caller. */
import { fill } from './filling.js'
import { quantile, repeat, spread } from './numbers.js'
import { ROOM, startProcess } from './processes.js'
import { fellBehind, rateText, steadyRate } from './steady-rate.js'

const PER_SECOND = 5_000
const STEADY_SECONDS = 2

/** What is shown of each store. `count`: publishes of a round, one after the other. */
const KINDS = {
  memory: { goal: 200, unit: 'µs', perUnit: 1, count: 2_000, idleCount: 1_000 },
  sqlite: { goal: 5, unit: 'ms', perUnit: 1_000, count: 1_000, idleCount: 500 },
  postgres: { goal: 15, unit: 'ms', perUnit: 1_000, count: 1_000, idleCount: 500 },
}

/** @param {{ name: string, rounds: number, pending: number, places: import('./places.js').Places }} options */
export async function measurePublish(options) {
  const { name, rounds, places } = options
  const { goal, unit, perUnit, ...counts } = KINDS[places.kind]
  const row = (what, results, said = '') => {
    const quantiles = (share) => spread(results.map((micros) => quantile(micros, share) / perUnit))
    return {
      row: name,
      what: `publish() p99, ${what}, ${places.title}`,
      baseline: '–',
      unit,
      goal,
      ...quantiles(0.99),
      p50: quantiles(0.5).median,
      seen: `p50 ${quantiles(0.5).median.toFixed(perUnit === 1 ? 0 : 2)} ${unit}${said}`,
    }
  }
  const receiver = startProcess('receiver')
  const live = startProcess('publisher')
  const full = startProcess('publisher', { nodeOptions: ROOM })
  try {
    const { port } = await receiver.ask('listen')
    await live.ask('prepare', { place: places.fresh(), port, webhooks: 1 })
    await live.ask('warmUp', { count: 5_000 })
    const idle = await repeat(rounds, () => live.ask('calm', { count: counts.idleCount }))
    const busy = places.kind === 'memory' ? await inTurn(live, rounds) : await atOnce(live, rounds)
    const crowd = await crowded(full, counts.count, options)
    return [
      row('idle', idle),
      row(`at ${busy.text}`, busy.results, busy.said),
      row(crowd.text, crowd.results),
    ]
  } finally {
    await Promise.all([live, full, receiver].map((process) => process.stop()))
  }
}

/** Where it takes microseconds: each when the one before was accepted. */
async function inTurn(live, rounds) {
  const load = { count: PER_SECOND * STEADY_SECONDS, perSecond: PER_SECOND }
  const results = await repeat(rounds, () => live.ask('steadyInTurn', load))
  return { results, text: rateText(PER_SECOND, PER_SECOND), said: '' }
}

/** Where it waits for a disk: each when it is time to. */
async function atOnce(live, rounds) {
  const perSecond = await steadyRate(live, PER_SECOND)
  const load = { count: perSecond * STEADY_SECONDS, perSecond }
  const runs = await repeat(rounds, () => live.ask('steady', load))
  return {
    results: runs.map(({ micros }) => micros),
    text: rateText(perSecond, PER_SECOND),
    said: fellBehind(runs),
  }
}

/** Beside so many that wait, in a process that sends nothing. */
async function crowded(full, count, { rounds, pending, places }) {
  const place = places.fresh()
  let waiting = pending
  if (places.kind === 'memory') {
    await full.ask('prepare', { place, webhooks: 1 })
    await full.ask('fill', { count: pending })
  } else {
    waiting = (await fill(place, { pending })).pending
    await full.ask('prepare', { place, webhooks: 1 })
  }
  const { rssMb } = await full.ask('memory')
  const results = await repeat(rounds, () => full.ask('many', { count }))
  return { results, text: `${waiting.toLocaleString('en')} pending (${Math.round(rssMb)} MB)` }
}
