// @ts-check
/**
 * Measures how many seeded faults the tests find: `npm run mutants -- [--only sqlite,order] [--jobs 2] [--json FILE]`.
 *
 * A fault is seeded in the source, in a copy of the project: one at a time, and one of its tests must fail (`list`). Or it
 * is added to a correct store, node, server or statement while a self-test runs, which reports whether the suite notices
 * it: stores and simulated nodes (`stores`, `simulation.ts`), and the faults that the fuzzer, the guard and the stepper
 * also run with alone. Either kind names the checks that must notice it. Defective requests for a host's own handler are
 * no seeded faults: they are a product (`hookswitch/testkit`).
 *
 * A table names the test that failed. Faults of a store that this machine lacks are skipped loudly.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { exitWithMessage, parseWholeNumber, readRunFlags } from '../support/run-flags.js'
import { makeCopies } from './copies.js'
import { applyMutant } from './mutant.js'
import { runSelfTest, tryTests } from './trial.js'

/** Their tests need PostgreSQL. */
const ON_POSTGRES = ['postgres', 'crashed-nodes', 'stepper']
const SELF_TEST = /^(?:.*[\\/])?([^\\/]+)-self-test\.test\.ts$/
/** The self-test files, by group. */
const SELF_TESTS = new Map(
  readdirSync(new URL('..', import.meta.url), { recursive: true, encoding: 'utf8' }).flatMap((file) => {
    const group = SELF_TEST.exec(file)?.[1]
    return group === undefined ? [] : [[group, `test/${file}`]]
  }),
)
const LISTS = readdirSync(new URL('list', import.meta.url)).map((file) => file.replace(/\.js$/, ''))
const GROUPS = [...LISTS, ...SELF_TESTS.keys()]
const values = readRunFlags({
  only: { type: 'string', default: '' },
  jobs: { type: 'string', default: String(availableParallelism()) },
  json: { type: 'string' },
})
const only = values.only.split(',').filter(Boolean)
const jobs = parseWholeNumber('jobs', values.jobs)

if (only.some((group) => !GROUPS.includes(group))) exitWithMessage(`--only takes ${GROUPS.join(', ')}`)

const groups = GROUPS.filter((group) => only.length === 0 || only.includes(group)).filter((group) => {
  const isPossible =
    !ON_POSTGRES.includes(group) || process.env.TEST_PG_URL || existsSync('/usr/lib/postgresql')
  if (!isPossible) console.log(`NOT RUN: ${group}, because PostgreSQL is not installed`)
  return isPossible
})
const began = performance.now()
const { copies, remove } = makeCopies(jobs)
process.once('exit', remove)
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => process.exit(1))

/** @type {{ group: string, what: string, file: string, caught: boolean, by: string }[]} */
const results = []
/** @param {typeof results[number]} result */
function report(result) {
  results.push(result)
  const { caught, group, what, by, file } = result
  console.log(`${caught ? 'caught  ' : 'SURVIVED'}  ${group}: ${what}\n          ${caught ? by : file}`)
}

/**
 * Each test `notices …` of a self-test is a fault. The others must pass.
 *
 * @param {string} copy @param {string} group @param {string} file
 */
async function trySelfTest(copy, group, file) {
  for (const { title, status } of await runSelfTest(copy, file)) {
    const [, what] = /^notices (.*)/.exec(title) ?? []
    if (what === undefined && status === 'failed') exitWithMessage(`${file} fails: ${title}`)
    if (what === undefined || status === 'skipped') continue
    report({ group, what, file, caught: status === 'passed', by: file })
  }
}

/** @param {string} copy @param {string} group @param {import('./mutant.js').Mutant} mutant */
async function tryMutant(copy, group, mutant) {
  const { what, file, tests } = mutant
  const revert = applyMutant(copy, mutant)
  const { hasFailed, by } = await tryTests(copy, tests)
  revert()
  report({ group, what, file, caught: hasFailed, by })
}

/** @type {((copy: string) => Promise<void>)[]} */
const tasks = []
/** @type {Set<string>} */
const tests = new Set()
for (const group of groups) {
  const selfTest = SELF_TESTS.get(group)
  if (selfTest) {
    tasks.push((copy) => trySelfTest(copy, group, selfTest))
    continue
  }
  const { mutants } = await import(`./list/${group}.js`)
  for (const mutant of mutants) {
    tasks.push((copy) => tryMutant(copy, group, mutant))
    for (const test of mutant.tests) tests.add(test)
  }
}

// A test that fails without a fault proves nothing.
if (tests.size > 0) {
  const baseline = await tryTests(copies[0] ?? '', [...tests])
  if (baseline.hasFailed) exitWithMessage(`tests fail without a fault: ${baseline.by}`)
}

/** @param {string} copy */
async function work(copy) {
  for (let task = tasks.shift(); task; task = tasks.shift()) await task(copy)
}
await Promise.all(copies.map(work))

const caught = results.filter((result) => result.caught).length
console.log('')
for (const group of groups) {
  const own = results.filter((result) => result.group === group)
  console.log(`${group.padEnd(16)} ${own.filter((result) => result.caught).length} of ${own.length}`)
}
const seconds = Math.round((performance.now() - began) / 1000)
console.log(`\n${caught} of ${results.length} seeded faults were caught, in ${seconds} s.`)
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ seconds, results }, null, 2)}\n`)
process.exitCode = caught === results.length ? 0 : 1
