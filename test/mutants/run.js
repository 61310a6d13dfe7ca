// @ts-check
/**
 * Measures how many seeded faults the tests find: `npm run mutants -- [--only sqlite,order] [--jobs 2] [--json FILE]`.
 *
 * Seeds one fault at a time in a copy of the project; its tests must fail. A table names the test that failed. Faults of a
 * store that this machine lacks are skipped loudly.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { exitWithMessage, parseWholeNumber, readRunFlags } from '../support/run-flags.js'
import { makeCopies } from './copies.js'
import { applyMutant } from './mutant.js'
import { tryTests } from './trial.js'

/** Their tests need PostgreSQL. */
const ON_POSTGRES = ['postgres', 'crashed-nodes']
const GROUPS = readdirSync(new URL('list', import.meta.url)).map((file) => file.replace(/\.js$/, ''))
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
/** @type {(import('./mutant.js').Mutant & { group: string })[]} */
const waiting = []
for (const group of groups) {
  const { mutants } = await import(`./list/${group}.js`)
  for (const mutant of mutants) waiting.push({ group, ...mutant })
}

const began = performance.now()
const { copies, remove } = makeCopies(jobs)
process.once('exit', remove)
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => process.exit(1))

// A test that fails without a fault proves nothing.
const baseline = await tryTests(copies[0] ?? '', [...new Set(waiting.flatMap(({ tests }) => tests))])
if (baseline.hasFailed) exitWithMessage(`tests fail without a fault: ${baseline.by}`)

/** @type {{ group: string, what: string, file: string, caught: boolean, by: string }[]} */
const results = []
/** @param {string} copy */
async function work(copy) {
  for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
    const { group, what, file, tests } = mutant
    const revert = applyMutant(copy, mutant)
    const { hasFailed, by } = await tryTests(copy, tests)
    revert()
    results.push({ group, what, file, caught: hasFailed, by })
    console.log(
      `${hasFailed ? 'caught  ' : 'SURVIVED'}  ${group}: ${what}\n          ${hasFailed ? by : file}`,
    )
  }
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
