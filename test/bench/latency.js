/** P7: latency from publishing to the receiver in an idle process, compared with one raw request. */

import { sharedMicros, sleep, startProcess } from './processes.js'
import { quantile, summarize } from './statistics.js'

const CONCURRENCY = 64
const WARM_UP = 3_000
/** Long enough for both senders and the receiver to become idle. */
const PAUSE_MS = 2
/** `goal`: milliseconds above the baseline; `pairs`: requests of each side in a round. */
const KINDS = {
  memory: { goal: 1, pairs: 1_000 },
  sqlite: { goal: 5, pairs: 500 },
  postgres: { goal: 15, pairs: 500 },
}
const ALL_TIMES = { from: 0, to: Number.MAX_SAFE_INTEGER }

/** Latencies are differences of times of two processes, which must share one clock. */
async function checkSharedClock(process) {
  for (let check = 0; check < 100; check += 1) {
    const before = sharedMicros()
    const theirs = await process.request('now')
    if (before > theirs || theirs > sharedMicros())
      throw new Error('the processes of this machine do not share a clock')
  }
}

/** @param {{ name: string, rounds: number, profile: string | false, stores: import('./stores.js').Stores }} options */
export async function measureLatency({ name, rounds, profile, stores }) {
  const { goal, pairs } = KINDS[stores.kind]
  const receiver = startProcess('timing-receiver')
  const raw = startProcess('raw-sender')
  const ours = startProcess('hookswitch-sender', { profile })
  try {
    const { port } = await receiver.request('listen')
    await checkSharedClock(receiver)
    await ours.request('prepare', { location: stores.newLocation(), port, concurrency: CONCURRENCY })
    await ours.request('sendOne')
    await raw.request('prepare', { port, concurrency: CONCURRENCY, sample: await receiver.request('sample') })
    await ours.request('run', { count: WARM_UP })
    await raw.request('run', { count: WARM_UP })
    for (let pair = 0; pair < WARM_UP / 10; pair += 1) await sendPair(raw, ours)
    const [p99, p50] = [
      { raw: [], ours: [], difference: [] },
      { raw: [], ours: [] },
    ]
    for (let round = 0; round < rounds; round += 1) {
      await receiver.request('reset')
      for (let pair = 0; pair < pairs; pair += 1) await sendPair(raw, ours)
      const theirs = await receiver.request('latencies', { group: 'raw', ...ALL_TIMES })
      const own = await receiver.request('latencies', { group: 'hooks', ...ALL_TIMES })
      if (theirs.length !== pairs || own.length !== pairs)
        throw new Error(`expected ${pairs} requests of each side, got ${theirs.length} and ${own.length}`)
      p99.raw.push(quantile(theirs, 0.99))
      p99.ours.push(quantile(own, 0.99))
      p99.difference.push(p99.ours.at(-1) - p99.raw.at(-1))
      p50.raw.push(quantile(theirs, 0.5))
      p50.ours.push(quantile(own, 0.5))
    }
    const medianOf = (values) => summarize(values).median.toFixed(2)
    return [
      {
        row: name,
        measurement: `event → first byte at the receiver, idle, ${stores.title}: p99 minus that of the baseline`,
        baseline: 'one undici Pool.request → first byte',
        unit: 'ms',
        goal,
        ...summarize(p99.difference),
        details:
          `p99 ${medianOf(p99.ours)} vs. ${medianOf(p99.raw)} ms, ` +
          `p50 ${medianOf(p50.ours)} vs. ${medianOf(p50.raw)} ms`,
      },
    ]
  } finally {
    await Promise.all([raw, ours, receiver].map((process) => process.stop()))
  }
}

/** One request of each side, so that other load on the machine in these milliseconds affects both. */
async function sendPair(raw, ours) {
  await raw.request('sendOne', { group: 'raw' })
  await sleep(PAUSE_MS)
  await ours.request('sendOne')
  await sleep(PAUSE_MS)
}
