/** What is built instead of hookswitch, in the same turns: BullMQ on Redis, and a queue in memory. */
import { against, inTurns, rates } from './numbers.js'
import { startProcess } from './processes.js'

const CONCURRENCY = 64
const COUNT = 20_000
/** The others are slower: a round of theirs takes about as long. */
const PEER_COUNT = 5_000
const WARM_UP = 12_000

const PEERS = {
  loop: { what: 'in-memory queue and fetch, kept nowhere', child: 'loop-sender', client: 'fetch' },
  bullmqPool: { what: 'BullMQ on Redis and undici Pool', child: 'bullmq-sender', client: 'pool' },
  bullmqFetch: { what: 'BullMQ on Redis and fetch', child: 'bullmq-sender', client: 'fetch' },
}

/** @param {{ rounds: number, places: import('./places.js').Places }} options */
export async function measurePeers({ rounds, places }) {
  const processes = []
  const start = (name) => {
    processes.push(startProcess(name))
    return processes.at(-1)
  }
  try {
    const [receiver, raw, ours] = ['receiver', 'raw-sender', 'hookswitch-sender'].map(start)
    const { port } = await receiver.ask('listen')
    await ours.ask('prepare', { place: places.fresh(), port, concurrency: CONCURRENCY })
    await ours.ask('run', { count: WARM_UP })
    const sample = await receiver.ask('sample')
    await raw.ask('prepare', { port, concurrency: CONCURRENCY, sample })
    await raw.ask('run', { count: WARM_UP })
    const round = (side, count) => async () => rates(await side.ask('run', { count }), count)
    const sides = { raw: round(raw, COUNT), ours: round(ours, COUNT) }
    let sent = 2 * (WARM_UP + rounds * COUNT)
    for (const [name, { child, client }] of Object.entries(PEERS)) {
      const input = { client, port, concurrency: CONCURRENCY, sample }
      if (child === 'bullmq-sender') {
        // Each has a Redis of its own: they share no keys, and none is left with the other's work.
        input.redisPort = await start('redis').ask('start')
        if (input.redisPort === undefined) {
          console.error('P1 peers: BullMQ is left out, redis-server is not installed')
          break
        }
      }
      const peer = start(child)
      await peer.ask('prepare', input)
      await peer.ask('run', { count: PEER_COUNT })
      sides[name] = round(peer, PEER_COUNT)
      sent += (rounds + 1) * PEER_COUNT
    }
    const done = await inTurns(rounds, sides)
    const received = await receiver.ask('received')
    if (received !== sent) throw new Error(`the load is broken: ${received} of ${sent} requests`)
    const row = (name, what) => ({
      row: 'P1 peers',
      what,
      baseline: 'undici Pool.request, same bytes',
      unit: 'ratio',
      ...against(done.raw, done[name]),
    })
    const peers = Object.keys(PEERS).filter((name) => name in done)
    return [row('ours', 'hookswitch, as P1'), ...peers.map((name) => row(name, PEERS[name].what))]
  } finally {
    // Who uses Redis ends before it does.
    for (const process of processes.reverse()) await process.stop()
  }
}
