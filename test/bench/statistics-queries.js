/** P16: how long statistics and lists of endpoints take when a million attempts are stored and counted. */
import { LARGE_HEAP, startProcess } from './processes.js'
import { repeat, summarize } from './statistics.js'

const GOAL_MS = 50

/**
 * @param {{ name: string, rounds: number, pending: number, stores: import('./stores.js').Stores }} options `pending`: number
 *   of attempts, a multiple of 1,000
 */
export async function measureStatistics({ name, rounds, pending: attempts, stores }) {
  const server = startProcess('statistics-reader', { nodeOptions: LARGE_HEAP })
  try {
    await server.request('fill', { location: stores.newLocation(), attempts })
    const { queries } = await server.request('queries')
    const rows = []
    for (const query of queries) {
      await server.request('run', { query })
      const times = await repeat(rounds, async () => (await server.request('run', { query })).ms)
      rows.push({
        row: name,
        measurement: `${query}, ${attempts.toLocaleString('en')} attempts, ${stores.title}`,
        baseline: '–',
        unit: 'ms',
        goal: GOAL_MS,
        ...summarize(times),
      })
    }
    return rows
  } finally {
    await server.stop()
  }
}
