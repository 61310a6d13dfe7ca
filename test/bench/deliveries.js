/** P1 and P2: deliveries a second, end to end, against undici's pool posting the same bytes. */
import { against, inTurns, rates } from './numbers.js'
import { startProcess } from './processes.js'

/** How many at once: a pool of connections is quickest with some, a store that waits for its disk with many. */
const AT_ONCE = { memory: [64], sqlite: [64, 512] }
const COUNT = 20_000
const WARM_UP = 12_000

const GOALS = {
  memory: { goal: 0.65, floor: 0.45 },
  sqlite: { goal: 0.35, floor: 0.25 },
}

/** @param {{ name: string, rounds: number, profile: string | false, places: import('./places.js').Places }} options */
export async function measureDeliveries(options) {
  const rows = []
  for (const atOnce of AT_ONCE[options.places.kind]) rows.push(await measureAt(atOnce, options))
  return rows
}

async function measureAt(atOnce, { name, rounds, profile, places }) {
  const receiver = startProcess('receiver')
  const raw = startProcess('raw-sender')
  const ours = startProcess('hookswitch-sender', { profile: profile && `${profile}-${atOnce}` })
  try {
    const { port } = await receiver.ask('listen')
    await ours.ask('prepare', { place: places.fresh(), port, concurrency: atOnce })
    await ours.ask('run', { count: WARM_UP })
    const sample = await receiver.ask('sample')
    await raw.ask('prepare', { port, concurrency: atOnce, sample })
    await raw.ask('run', { count: WARM_UP })
    const round = (side) => async () => rates(await side.ask('run', { count: COUNT }), COUNT)
    const done = await inTurns(rounds, { raw: round(raw), ours: round(ours) })
    const recorded = await ours.ask('recorded')
    const received = await receiver.ask('received')
    const sent = 2 * (WARM_UP + rounds * COUNT)
    if (received !== sent || recorded.some((text) => text !== 'success 200')) {
      throw new Error(`the load is broken: ${received} of ${sent} requests, ${recorded.join(', ')}`)
    }
    const body = sample.length - sample.indexOf('\r\n\r\n') - 4
    return {
      row: name,
      what: `deliveries/s, ${places.title}, ${body} bytes, ${atOnce} at once`,
      baseline: 'undici Pool.request, same bytes',
      unit: 'ratio',
      ...GOALS[places.kind],
      ...against(done.raw, done.ours),
    }
  } finally {
    await Promise.all([raw, ours, receiver].map((process) => process.stop()))
  }
}
