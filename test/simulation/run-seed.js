// @ts-check
import { setFlagsFromString } from 'node:v8'
import { minimise, reportOf, simulate } from 'hookswitch/testkit'

// A run calls everything, and nothing very often: V8 compiled for a quarter of its time, and inlining was most of that.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=200')

/**
 * @typedef {object} Outcome of one seed, as processes tell it to each other
 * @property {string} seed
 * @property {string} hash
 * @property {Record<string, number>} counts
 * @property {[string, number][]} coverage
 * @property {string[]} findings
 * @property {string} report of a run that failed, made smaller; else empty
 */

/**
 * Runs a seed; one that fails is made smaller, and told.
 *
 * @param {string} seed
 * @param {import('hookswitch/testkit').SimulationOptions} options
 * @param {string} more of the line that repeats it
 * @returns {Promise<Outcome>}
 */
export async function runSeed(seed, options, more) {
  const run = await simulate(seed, options)
  const { hash, counts, coverage, findings } = run
  const outcome = {
    seed,
    hash,
    counts,
    coverage: [...coverage],
    findings: findings.map(({ invariant, what }) => `${invariant}: ${what}`),
    report: '',
  }
  if (findings.length === 0) return outcome
  console.error(`seed ${seed} broke ${findings[0]?.invariant}; it is made smaller …`)
  const small = await minimise(seed, options, findings[0]?.invariant ?? '')
  return { ...outcome, report: await reportOf(run, small.options, undefined, more) }
}
