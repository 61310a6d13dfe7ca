/** WHY: how long a search takes for what became of a call, number, delivery, event or webhook, with many attempts stored. */
import { LARGE_HEAP, startProcess } from './processes.js'
import { repeat, summarize } from './statistics.js'

const GOAL_MS = 100

/**
 * @param {{ name: string, rounds: number, pending: number, stores: import('./stores.js').Stores }} options `pending`: number
 *   of attempts, a multiple of 1,000
 */
export async function measureWhy({ name, rounds, pending: attempts, stores }) {
  const server = startProcess('why-reader', { nodeOptions: LARGE_HEAP })
  try {
    await server.request('fill', { location: stores.newLocation(), attempts })
    const { searches } = await server.request('searches')
    const rows = []
    for (const search of searches) {
      await server.request('run', { search })
      const times = await repeat(rounds, async () => (await server.request('run', { search })).ms)
      rows.push({
        row: name,
        measurement: `${search}, ${attempts.toLocaleString('en')} attempts, ${stores.title}`,
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
