/** P17: memory of a server from which 1,000 clients stream over HTTP, while nothing happens. */
import { sleep, startProcess } from './processes.js'
import { median, summarize } from './statistics.js'

const STREAMS = 1_000
const PER_ACCOUNT = 10
const GOAL_MB = 25
/** V8's young generation grows under load and never shrinks: a small one makes RSS reflect the live objects. */
const SMALL_YOUNG_GENERATION = ['--expose-gc', '--max-semi-space-size=1']

/** MB that the streams take, after each has had a heartbeat. */
async function measureOnce() {
  const server = startProcess('stream-server', { nodeOptions: SMALL_YOUNG_GENERATION })
  const clients = startProcess('stream-clients')
  try {
    const target = await server.request('listen', { accounts: STREAMS / PER_ACCOUNT, streams: STREAMS })
    // Code is compiled and buffers are pooled before the measurement.
    await clients.request('open', { ...target, count: PER_ACCOUNT })
    await clients.request('close')
    await sleep(500)
    const before = await server.request('memory')
    await clients.request('open', { ...target, count: STREAMS })
    await clients.request('heartbeats')
    const after = await server.request('memory')
    return { rssMb: after.rssMb - before.rssMb, heapMb: after.heapMb - before.heapMb }
  } finally {
    await Promise.all([server, clients].map((process) => process.stop()))
  }
}

/** @param {{ name: string, rounds: number }} options */
export async function measureStreams({ name, rounds }) {
  const results = []
  for (let round = 0; round < rounds; round += 1) results.push(await measureOnce())
  const heapMb = median(results.map((result) => result.heapMb))
  return [
    {
      row: name,
      measurement: `RSS (heap ${heapMb.toFixed(1)} MB), ${STREAMS.toLocaleString('en')} idle streams over HTTP`,
      baseline: 'the server without streams',
      unit: 'MB',
      goal: GOAL_MB,
      ...summarize(results.map(({ rssMb }) => rssMb)),
    },
  ]
}
