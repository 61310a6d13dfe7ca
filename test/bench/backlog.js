/** P10: the cost of a large backlog: memory, start-up time and the latency of groups. */
import { MIN_PENDING } from './backlog-layout.js'
import { fillStore } from './fill-store.js'
import { sleep, startProcess } from './processes.js'
import { Skipped } from './skipped.js'
import { median, quantile, repeat, summarize } from './statistics.js'

/** V8's young generation grows under load and never shrinks: a small one makes RSS reflect the live objects. */
const SMALL_YOUNG_GENERATION = ['--expose-gc', '--max-semi-space-size=1']
const CYCLES = 300
const WARM_UP_CYCLES = 100
/** Longest wait for the first request. */
const TIMEOUT_MS = 60_000

/**
 * @param {{ name: string, rounds: number, pending: number, snapshotSeconds: number,
 *   stores: import('./stores.js').Stores }} options
 */
export async function measureBacklog({ name, rounds, pending, snapshotSeconds, stores }) {
  if (pending < MIN_PENDING) throw new Skipped(`needs --pending ${MIN_PENDING} or more`)
  const receiver = startProcess('delayed-receiver')
  try {
    const { port } = await receiver.request('listen', { delayMs: 0 })
    const location = stores.newLocation()
    const { pending: waiting, ms } = await fillStore(location, { pending, port })
    const suffix = `beside ${waiting.toLocaleString('en')} pending, ${stores.title}`
    const row = (measurement, unit, goal, values, details) => ({
      row: name,
      measurement: `${measurement} ${suffix}`,
      baseline: '–',
      unit,
      goal,
      ...summarize(values),
      details,
    })
    const filled = `filled at ${Math.round((waiting * 1000) / ms).toLocaleString('en')} deliveries/s`
    const memory = await measureMemory(location, stores.newLocation(), Math.min(rounds, 3))
    const rows = [
      {
        ...row('RSS of a node', 'MB', 300, memory.difference, `${memory.details}, ${filled}`),
        baseline: 'the empty store',
      },
    ]
    const starts = await repeat(rounds, () => measureStart(location, receiver, 'stop'))
    rows.push(row('start to first request', 'ms', 2_000, starts.map(firstRequestMs), startDetails(starts)))
    const after = await repeat(rounds, () => measureStart(location, receiver, 'kill'))
    rows.push(
      row(
        'start after kill -9 to first request',
        'ms',
        2_000,
        after.map(firstRequestMs),
        startDetails(after),
      ),
    )
    for (const { measurement, goal, p99, details } of await measureGroups({
      location,
      stores,
      rounds,
      snapshotSeconds,
    })) {
      rows.push(row(measurement, 'ms', goal, p99, details))
    }
    return rows
  } finally {
    await receiver.stop()
  }
}

/** RSS of nodes that have just started and get no responses, alternating between the filled and an empty store. */
async function measureMemory(filled, empty, rounds) {
  const rssOf = async (location) => {
    const node = startProcess('backlog-node', { nodeOptions: SMALL_YOUNG_GENERATION })
    try {
      await node.request('start', { location, unresponsive: true })
      return (await node.request('memory')).rssMb
    } finally {
      await node.stop()
    }
  }
  const pairs = await repeat(rounds, async () => [await rssOf(filled), await rssOf(empty)])
  const [full, none] = [0, 1].map((side) => median(pairs.map((pair) => pair[side])).toFixed(0))
  return { difference: pairs.map(([first, second]) => first - second), details: `${full} vs. ${none} MB` }
}

const firstRequestMs = (start) => start.firstRequestMs
const startDetails = (starts) =>
  `of which ${median(starts.map(({ startedMs }) => startedMs)).toFixed(0)} ms until start() resolved`

/** Starts a node; the time from before the package is loaded to the first byte of a request at the receiver. */
async function measureStart(location, receiver, end) {
  await receiver.request('reset')
  const node = startProcess('backlog-node', { nodeOptions: ['--expose-gc'] })
  try {
    const { beganMicros, startedMs } = await node.request('start', { location })
    const limit = performance.now() + TIMEOUT_MS
    let first = await receiver.request('firstArrival')
    for (; first === undefined && performance.now() < limit; first = await receiver.request('firstArrival'))
      await sleep(5)
    if (first === undefined) throw new Error(`no request within ${TIMEOUT_MS} ms`)
    return { firstRequestMs: (first - beganMicros) / 1000, startedMs }
  } finally {
    await node[end]()
  }
}

/** Latency of groups of 100 deliveries, and again while another session holds a snapshot. */
async function measureGroups({ location, stores, rounds, snapshotSeconds }) {
  const node = startProcess('group-cycles')
  try {
    const { loadMs, deliveries } = await node.request('open', { location })
    await node.request('cycles', { count: WARM_UP_CYCLES })
    const measureCycles = async (measurement, goal, note) => {
      const runs = await repeat(rounds, () => node.request('cycles', { count: CYCLES }))
      const p50 = median(runs.map(({ groupMs }) => quantile(groupMs, 0.5))).toFixed(1)
      const perSecond = Math.round(median(runs.map((run) => run.perSecond))).toLocaleString('en')
      const details = `p50 ${p50} ms, ${perSecond} deliveries/s, ${note}`
      return { measurement, goal, p99: runs.map(({ groupMs }) => quantile(groupMs, 0.99)), details }
    }
    const loadNote = `${deliveries.toLocaleString('en')} deliveries loaded in ${loadMs.toFixed(0)} ms`
    const measurement = '100 deliveries accepted and started, 100 ended, p99,'
    const rows = [await measureCycles(measurement, 5, loadNote)]
    if (stores.holdSnapshot) {
      const releaseSnapshot = await stores.holdSnapshot()
      try {
        const { perSecond } = await node.request('cycles', { ms: snapshotSeconds * 1000 })
        const rateNote = `before that ${Math.round(perSecond).toLocaleString('en')}/s`
        const underSnapshot = `${measurement} under a snapshot held for ${snapshotSeconds} s,`
        rows.push(await measureCycles(underSnapshot, 10, rateNote))
      } finally {
        await releaseSnapshot()
      }
    }
    return rows
  } finally {
    await node.stop()
  }
}
