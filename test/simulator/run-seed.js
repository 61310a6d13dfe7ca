// @ts-check
import { setFlagsFromString } from 'node:v8'
import { createReport, minimise, simulate } from 'hookswitch/simulator'

// A run calls many functions, none very often: V8 spent a quarter of the time compiling, most of it inlining.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=200')

/**
 * @typedef {object} Outcome of one seed, as a message between processes
 * @property {string} seed
 * @property {string} hash
 * @property {Record<string, number>} counts
 * @property {[string, number][]} coverage
 * @property {string[]} violations
 * @property {string} report of the minimised run if it failed; else empty
 */

/**
 * Runs a seed. Minimises and reports a run that fails.
 *
 * @param {string} seed
 * @param {import('hookswitch/simulator').SimulationOptions} options
 * @param {string} more further flags of the command line that repeats it
 * @returns {Promise<Outcome>}
 */
export async function runSeed(seed, options, more) {
  const run = await simulate(seed, options)
  const { hash, counts, coverage, violations } = run
  const outcome = {
    seed,
    hash,
    counts,
    coverage: [...coverage],
    violations: violations.map(({ invariant, message }) => `${invariant}: ${message}`),
    report: '',
  }
  if (violations.length === 0) return outcome
  console.error(`seed ${seed} broke ${violations[0]?.invariant}; minimising it …`)
  const small = await minimise(seed, options, violations[0]?.invariant ?? '')
  return { ...outcome, report: await createReport(run, small.options, undefined, more) }
}
