// @ts-check
/** The parts of a run, each on a store of its own, each judged when it is over. */
import { canMount, runDiskFull } from './disk-full.js'
import { judge } from './oracle.js'
import { makePlace } from './places.js'
import { runRound } from './round.js'
import { runTakeovers } from './takeovers.js'

export const PARTS = ['cycles', 'disk-full', 'takeovers']

/** Cycles on one store: it is judged before the next ones begin on another. */
const ROUND = 250
const TAKEOVERS = 3

/**
 * @typedef {object} Judged
 * @property {import('./ledger.js').Ledger} ledger
 * @property {import('./oracle.js').Finding[]} findings
 * @property {(readonly [string, number])[]} counts
 * @property {string} place
 *
 * @typedef {{ readonly name: string, run(seed: string): Promise<Judged> }} Part
 */

/**
 * @param {object} how
 * @param {string} how.store
 * @param {number} how.cycles
 * @param {readonly string[]} how.only empty: all that fit the store
 * @param {string | undefined} how.connectionString
 * @returns {Part[]}
 */
export function partsOf({ store, cycles, only, connectionString }) {
  const wanted = (/** @type {string} */ name) => only.length === 0 || only.includes(name)
  /** @type {Part[]} */
  const parts = []

  /**
   * @param {string} name
   * @param {(seed: string, place: import('./places.js').Place) => Promise<{
   *   ledger: import('./ledger.js').Ledger, counts: Iterable<readonly [string, number]>,
   * }>} course
   */
  function add(name, course) {
    parts.push({
      name,
      async run(seed) {
        const place = await makePlace(store, connectionString)
        const { ledger, counts } = await course(seed, place)
        const { findings, counts: judged } = judge(ledger)
        await place.remove(findings.length === 0)
        return { ledger, findings, counts: [...counts, ...Object.entries(judged)], place: place.name }
      },
    })
  }

  for (let done = 0; wanted('cycles') && done < cycles; done += ROUND) {
    const count = Math.min(ROUND, cycles - done)
    add(`cycles ${done + 1} to ${done + count}`, async (seed, place) => {
      const { ledger, endings } = await runRound({ seed, cycles: count, place })
      return { ledger, counts: [['cycles', count], ...endings] }
    })
  }
  if (store === 'postgres' && wanted('takeovers')) {
    add('takeovers', async (seed, place) => {
      const { ledger } = await runTakeovers({ seed, times: TAKEOVERS, place })
      return { ledger, counts: [['taken over', 2 * TAKEOVERS]] }
    })
  }
  if (store === 'sqlite' && wanted('disk-full')) {
    if (canMount()) add('disk-full', (seed, place) => runDiskFull({ seed, place }))
    else
      console.error(
        'NOT RUN: disk-full, which needs `unshare -rm` and a tmpfs of its own; this machine allows neither',
      )
  }
  return parts
}
