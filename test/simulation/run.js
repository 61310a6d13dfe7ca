// @ts-check
/**
 * Runs the simulator: `npm run sim -- [--seed N] [--runs R] [--minutes M] [--nodes K] [--faults all|none|drawn|a,b]
 * [--calls PER-DAY] [--lease-seconds S] [--store memory|sqlite] [--crashes singles|pairs] [--without-faults 1,2]
 * [--without-calls 1,2] [--json FILE]`.
 *
 * One seed gives one run, the same everywhere; `--runs` goes on with the seeds after it. A run that fails is made
 * smaller, and its story is printed.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { exhaust, FAULT_KINDS, minimise, reportOf, simulate } from 'hookswitch/testkit'

// A run calls everything, and nothing very often: V8 compiled for a quarter of its time, and inlining was most of that.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=200')

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '10' },
    nodes: { type: 'string' },
    faults: { type: 'string', default: 'drawn' },
    calls: { type: 'string' },
    'lease-seconds': { type: 'string' },
    store: { type: 'string', default: 'memory' },
    crashes: { type: 'string' },
    'without-faults': { type: 'string' },
    'without-calls': { type: 'string' },
    json: { type: 'string' },
  },
})

/** @param {string} sentence @returns {never} */
function refuse(sentence) {
  console.error(sentence)
  process.exit(1)
}
/** @param {string | undefined} text @param {string} name */
function numberOf(text, name) {
  const number = Number(text)
  if (!(number > 0)) refuse(`--${name} takes a number above 0`)
  return number
}
/** @param {string | undefined} text */
const numbers = (text) => new Set((text ?? '').split(',').filter(Boolean).map(Number))

const faults = ['all', 'none', 'drawn'].includes(values.faults) ? values.faults : values.faults.split(',')
if (typeof faults === 'object') {
  const strange = faults.find((kind) => !(/** @type {readonly string[]} */ (FAULT_KINDS).includes(kind)))
  if (strange !== undefined) refuse(`--faults takes all, none, drawn, or some of: ${FAULT_KINDS.join(', ')}`)
}
if (!['memory', 'sqlite'].includes(values.store)) refuse('--store takes memory or sqlite')
if (values.crashes !== undefined && !['singles', 'pairs'].includes(values.crashes))
  refuse('--crashes takes singles or pairs')

/** Files of SQLite, in memory where there is such a place. */
async function sqliteStores() {
  const { sqliteStore } = await import('hookswitch/sqlite')
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'hookswitch-sim-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  let files = 0
  return () => sqliteStore({ path: join(folder, String(++files)), inThread: true })
}

const options = /** @type {import('hookswitch/testkit').SimulationOptions} */ ({
  minutes: numberOf(values.minutes, 'minutes'),
  faults,
  ...(values.nodes !== undefined && { nodes: numberOf(values.nodes, 'nodes') }),
  ...(values.calls !== undefined && { callsPerDay: numberOf(values.calls, 'calls') }),
  ...(values['lease-seconds'] !== undefined && {
    leaseSeconds: numberOf(values['lease-seconds'], 'lease-seconds'),
  }),
  ...(values.store === 'sqlite' && { store: await sqliteStores() }),
  without: { faults: numbers(values['without-faults']), calls: numbers(values['without-calls']) },
})
const first = values.seed ?? String(Date.now() % 1_000_000)
const runs = numberOf(values.runs, 'runs')
const isNumber = /^\d+$/.test(first)

if (values.crashes !== undefined) {
  const { runs: tried, failed } = await exhaust(first, options, { pairs: values.crashes === 'pairs' })
  if (failed) console.log(await reportOf(failed.run, failed.options))
  console.log(
    `${tried} runs of seed ${first}: ${failed ? 'an invariant was broken.' : 'every invariant held.'}`,
  )
  process.exit(failed ? 1 : 0)
}

const began = performance.now()
/** @type {Record<string, number>} */
const totals = { runs: 0, 'node-seconds': 0 }
/** @type {Map<string, number>} */
const coverage = new Map()
let isGood = true
let hash = ''
for (let index = 0; index < runs && isGood; index += 1) {
  const seed = index === 0 ? first : isNumber ? String(Number(first) + index) : `${first}/${index}`
  const run = await simulate(seed, options)
  hash = run.hash
  totals.runs = (totals.runs ?? 0) + 1
  for (const [name, count] of Object.entries(run.counts)) totals[name] = (totals[name] ?? 0) + count
  totals['node-seconds'] = (totals['node-seconds'] ?? 0) + (run.counts.nodes ?? 0) * (run.counts.seconds ?? 0)
  for (const [what, count] of run.coverage) coverage.set(what, (coverage.get(what) ?? 0) + count)
  isGood = run.findings.length === 0
  if (isGood) continue
  for (const { invariant, what } of run.findings) console.log(`${invariant}: ${what}`)
  console.log('\nmade smaller …\n')
  const small = await minimise(seed, options, run.findings[0]?.invariant ?? '')
  console.log(await reportOf(run, small.options))
}

const seconds = (performance.now() - began) / 1000
const years = (totals['node-seconds'] ?? 0) / 31_536_000
console.log('')
for (const [name, count] of [...coverage].sort())
  console.log(`  ${name.padEnd(32)} ${count.toLocaleString('en')}`)
console.log(
  `\n${totals.runs} runs from seed ${first}, ${years.toFixed(3)} node-years in ${seconds.toFixed(1)} s (${((years / seconds) * 60).toFixed(2)} a minute), trace ${hash}`,
)
console.log(isGood ? 'Every invariant held.' : 'An invariant was broken: see above.')
if (values.json !== undefined) {
  const facts = {
    node: process.version,
    seed: first,
    seconds,
    isGood,
    totals,
    coverage: Object.fromEntries(coverage),
  }
  writeFileSync(values.json, `${JSON.stringify(facts, null, 2)}\n`)
}
process.exitCode = isGood ? 0 : 1
