/** Places that are full before anything is measured. */
import { ROOM, startProcess } from './processes.js'

/**
 * Fills a place with deliveries that wait (`backlogOf`).
 *
 * @param {import('./places.js').Place} place
 * @param {{ pending: number, port?: number }} input `port`: where the endpoints are that are not dead
 * @returns {Promise<{ pending: number, ms: number }>} how many they are
 */
export async function fill(place, { pending, port = 9 }) {
  const filler = startProcess('filler', { nodeOptions: ROOM })
  try {
    return await filler.ask('fill', { place, pending, port })
  } finally {
    await filler.stop()
  }
}
