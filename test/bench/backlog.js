/** P10: what a large backlog costs: memory, the claims beside it, the next start. */
import { LEAST } from './backlog-shape.js'
import { fill } from './filling.js'
import { LeftOut } from './left-out.js'
import { median, quantile, repeat, spread } from './numbers.js'
import { sleep, startProcess } from './processes.js'

/** The room for new objects grows with any work and is never given back: it is kept small, so that what is kept shows. */
const QUIET = ['--expose-gc', '--max-semi-space-size=1']
const CYCLES = 300
const WARM_UP_CYCLES = 100
/** Longest wait for the first request. */
const PATIENCE_MS = 60_000

/**
 * @param {{ name: string, rounds: number, pending: number, snapshotSeconds: number,
 *   places: import('./places.js').Places }} options
 */
export async function measureBacklog({ name, rounds, pending, snapshotSeconds, places }) {
  if (pending < LEAST) throw new LeftOut(`needs --pending ${LEAST} or more`)
  const receiver = startProcess('late-receiver')
  try {
    const { port } = await receiver.ask('listen', { answerMs: 0 })
    const place = places.fresh()
    const { pending: waiting, ms } = await fill(place, { pending, port })
    const beside = `beside ${waiting.toLocaleString('en')} pending, ${places.title}`
    const row = (what, unit, goal, values, seen) => ({
      row: name,
      what: `${what} ${beside}`,
      baseline: '–',
      unit,
      goal,
      ...spread(values),
      seen,
    })
    const filled = `filled at ${Math.round((waiting * 1000) / ms).toLocaleString('en')} deliveries/s`
    const memory = await memoryOf(place, places.fresh(), Math.min(rounds, 3))
    const rows = [
      {
        ...row('RSS of a node', 'MB', 300, memory.more, `${memory.seen}, ${filled}`),
        baseline: 'the empty store',
      },
    ]
    const starts = await repeat(rounds, () => startOn(place, receiver, 'stop'))
    rows.push(row('start to first request', 'ms', 2_000, starts.map(firstMs), startsSeen(starts)))
    if (places.kind === 'sqlite') {
      // On PostgreSQL the lease of a node that was killed goes on for its 30 s.
      const after = await repeat(rounds, () => startOn(place, receiver, 'kill'))
      rows.push(
        row('start after kill -9 to first request', 'ms', 2_000, after.map(firstMs), startsSeen(after)),
      )
    }
    for (const { what, goal, ...claims } of await claimsOf({ place, places, rounds, snapshotSeconds })) {
      rows.push(row(what, 'ms', goal, claims.p99, claims.seen))
    }
    return rows
  } finally {
    await receiver.stop()
  }
}

/** Nodes that have just started and whose requests nobody answers, on the filled place and on an empty one, in turn. */
async function memoryOf(filled, empty, rounds) {
  const rssOf = async (place) => {
    const node = startProcess('backlog-node', { nodeOptions: QUIET })
    try {
      await node.ask('start', { place, dead: true })
      return (await node.ask('memory')).rssMb
    } finally {
      await node.stop()
    }
  }
  const seen = await repeat(rounds, async () => [await rssOf(filled), await rssOf(empty)])
  const [full, none] = [0, 1].map((side) => median(seen.map((pair) => pair[side])).toFixed(0))
  return { more: seen.map(([one, other]) => one - other), seen: `${full} against ${none} MB` }
}

const firstMs = (start) => start.firstMs
const startsSeen = (starts) =>
  `of which ${median(starts.map(({ startedMs }) => startedMs)).toFixed(0)} ms until start() resolved`

/** From before the package is loaded to the first byte of a request at its receiver. */
async function startOn(place, receiver, end) {
  await receiver.ask('forget')
  const node = startProcess('backlog-node', { nodeOptions: ['--expose-gc'] })
  try {
    const { began, startedMs } = await node.ask('start', { place })
    const limit = performance.now() + PATIENCE_MS
    let first = await receiver.ask('first')
    for (; first === undefined && performance.now() < limit; first = await receiver.ask('first'))
      await sleep(5)
    if (first === undefined) throw new Error('nothing was sent')
    return { firstMs: (first - began) / 1000, startedMs }
  } finally {
    await node[end]()
  }
}

/** Claims of 100, and again while another session looks at things as they were. */
async function claimsOf({ place, places, rounds, snapshotSeconds }) {
  const claimer = startProcess('claimer')
  try {
    const opened = await claimer.ask('open', { place })
    await claimer.ask('cycles', { count: WARM_UP_CYCLES })
    const measured = async (what, goal, besides) => {
      const runs = await repeat(rounds, () => claimer.ask('cycles', { count: CYCLES }))
      const p50 = (times) => median(runs.map((run) => quantile(run[times], 0.5))).toFixed(1)
      const seen =
        `p50 ${p50('claimMs')} ms, accept ${p50('acceptMs')}, settle ${p50('settleMs')}, ` +
        `${Math.round(median(runs.map(({ perSecond }) => perSecond))).toLocaleString('en')} of all three/s, ${besides}`
      return { what, goal, p99: runs.map(({ claimMs }) => quantile(claimMs, 0.99)), seen }
    }
    const found = `${opened.endpoints.toLocaleString('en')} endpoints found in ${opened.readyMs.toFixed(0)} ms`
    const rows = [await measured('claim of 100, p99,', 5, found)]
    if (places.holdSnapshot) {
      const letGo = await places.holdSnapshot()
      try {
        const { perSecond } = await claimer.ask('cycles', { ms: snapshotSeconds * 1000 })
        const rate = `before that ${Math.round(perSecond).toLocaleString('en')}/s`
        rows.push(
          await measured(`claim of 100, p99, under a snapshot held for ${snapshotSeconds} s,`, 10, rate),
        )
      } finally {
        await letGo()
      }
    }
    return rows
  } finally {
    await claimer.stop()
  }
}
