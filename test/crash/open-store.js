// @ts-check
/** The store of a node, by kind: its code is loaded when the process starts, and it is opened by the start command. */
import { memoryStore, systemClock } from 'hookswitch'

/**
 * @typedef {{ kind: 'memory' } | { kind: 'sqlite', path: string } | {
 *   kind: 'postgres', connectionString: string, schema: string, aheadMs: number, speed: number,
 * }} StoreLocation `aheadMs`: how far the store's time is ahead of the machine's; `speed`: how much faster it runs
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
 * The machine's clock, ahead or faster. A lease lasts 30 s: waiting for the end of a killed node's lease a thousand times
 * would take eight hours.
 *
 * @param {{ readonly aheadMs: number, readonly speed: number }} options
 * @returns {import('hookswitch').Clock}
 */
export function createClock({ aheadMs, speed }) {
  const clock = systemClock()
  const { now, monotonic, sleep } = clock
  return {
    ...clock,
    now: () => EPOCH_MS + (now() - EPOCH_MS) * speed + aheadMs,
    monotonic: () => monotonic() * speed,
    sleep: (ms, signal) => sleep(ms / speed, signal),
  }
}
