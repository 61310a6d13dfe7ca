/** P1 peers: alternatives to hookswitch, in interleaved rounds: BullMQ on Redis, and a queue in memory. */

import { startProcess } from './processes.js'
import { compareRates, interleave, ratesOf } from './statistics.js'

const CONCURRENCY = 64
const COUNT = 20_000
/** The alternatives are slower: their rounds take about as long. */
const PEER_COUNT = 5_000
const WARM_UP = 12_000

const PEERS = {
  loop: { measurement: 'in-memory queue and fetch, stored nowhere', child: 'loop-sender', client: 'fetch' },
  bullmqPool: { measurement: 'BullMQ on Redis and undici Pool', child: 'bullmq-sender', client: 'pool' },
  bullmqFetch: { measurement: 'BullMQ on Redis and fetch', child: 'bullmq-sender', client: 'fetch' },
}

/** @param {{ rounds: number, stores: import('./stores.js').Stores }} options */
export async function measurePeers({ rounds, stores }) {
  const processes = []
  const start = (name) => {
    processes.push(startProcess(name))
    return processes.at(-1)
  }
  try {
    const [receiver, raw, ours] = ['receiver', 'raw-sender', 'hookswitch-sender'].map(start)
    const { port } = await receiver.request('listen')
    await ours.request('prepare', { location: stores.newLocation(), port, concurrency: CONCURRENCY })
    await ours.request('run', { count: WARM_UP })
    const sample = await receiver.request('sample')
    await raw.request('prepare', { port, concurrency: CONCURRENCY, sample })
    await raw.request('run', { count: WARM_UP })
    const round = (side, count) => async () => ratesOf(await side.request('run', { count }), count)
    const sides = { raw: round(raw, COUNT), ours: round(ours, COUNT) }
    let sent = 2 * (WARM_UP + rounds * COUNT)
    for (const [name, { child, client }] of Object.entries(PEERS)) {
      const input = { client, port, concurrency: CONCURRENCY, sample }
      if (child === 'bullmq-sender') {
        // A separate Redis for each, so that they share neither keys nor load.
        input.redisPort = await start('redis').request('start')
        if (input.redisPort === undefined) {
          console.error('P1 peers: BullMQ is skipped, redis-server is not installed')
          break
        }
      }
      const peer = start(child)
      await peer.request('prepare', input)
      await peer.request('run', { count: PEER_COUNT })
      sides[name] = round(peer, PEER_COUNT)
      sent += (rounds + 1) * PEER_COUNT
    }
    const done = await interleave(rounds, sides)
    const received = await receiver.request('received')
    if (received !== sent) throw new Error(`wrong load: ${received} of ${sent} requests`)
    const row = (name, measurement) => ({
      row: 'P1 peers',
      measurement,
      baseline: 'undici Pool.request, same bytes',
      unit: 'ratio',
      ...compareRates(done.raw, done[name]),
    })
    const peers = Object.keys(PEERS).filter((name) => name in done)
    return [row('ours', 'hookswitch, as P1'), ...peers.map((name) => row(name, PEERS[name].measurement))]
  } finally {
    // Redis stops after its clients.
    for (const process of processes.reverse()) await process.stop()
  }
}
