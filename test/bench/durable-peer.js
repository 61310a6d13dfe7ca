/** P3: deliveries a second on PostgreSQL, against a queue that is as durable: BullMQ on a Redis that flushes always. */
import { LeftOut } from './left-out.js'
import { against, inTurns, rates } from './numbers.js'
import { startProcess } from './processes.js'

/** How many at once: a store that waits for its disk is quickest with many. */
const AT_ONCE = [64, 512]
const COUNT = 10_000
const WARM_UP = 6_000

/** @param {{ name: string, rounds: number, profile: string | false, places: import('./places.js').Places }} options */
export async function measureDurablePeer(options) {
  const rows = []
  for (const atOnce of AT_ONCE) rows.push(await measureAt(atOnce, options))
  return rows
}

async function measureAt(atOnce, { name, rounds, profile, places }) {
  const redis = startProcess('redis')
  const receiver = startProcess('receiver')
  const theirs = startProcess('bullmq-sender')
  const ours = startProcess('hookswitch-sender', { profile: profile && `${profile}-${atOnce}` })
  try {
    const redisPort = await redis.ask('start', { keeps: 'all' })
    if (redisPort === undefined) throw new LeftOut('redis-server is not installed')
    const { port } = await receiver.ask('listen')
    await ours.ask('prepare', { place: places.fresh(), port, concurrency: atOnce })
    await ours.ask('run', { count: WARM_UP })
    const sample = await receiver.ask('sample')
    await theirs.ask('prepare', { client: 'pool', port, concurrency: atOnce, sample, redisPort })
    await theirs.ask('run', { count: WARM_UP })
    /** The processor time of a server is that of the side that uses it. */
    const round = (side, serverMs) => async () => {
      const before = await serverMs()
      const { ms, cpuMs } = await side.ask('run', { count: COUNT })
      return rates({ ms, cpuMs: cpuMs + (await serverMs()) - before }, COUNT)
    }
    const done = await inTurns(rounds, {
      theirs: round(theirs, () => redis.ask('cpuMs')),
      ours: round(ours, places.cpuMs),
    })
    const recorded = await ours.ask('recorded')
    const received = await receiver.ask('received')
    const sent = 2 * (WARM_UP + rounds * COUNT)
    if (received !== sent || recorded.some((text) => text !== 'success 200')) {
      throw new Error(`the load is broken: ${received} of ${sent} requests, ${recorded.join(', ')}`)
    }
    return {
      row: name,
      what: `deliveries/s, ${places.title}, ${atOnce} at once, processor time with the server's`,
      baseline: 'BullMQ and undici Pool, Redis with appendfsync always',
      unit: 'ratio',
      goal: 1.5,
      floor: 1,
      ...against(done.theirs, done.ours),
    }
  } finally {
    // Who uses Redis ends before it does.
    for (const process of [theirs, ours, receiver, redis]) await process.stop()
  }
}
