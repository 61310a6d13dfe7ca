// @ts-check
/**
 * Runs the simulator: `npm run sim -- [--seed N] [--runs R] [--jobs J] [--minutes M] [--nodes K]
 * [--faults all|none|drawn|a,b] [--calls PER-DAY] [--lease-seconds S] [--store memory|sqlite] [--crashes singles|pairs]
 * [--crash-at 12-before,40-after] [--without-faults 1,2] [--without-calls 1,2] [--json FILE]`.
 *
 * One seed gives one run, the same everywhere. `--runs` continues with the following seeds, in as many processes as there
 * are cores, or `--jobs`. A run that fails is minimised, and its trace is printed.
 */
import { writeFileSync } from 'node:fs'
import { createReport, exhaust } from 'hookswitch/simulator'
import { readFlags } from './flags.js'
import { inJobs } from './jobs.js'
import { runSeed } from './run-seed.js'

const { options, seedOf, runs, jobs, crashes, json, more } = await readFlags()
const first = seedOf(0)

if (crashes !== undefined) {
  const { runs: tried, failed } = await exhaust(first, options, { pairs: crashes === 'pairs' })
  if (failed) console.log(await createReport(failed.run, failed.options, undefined, more))
  console.log(
    `${tried} runs of seed ${first}: ${failed ? 'an invariant was broken.' : 'every invariant held.'}`,
  )
  process.exit(failed ? 1 : 0)
}

const startedMs = performance.now()
/** @type {Record<string, number>} */
const totals = { runs: 0, 'node-seconds': 0 }
/** @type {Map<string, number>} */
const coverage = new Map()
let hasPassed = true
let last = { seed: '', hash: '' }

/** @param {import('./run-seed.js').Outcome} outcome @returns {boolean} whether to continue */
function took(outcome) {
  const { counts, violations, report } = outcome
  const add = (/** @type {string} */ name, /** @type {number} */ count) => {
    totals[name] = (totals[name] ?? 0) + count
  }
  add('runs', 1)
  add('node-seconds', (counts.nodes ?? 0) * (counts.seconds ?? 0))
  for (const [name, count] of Object.entries(counts)) add(name, count)
  for (const [what, count] of outcome.coverage) coverage.set(what, (coverage.get(what) ?? 0) + count)
  if (outcome.seed === seedOf(runs - 1)) last = outcome
  if (violations.length === 0) return true
  hasPassed = false
  last = outcome
  console.log(`${violations.join('\n')}\n\n${report}`)
  return false
}

if (jobs === 1) {
  for (let index = 0; index < runs; index += 1) {
    if (!took(await runSeed(seedOf(index), options, more))) break
  }
} else await inJobs({ flags: process.argv.slice(2), jobs, runs, seedOf, took })

const seconds = (performance.now() - startedMs) / 1000
const years = (totals['node-seconds'] ?? 0) / 31_536_000
console.log('')
for (const [name, count] of [...coverage].sort())
  console.log(`  ${name.padEnd(32)} ${count.toLocaleString('en')}`)
console.log(
  `\n${totals.runs} runs from seed ${first}, ${years.toFixed(3)} node-years in ${seconds.toFixed(1)} s ` +
    `(${((years / seconds) * 60).toFixed(2)} a minute), trace ${last.hash} of seed ${last.seed}`,
)
console.log(hasPassed ? 'Every invariant held.' : 'An invariant was broken: see above.')
if (json !== undefined) {
  const facts = {
    node: process.version,
    seed: first,
    seconds,
    hasPassed,
    totals,
    coverage: Object.fromEntries(coverage),
  }
  writeFileSync(json, `${JSON.stringify(facts, null, 2)}\n`)
}
process.exitCode = hasPassed ? 0 : 1
