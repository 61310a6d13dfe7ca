/** P12: the longest stall of the host's event loop at 5,000 events a second. */

import { startProcess } from './processes.js'
import { interleave, median, summarize } from './statistics.js'
import { findSteadyRate, formatRate, lateRoundsNote } from './steady-rate.js'

const PER_SECOND = 5_000
const SECONDS = 3

/** @param {{ name: string, rounds: number, stores: import('./stores.js').Stores }} options */
export async function measureStalls({ name, rounds, stores }) {
  const receiver = startProcess('receiver')
  const baseline = startProcess('publisher')
  const ours = startProcess('publisher')
  try {
    const { port } = await receiver.request('listen')
    await baseline.request('prepare', { webhooks: 0 })
    await ours.request('prepare', { location: stores.newLocation(), port, webhooks: 1 })
    await ours.request('warmUp', { count: 10_000 })
    const perSecond = await findSteadyRate(ours, PER_SECOND)
    const load = { count: perSecond * SECONDS, perSecond }
    await baseline.request('measureStalls', load)
    const done = await interleave(rounds, {
      baseline: () => baseline.request('measureStalls', load),
      ours: () => ours.request('measureStalls', load),
    })
    const longest = (side) => summarize(done[side].map(({ longestMs }) => longestMs))
    const p99 = (side) => median(done[side].map(({ p99Ms }) => p99Ms)).toFixed(1)
    return [
      {
        row: name,
        measurement: `longest stall of the event loop in ${SECONDS} s at ${formatRate(perSecond, PER_SECOND)}, ${stores.title}`,
        baseline: 'the same events created and discarded',
        unit: 'ms',
        goal: 10,
        ...longest('ours'),
        details: `baseline ${longest('baseline').median.toFixed(1)} ms, p99 ${p99('ours')} vs. ${p99('baseline')} ms${lateRoundsNote(done.ours)}`,
      },
    ]
  } finally {
    await Promise.all([baseline, ours, receiver].map((process) => process.stop()))
  }
}
