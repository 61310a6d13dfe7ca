/** P12: the longest time for which a host's event loop is held up at 5,000 events a second. */
import { inTurns, median, spread } from './numbers.js'
import { startProcess } from './processes.js'
import { fellBehind, rateText, steadyRate } from './steady-rate.js'

const PER_SECOND = 5_000
const SECONDS = 3

/** @param {{ name: string, rounds: number, places: import('./places.js').Places }} options */
export async function measureStalls({ name, rounds, places }) {
  const receiver = startProcess('receiver')
  const bare = startProcess('publisher')
  const ours = startProcess('publisher')
  try {
    const { port } = await receiver.ask('listen')
    await bare.ask('prepare', { webhooks: 0 })
    await ours.ask('prepare', { place: places.fresh(), port, webhooks: 1 })
    await ours.ask('warmUp', { count: 10_000 })
    const perSecond = await steadyRate(ours, PER_SECOND)
    const load = { count: perSecond * SECONDS, perSecond }
    await bare.ask('stalls', load)
    const done = await inTurns(rounds, {
      bare: () => bare.ask('stalls', load),
      ours: () => ours.ask('stalls', load),
    })
    const longest = (side) => spread(done[side].map(({ longestMs }) => longestMs))
    const p99 = (side) => median(done[side].map(({ p99Ms }) => p99Ms)).toFixed(1)
    return [
      {
        row: name,
        what: `longest stall of the event loop in ${SECONDS} s at ${rateText(perSecond, PER_SECOND)}, ${places.title}`,
        baseline: 'the same events made and forgotten',
        unit: 'ms',
        goal: 10,
        ...longest('ours'),
        seen: `baseline ${longest('bare').median.toFixed(1)} ms, p99 ${p99('ours')} against ${p99('bare')} ms${fellBehind(done.ours)}`,
      },
    ]
  } finally {
    await Promise.all([bare, ours, receiver].map((process) => process.stop()))
  }
}
