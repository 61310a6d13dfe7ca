/** P1 and P2: end-to-end deliveries a second, compared with undici's pool posting the same bytes. */

import { startProcess } from './processes.js'
import { compareRates, interleave, ratesOf } from './statistics.js'

/** Concurrent deliveries: a connection pool is fastest with some, a store that waits for its disk with many. */
const CONCURRENCY = { memory: [64], sqlite: [64, 512] }
const COUNT = 20_000
const WARM_UP = 12_000

const GOALS = {
  memory: { 64: { goal: 0.65, floor: 0.52 } },
  sqlite: { 64: { goal: 0.3, floor: 0.24 }, 512: { goal: 0.55, floor: 0.45 } },
}

/** @param {{ name: string, rounds: number, profile: string | false, stores: import('./stores.js').Stores }} options */
export async function measureDeliveries(options) {
  const rows = []
  for (const concurrency of CONCURRENCY[options.stores.kind]) rows.push(await measureAt(concurrency, options))
  return rows
}

async function measureAt(concurrency, { name, rounds, profile, stores }) {
  const receiver = startProcess('receiver')
  const raw = startProcess('raw-sender')
  const ours = startProcess('hookswitch-sender', { profile: profile && `${profile}-${concurrency}` })
  try {
    const { port } = await receiver.request('listen')
    await ours.request('prepare', { location: stores.newLocation(), port, concurrency })
    await ours.request('run', { count: WARM_UP })
    const sample = await receiver.request('sample')
    await raw.request('prepare', { port, concurrency, sample })
    await raw.request('run', { count: WARM_UP })
    const round = (side) => async () => ratesOf(await side.request('run', { count: COUNT }), COUNT)
    const done = await interleave(rounds, { raw: round(raw), ours: round(ours) })
    const recorded = await ours.request('lastAttempts')
    const received = await receiver.request('received')
    const sent = 2 * (WARM_UP + rounds * COUNT)
    if (received !== sent || recorded.some((text) => text !== 'success 200')) {
      throw new Error(`wrong load: ${received} of ${sent} requests, ${recorded.join(', ')}`)
    }
    const body = sample.length - sample.indexOf('\r\n\r\n') - 4
    return {
      row: name,
      measurement: `deliveries/s, ${stores.title}, ${body} bytes, ${concurrency} concurrent`,
      baseline: 'undici Pool.request, same bytes',
      unit: 'ratio',
      ...GOALS[stores.kind][concurrency],
      ...compareRates(done.raw, done.ours),
    }
  } finally {
    await Promise.all([raw, ours, receiver].map((process) => process.stop()))
  }
}
