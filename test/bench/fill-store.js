/** Fills a store before a measurement. */
import { LARGE_HEAP, startProcess } from './processes.js'

/**
 * Fills a store with waiting deliveries, laid out by `backlogLayout`.
 *
 * @param {import('./stores.js').StoreLocation} location
 * @param {{ pending: number, port?: number }} input `port`: of the healthy endpoints
 * @returns {Promise<{ pending: number, ms: number }>} the number of deliveries written, and the time that it took
 */
export async function fillStore(location, { pending, port = 9 }) {
  const filler = startProcess('backlog-filler', { nodeOptions: LARGE_HEAP })
  try {
    return await filler.request('fill', { location, pending, port })
  } finally {
    await filler.stop()
  }
}
