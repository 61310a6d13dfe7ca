/** P6 and P9: how long `publish` takes its caller. */
import { quantile, spread } from './numbers.js'
import { startProcess } from './processes.js'

const MANY_WEBHOOKS = 10_000
/** A million pending deliveries are some gigabytes. */
const ROOM = ['--max-old-space-size=8192']

async function repeat(rounds, measure) {
  const results = []
  for (let round = 0; round < rounds; round += 1) results.push(await measure())
  return results
}

const p99Row = (what, results) => ({
  row: 'P6',
  what: `publish() p99, ${what}`,
  baseline: '–',
  unit: 'µs',
  goal: 200,
  ...spread(results.map((micros) => quantile(micros, 0.99))),
  p50: spread(results.map((micros) => quantile(micros, 0.5))).median,
})

/** @param {{ rounds: number, pending: number }} options */
export async function measurePublish({ rounds, pending }) {
  const receiver = startProcess('receiver')
  const live = startProcess('publisher')
  const full = startProcess('publisher', { nodeOptions: ROOM })
  try {
    const { port } = await receiver.ask('listen')
    await live.ask('prepare', { port, webhooks: 1 })
    await live.ask('many', { count: 5_000 })
    const idle = await repeat(rounds, () => live.ask('calm', { count: 1_000, everyMs: 1 }))
    const busy = await repeat(rounds, () => live.ask('steady', { count: 10_000, perSecond: 5_000 }))
    await full.ask('prepare', { webhooks: 1 })
    const { rssMb } = await full.ask('fill', { count: pending })
    const crowded = await repeat(rounds, () => full.ask('many', { count: 2_000 }))
    const million = `${pending.toLocaleString('en')} pending (${Math.round(rssMb)} MB)`
    return [p99Row('idle', idle), p99Row('at 5,000/s', busy), p99Row(million, crowded)]
  } finally {
    await Promise.all([live, full, receiver].map((process) => process.stop()))
  }
}

/** @param {{ rounds: number }} options */
export async function measureFanOut({ rounds }) {
  const publisher = startProcess('publisher', { nodeOptions: ROOM })
  try {
    await publisher.ask('prepare', { accounts: 1, webhooks: MANY_WEBHOOKS })
    const first = await publisher.ask('one')
    const results = await repeat(Math.max(rounds, 7), () => publisher.ask('one'))
    return [
      {
        row: 'P9',
        what: `one event to ${MANY_WEBHOOKS.toLocaleString('en')} webhooks (the first: ${Math.round(first)} ms)`,
        baseline: '–',
        unit: 'ms',
        goal: 50,
        ...spread(results),
      },
    ]
  } finally {
    await publisher.stop()
  }
}
