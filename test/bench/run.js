/**
 * The benchmark: `npm run bench -- [--only P1,P4] [--store sqlite,postgres] [--rounds 5] [--pending 200000]
 * [--most 100000] [--snapshot 60] [--profile] [--json FILE]`.
 *
 * Machines differ, so what can be is a ratio to a baseline of the same run, in turns. Nothing is asserted: the table
 * shows median and spread beside goal and floor, and goes into a file as JSON.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { readRunFlags, refuse } from '../run-flags.js'
import { diskFacts } from './file-system.js'
import { LeftOut } from './left-out.js'
import { MEASURES } from './measures.js'
import { makePlaces, STORES } from './places.js'
import { clearProfiles, printProfiles, printStatements } from './profile.js'
import { printTable } from './table.js'

const values = readRunFlags({
  only: { type: 'string', default: '' },
  store: { type: 'string', default: '' },
  rounds: { type: 'string', default: '5' },
  pending: { type: 'string', default: '200000' },
  most: { type: 'string', default: '100000' },
  snapshot: { type: 'string', default: '60' },
  profile: { type: 'boolean', default: false },
  json: { type: 'string', default: 'bench-results.json' },
})

const listOf = (text) => text.split(',').filter(Boolean)
const only = listOf(values.only.toUpperCase())
const stores = listOf(values.store.toLowerCase())
const [rounds, pending, most, snapshotSeconds] = [
  values.rounds,
  values.pending,
  values.most,
  values.snapshot,
].map(Number)
const isWhole = (number, step) => number >= step && number % step === 0
if (only.some((name) => !(name in MEASURES))) refuse(`--only takes ${Object.keys(MEASURES).join(',')}`)
if (stores.some((kind) => !STORES.includes(kind))) refuse(`--store takes ${STORES.join(',')}`)
if (!isWhole(rounds, 1) || !isWhole(snapshotSeconds, 1)) refuse('--rounds and --snapshot take whole numbers')
if (!isWhole(pending, 1_000) || !isWhole(most, 1_000)) refuse('--pending and --most take thousands')

// A profile of two kinds of work would say little of either: without a choice it is P1's.
const wanted = only.length > 0 ? only : values.profile ? ['P1'] : Object.keys(MEASURES)
const chosen = wanted.flatMap((name) =>
  MEASURES[name].stores
    .filter((kind) => stores.length === 0 || stores.includes(kind))
    .map((kind) => ({ name, kind, ...MEASURES[name] })),
)
if (chosen.length === 0) refuse(`${wanted.join(',')}: not measured on ${stores.join(',')}`)

/** The rows of one measure on one kind of store: why there are none is one, too. */
async function rowsOf({ name, kind, measure, profiled = false }) {
  let places
  try {
    const profile = values.profile && profiled && `${name}-${kind}`
    places = await makePlaces(kind, profile !== false)
    const rows = await measure({ name, rounds, pending, most, snapshotSeconds, profile, places })
    if (places.statements) printStatements(profile, await places.statements())
    return rows.map((row) => ({ ...row, store: kind }))
  } catch (thrown) {
    // What was measured before is worth its table.
    if (thrown instanceof LeftOut) {
      console.error(`\n*** ${name} on ${kind} is LEFT OUT: ${thrown.message} ***`)
      return [{ row: name, store: kind, leftOut: thrown.message }]
    }
    console.error(`\n${name} on ${kind} failed:`, thrown)
    process.exitCode = 1
    return [{ row: name, store: kind, failed: String(thrown?.message ?? thrown) }]
  } finally {
    await places?.remove()
  }
}

if (values.profile) clearProfiles()
const before = diskFacts()
const rows = []
for (const one of chosen) {
  const started = performance.now()
  process.stderr.write(`${one.name} ${one.kind} … `)
  rows.push(...(await rowsOf(one)))
  process.stderr.write(`${((performance.now() - started) / 1000).toFixed(0)} s\n`)
}
printTable(rows)
const { folder, fileSystem, flushMs } = diskFacts()
// Others may use the disk too: then the figures of stores that wait for it say little.
const disk = { folder, fileSystem, flushMs: [before.flushMs, flushMs] }
console.log(
  `\nStores that keep things were in ${folder} (${fileSystem}), where 4 KiB took ${before.flushMs.toFixed(2)} ms ` +
    `to reach the disk before this run, ${flushMs.toFixed(2)} ms after it.`,
)
// Above the number of cores others were at work, and the figures say little.
const machine = {
  node: process.version,
  cores: availableParallelism(),
  cpu: cpus()[0]?.model,
  load: loadavg(),
  disk,
}
writeFileSync(values.json, `${JSON.stringify({ machine, rounds, rows }, null, 2)}\n`)
if (values.profile) printProfiles()
