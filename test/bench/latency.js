/** P7: how long an event takes to its receiver when nothing else is to do, against one raw request. */
import { quantile, spread } from './numbers.js'
import { sharedMicros, sleep, startProcess } from './processes.js'

const CONCURRENCY = 64
const WARM_UP = 3_000
/** Both sides, and the receiver, have gone to sleep by then. */
const PAUSE_MS = 2
/** `goal`: milliseconds more than the baseline; `pairs` of a round. */
const KINDS = {
  memory: { goal: 1, pairs: 1_000 },
  sqlite: { goal: 5, pairs: 500 },
  postgres: { goal: 15, pairs: 500 },
}
const ALWAYS = { from: 0, to: Number.MAX_SAFE_INTEGER }

/** Moments of two processes are subtracted: their clocks must be one. */
async function checkSharedClock(process) {
  for (let turn = 0; turn < 100; turn += 1) {
    const before = sharedMicros()
    const theirs = await process.ask('now')
    if (before > theirs || theirs > sharedMicros())
      throw new Error('processes of this machine share no clock')
  }
}

/** @param {{ name: string, rounds: number, profile: string | false, places: import('./places.js').Places }} options */
export async function measureLatency({ name, rounds, profile, places }) {
  const { goal, pairs } = KINDS[places.kind]
  const receiver = startProcess('timing-receiver')
  const raw = startProcess('raw-sender')
  const ours = startProcess('hookswitch-sender', { profile })
  try {
    const { port } = await receiver.ask('listen')
    await checkSharedClock(receiver)
    await ours.ask('prepare', { place: places.fresh(), port, concurrency: CONCURRENCY })
    await ours.ask('one')
    await raw.ask('prepare', { port, concurrency: CONCURRENCY, sample: await receiver.ask('sample') })
    await ours.ask('run', { count: WARM_UP })
    await raw.ask('run', { count: WARM_UP })
    for (let pair = 0; pair < WARM_UP / 10; pair += 1) await onePair(raw, ours)
    const [p99, p50] = [
      { raw: [], ours: [], more: [] },
      { raw: [], ours: [] },
    ]
    for (let round = 0; round < rounds; round += 1) {
      await receiver.ask('forget')
      for (let pair = 0; pair < pairs; pair += 1) await onePair(raw, ours)
      const theirs = await receiver.ask('latencies', { group: 'raw', ...ALWAYS })
      const own = await receiver.ask('latencies', { group: 'hooks', ...ALWAYS })
      if (theirs.length !== pairs || own.length !== pairs) throw new Error('requests came in other numbers')
      p99.raw.push(quantile(theirs, 0.99))
      p99.ours.push(quantile(own, 0.99))
      p99.more.push(p99.ours.at(-1) - p99.raw.at(-1))
      p50.raw.push(quantile(theirs, 0.5))
      p50.ours.push(quantile(own, 0.5))
    }
    const middle = (values) => spread(values).median.toFixed(2)
    return [
      {
        row: name,
        what: `event → first byte at the receiver, idle, ${places.title}: p99 minus that of the baseline`,
        baseline: 'one undici Pool.request → first byte',
        unit: 'ms',
        goal,
        ...spread(p99.more),
        seen:
          `p99 ${middle(p99.ours)} against ${middle(p99.raw)} ms, ` +
          `p50 ${middle(p50.ours)} against ${middle(p50.raw)} ms`,
      },
    ]
  } finally {
    await Promise.all([raw, ours, receiver].map((process) => process.stop()))
  }
}

/** One of each, in turn: whatever the machine does in these milliseconds hits both. */
async function onePair(raw, ours) {
  await raw.ask('one', { group: 'raw' })
  await sleep(PAUSE_MS)
  await ours.ask('one')
  await sleep(PAUSE_MS)
}
