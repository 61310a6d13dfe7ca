/**
 * REPLAY: a replay of what thousands of webhooks have lost, beside a customer with 100 events a second. Latency: from
 * publishing to the first byte at the receiver, before the replay and during it.
 */
import { sleep, startProcess } from './processes.js'
import { quantile, repeat, summarize } from './statistics.js'

const WEBHOOKS = 5_000
const PER_SECOND = 100
const BEFORE_MS = 10_000
/** Longest time that a replay may take. */
const MAX_MS = 1_800_000
/** Until late requests have arrived, ms. */
const LATE_MS = 1_000

async function measureOnce({ stores }, events) {
  const timing = startProcess('timing-receiver')
  const receiver = startProcess('switching-receiver')
  const service = startProcess('replaying-service')
  try {
    const { port: quickPort } = await timing.request('listen')
    const { port } = await receiver.request('listen')
    const location = stores.newLocation({ attemptsInAll: 10_000_000 })
    await service.request('prepare', { location, webhooks: WEBHOOKS, port, quickPort })
    await service.request('lose', { events })
    await receiver.request('comeBack')
    const before = await service.request('publish', { perSecond: PER_SECOND, ms: BEFORE_MS })
    const { count, countMs } = await service.request('count')
    const during = await service.request('replay', { perSecond: PER_SECOND, maxMs: MAX_MS })
    await sleep(LATE_MS)
    const p99 = async ({ from, to }) =>
      quantile(await timing.request('latencies', { group: 'quick', from, to }), 0.99)
    return {
      count,
      countMs,
      perSecond: (count * 1e6) / (during.to - during.from),
      addedMs: (await p99(during)) - (await p99(before)),
    }
  } finally {
    await Promise.all([service, receiver, timing].map((process) => process.stop()))
  }
}

/** @param {import('./measurements.js').Options} options `pending`: number of deliveries, a multiple of 5,000 */
export async function measureReplay({ name, rounds, pending, stores }) {
  const events = Math.round(pending / WEBHOOKS)
  const done = await repeat(rounds, () => measureOnce({ stores }, events))
  const of = `${(WEBHOOKS * events).toLocaleString('en')} deliveries of ${WEBHOOKS.toLocaleString('en')} webhooks`
  const row = (measurement, unit, goal, figureOf) => ({
    row: name,
    measurement: `${measurement}, ${of}, ${stores.title}`,
    baseline: '–',
    unit,
    goal,
    ...summarize(done.map(figureOf)),
  })
  return [
    row('deliveries replayed a second', '/s', 1_000, ({ perSecond }) => perSecond),
    row('p99 of others that a replay adds', 'ms', 50, ({ addedMs }) => addedMs),
    row('counting what a replay repeats', 'ms', 2_000, ({ countMs }) => countMs),
  ]
}
