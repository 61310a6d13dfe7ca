// @ts-check
/** The store of a node, by its kind: loaded when the process starts, opened when it is told where. */
import { memoryStore, systemClock } from 'hookswitch'

/**
 * @typedef {{ kind: 'memory' } | { kind: 'sqlite', path: string } | {
 *   kind: 'postgres', connectionString: string, schema: string, aheadMs: number, speed: number,
 * }} Where `aheadMs`: how far the store's time is ahead of the machine's; `speed`: how much faster it goes
 */

/**
 * @param {string} kind
 * @returns {Promise<(where: any, clock: import('hookswitch').Clock) => import('hookswitch/store').Store>}
 */
export async function loadStore(kind) {
  if (kind === 'sqlite') {
    const { sqliteStore } = await import('hookswitch/sqlite')
    return ({ path }) => sqliteStore({ path })
  }
  if (kind === 'postgres') {
    const { postgresStore } = await import('hookswitch/postgres')
    return ({ connectionString, schema, speed }, clock) =>
      postgresStore({ connectionString, schema, clock, maxConnections: 4, ...(speed > 1 && HURRIED) })
  }
  // It keeps nothing beyond its process: the oracle must say so.
  return () => memoryStore()
}

/** Where time goes faster the server is less patient with a node that stands still in a transaction, too. */
const HURRIED = { answerWithinMs: 3000 }
const STARTED_MS = Date.UTC(2025, 0, 1)

/**
 * The machine's clock, ahead of itself or faster. Leases last 30 s: who waits for the end of one that a killed node
 * held, a thousand times, would wait for eight hours.
 *
 * @param {{ readonly aheadMs: number, readonly speed: number }} how
 * @returns {import('hookswitch').Clock}
 */
export function clockOf({ aheadMs, speed }) {
  const clock = systemClock()
  const { now, monotonic, sleep } = clock
  return {
    ...clock,
    now: () => STARTED_MS + (now() - STARTED_MS) * speed + aheadMs,
    monotonic: () => monotonic() * speed,
    sleep: (ms, signal) => sleep(ms / speed, signal),
  }
}
