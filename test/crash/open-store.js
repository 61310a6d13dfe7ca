// @ts-check
/** The store of a node, by kind: its code is loaded when the process starts, and it is opened by the start command. */
import { memoryStore } from 'hookswitch'
import { systemClock } from 'hookswitch/adapter'

/**
 * @typedef {{ kind: 'memory' } | { kind: 'sqlite', path: string } | {
 *   kind: 'postgres', connectionString: string, schema: string, speed: number,
 * }} StoreLocation `speed`: how much faster the store's time runs than the machine's
 */

/**
 * @param {string} kind
 * @returns {Promise<(location: any, clock: import('hookswitch').Clock) => import('hookswitch/store').Store>}
 */
export async function loadStore(kind) {
  if (kind === 'sqlite') {
    const { sqliteStore } = await import('hookswitch/sqlite')
    return ({ path }) => sqliteStore({ path })
  }
  if (kind === 'postgres') {
    const { postgresStore } = await import('hookswitch/postgres')
    return ({ connectionString, schema, speed }, clock) =>
      postgresStore({
        connectionString,
        schema,
        clock,
        maxConnections: 4,
        ...(speed > 1 && FAST_CLOCK_OPTIONS),
      })
  }
  // Not durable: the oracle must detect the loss.
  return () => memoryStore()
}

/** With a fast clock, the server must also end the transactions of a paused node sooner. */
const FAST_CLOCK_OPTIONS = { answerWithinMs: 3000 }
const EPOCH_MS = Date.UTC(2025, 0, 1)

/**
 * The machine's clock, faster: a lease lasts 30 s.
 *
 * @param {{ readonly speed: number }} options
 * @returns {import('hookswitch').Clock}
 */
export function createClock({ speed }) {
  const clock = systemClock()
  const { now, monotonic, sleep } = clock
  return {
    ...clock,
    now: () => EPOCH_MS + (now() - EPOCH_MS) * speed,
    monotonic: () => monotonic() * speed,
    sleep: (ms, signal) => sleep(ms / speed, signal),
  }
}
