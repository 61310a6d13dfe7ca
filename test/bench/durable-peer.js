/** P3: deliveries a second on PostgreSQL, compared with BullMQ on a Redis that is as durable (`appendfsync always`). */

import { startProcess } from './processes.js'
import { Skipped } from './skipped.js'
import { compareRates, interleave, ratesOf } from './statistics.js'

/** Concurrent deliveries: a store that waits for its disk is fastest with many. */
const CONCURRENCY = [64, 512]
const GOALS = { 64: { goal: 2, floor: 1.5 }, 512: { goal: 3, floor: 2 } }
const COUNT = 10_000
const WARM_UP = 6_000

/** @param {{ name: string, rounds: number, profile: string | false, stores: import('./stores.js').Stores }} options */
export async function measureDurablePeer(options) {
  const rows = []
  for (const concurrency of CONCURRENCY) rows.push(await measureAt(concurrency, options))
  return rows
}

async function measureAt(concurrency, { name, rounds, profile, stores }) {
  const redis = startProcess('redis')
  const receiver = startProcess('receiver')
  const theirs = startProcess('bullmq-sender')
  const ours = startProcess('hookswitch-sender', { profile: profile && `${profile}-${concurrency}` })
  try {
    const redisPort = await redis.request('start', { persistence: 'always' })
    if (redisPort === undefined) throw new Skipped('redis-server is not installed')
    const { port } = await receiver.request('listen')
    await ours.request('prepare', { location: stores.newLocation(), port, concurrency })
    await ours.request('run', { count: WARM_UP })
    const sample = await receiver.request('sample')
    await theirs.request('prepare', { client: 'pool', port, concurrency, sample, redisPort })
    await theirs.request('run', { count: WARM_UP })
    /** The CPU time of a database server counts for the side that uses it. */
    const round = (side, serverMs) => async () => {
      const before = await serverMs()
      const { ms, cpuMs } = await side.request('run', { count: COUNT })
      return ratesOf({ ms, cpuMs: cpuMs + (await serverMs()) - before }, COUNT)
    }
    const done = await interleave(rounds, {
      theirs: round(theirs, () => redis.request('cpuMs')),
      ours: round(ours, stores.cpuMs),
    })
    const recorded = await ours.request('lastAttempts')
    const received = await receiver.request('received')
    const sent = 2 * (WARM_UP + rounds * COUNT)
    if (received !== sent || recorded.some((text) => text !== 'success 200')) {
      throw new Error(`wrong load: ${received} of ${sent} requests, ${recorded.join(', ')}`)
    }
    return {
      row: name,
      measurement: `deliveries/s, ${stores.title}, ${concurrency} concurrent, CPU time including the server's`,
      baseline: 'BullMQ and undici Pool, Redis with appendfsync always',
      unit: 'ratio',
      ...GOALS[concurrency],
      ...compareRates(done.theirs, done.ours),
    }
  } finally {
    // Redis ends last, after its client.
    for (const process of [theirs, ours, receiver, redis]) await process.stop()
  }
}
