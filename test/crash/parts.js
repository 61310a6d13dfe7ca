// @ts-check
/** The parts of a run. Each has its own store and is checked when it is over. */
import { canMount, runDiskFull } from './disk-full.js'
import { runFailover } from './failover.js'
import { checkHistory } from './oracle.js'
import { runPauses } from './pauses.js'
import { runRound } from './round.js'
import { runTakeovers } from './takeovers.js'
import { createTestStore } from './test-store.js'

export const PARTS = ['cycles', 'disk-full', 'takeovers', 'pauses', 'failover']

/** Cycles on one store, before it is checked and the next ones begin on another. */
const CYCLES_PER_ROUND = 250
const TAKEOVERS = 3
const CLOCK_BEHIND_MS = 300_000

/**
 * @typedef {object} PartResult
 * @property {import('./history.js').History} history
 * @property {import('./oracle.js').Violation[]} violations
 * @property {(readonly [string, number])[]} counts
 * @property {string} store the store's name
 *
 * @typedef {{ readonly name: string, run(seed: string): Promise<PartResult> }} Part
 */

/**
 * @param {object} options
 * @param {string} options.kind of the store
 * @param {number} options.cycles
 * @param {number} options.nodes that run at once while some are paused
 * @param {number} options.pauses
 * @param {number} options.failovers
 * @param {readonly string[]} options.only empty: all parts that apply to the store
 * @param {string | undefined} options.connectionString
 * @returns {Part[]}
 */
export function createParts({ kind, cycles, nodes, pauses, failovers, only, connectionString }) {
  const isSelected = (/** @type {string} */ name) => only.length === 0 || only.includes(name)
  /** @type {Part[]} */
  const parts = []

  /**
   * @param {string} name
   * @param {(seed: string, store: import('./test-store.js').TestStore) => Promise<{
   *   history: import('./history.js').History, counts: Iterable<readonly [string, number]>,
   * }>} runPart
   */
  function add(name, runPart) {
    parts.push({
      name,
      async run(seed) {
        const store = await createTestStore(kind, connectionString)
        const { history, counts } = await runPart(seed, store)
        const { violations, counts: checked } = checkHistory(history)
        await store.remove(violations.length === 0)
        return { history, violations, counts: [...counts, ...Object.entries(checked)], store: store.name }
      },
    })
  }

  for (let done = 0; isSelected('cycles') && done < cycles; done += CYCLES_PER_ROUND) {
    const count = Math.min(CYCLES_PER_ROUND, cycles - done)
    add(`cycles ${done + 1} to ${done + count}`, async (seed, store) => {
      const { history, endings } = await runRound({ seed, cycles: count, store })
      return { history, counts: [['cycles', count], ...endings] }
    })
  }
  if (kind === 'postgres' && isSelected('takeovers')) {
    add('takeovers', async (seed, store) => {
      const { history } = await runTakeovers({ seed, times: TAKEOVERS, store })
      return { history, counts: [['taken over', 2 * TAKEOVERS]] }
    })
  }
  if (kind === 'postgres' && isSelected('pauses')) {
    add('pauses', async (seed, store) => {
      const { history, counts } = await runPauses({ seed, rounds: pauses, nodes, store })
      return { history, counts: Object.entries(counts) }
    })
  }
  for (let done = 0; kind === 'postgres' && isSelected('failover') && done < failovers; done += 1) {
    // One node, then several; the clock of every second standby is behind.
    const count = done % 2 === 0 ? nodes : 1
    const clockBehindMs = done % 4 < 2 ? 0 : CLOCK_BEHIND_MS
    parts.push({
      name: `failover ${done + 1}`,
      async run(seed) {
        const { history } = await runFailover({ seed, nodes: count, clockBehindMs })
        const { violations, counts } = checkHistory(history)
        const all = /** @type {const} */ ([['failovers', 1], ...Object.entries(counts)])
        return { history, violations, counts: [...all], store: 'a primary and its standby, removed' }
      },
    })
  }
  if (kind === 'sqlite' && isSelected('disk-full')) {
    if (canMount()) add('disk-full', (seed, store) => runDiskFull({ seed, store }))
    else
      console.error(
        'NOT RUN: disk-full, which needs `unshare -rm` and a private tmpfs; this machine allows neither',
      )
  }
  return parts
}
