/**
 * The benchmark: `npm run bench -- [--only P1,P4] [--store sqlite,postgres] [--rounds 5] [--pending 200000]
 * [--most 100000] [--snapshot 60] [--limit 60] [--outage 40] [--profile] [--json FILE]`.
 *
 * Machines differ, so a result is a ratio to a baseline of the same run wherever one exists; rounds of both sides are
 * interleaved. Nothing is asserted: the table shows median and spread beside goal and floor, and is also written to a
 * file as JSON.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { exitWithMessage, readRunFlags } from '../support/run-flags.js'
import { measureDisk } from './file-system.js'
import { MEASUREMENTS } from './measurements.js'
import { clearProfiles, printProfiles, printStatements } from './profile.js'
import { Skipped } from './skipped.js'
import { createStores, STORE_KINDS } from './stores.js'
import { printTable } from './table.js'

const values = readRunFlags({
  only: { type: 'string', default: '' },
  store: { type: 'string', default: '' },
  rounds: { type: 'string', default: '5' },
  pending: { type: 'string', default: '200000' },
  most: { type: 'string', default: '100000' },
  snapshot: { type: 'string', default: '60' },
  limit: { type: 'string', default: '60' },
  outage: { type: 'string', default: '40' },
  profile: { type: 'boolean', default: false },
  json: { type: 'string', default: 'bench-results.json' },
})

const listOf = (text) => text.split(',').filter(Boolean)
const only = listOf(values.only.toUpperCase())
const storeKinds = listOf(values.store.toLowerCase())
const [rounds, pending, largest, snapshotSeconds, limitSeconds, outageSeconds] = [
  values.rounds,
  values.pending,
  values.most,
  values.snapshot,
  values.limit,
  values.outage,
].map(Number)
const isMultiple = (number, step) => number >= step && number % step === 0
if (only.some((name) => !(name in MEASUREMENTS)))
  exitWithMessage(`--only takes ${Object.keys(MEASUREMENTS).join(',')}`)
if (storeKinds.some((kind) => !STORE_KINDS.includes(kind)))
  exitWithMessage(`--store takes ${STORE_KINDS.join(',')}`)
if (![rounds, snapshotSeconds, limitSeconds, outageSeconds].every((number) => isMultiple(number, 1)))
  exitWithMessage('--rounds, --snapshot, --limit and --outage take whole numbers')
if (!isMultiple(pending, 1_000) || !isMultiple(largest, 1_000))
  exitWithMessage('--pending and --most take multiples of 1000')

// A profile that mixes two workloads describes neither: the default is P1 alone.
const selectedRows = only.length > 0 ? only : values.profile ? ['P1'] : Object.keys(MEASUREMENTS)
const selected = selectedRows.flatMap((name) =>
  MEASUREMENTS[name].storeKinds
    .filter((kind) => storeKinds.length === 0 || storeKinds.includes(kind))
    .map((kind) => ({ name, kind, ...MEASUREMENTS[name] })),
)
if (selected.length === 0)
  exitWithMessage(`${selectedRows.join(',')}: not measured on ${storeKinds.join(',')}`)

/** Rows of one measurement on one kind of store. A skipped or failed measurement is a row with the reason. */
async function measureRows({ name, kind, measure, profiled = false }) {
  let stores
  try {
    const profile = values.profile && profiled && `${name}-${kind}`
    stores = await createStores(kind, profile !== false)
    const options = { rounds, pending, largest, snapshotSeconds, limitSeconds, outageSeconds }
    const rows = await measure({ name, ...options, profile, stores })
    if (stores.statements) printStatements(profile, await stores.statements())
    return rows.map((row) => ({ ...row, store: kind }))
  } catch (thrown) {
    // The rows measured so far are still printed.
    if (thrown instanceof Skipped) {
      console.error(`\n*** ${name} on ${kind} is SKIPPED: ${thrown.message} ***`)
      return [{ row: name, store: kind, skipped: thrown.message }]
    }
    console.error(`\n${name} on ${kind} failed:`, thrown)
    process.exitCode = 1
    return [{ row: name, store: kind, failed: String(thrown?.message ?? thrown) }]
  } finally {
    await stores?.remove()
  }
}

if (values.profile) clearProfiles()
const diskBefore = measureDisk()
const rows = []
for (const measurement of selected) {
  const started = performance.now()
  process.stderr.write(`${measurement.name} ${measurement.kind} … `)
  rows.push(...(await measureRows(measurement)))
  process.stderr.write(`${((performance.now() - started) / 1000).toFixed(0)} s\n`)
}
printTable(rows)
const { folder, fileSystem, flushMs } = measureDisk()
// Flush times that differ show that other programs use the disk: the figures of durable stores are then unreliable.
const disk = { folder, fileSystem, flushMs: [diskBefore.flushMs, flushMs] }
console.log(
  `\nDurable stores were in ${folder} (${fileSystem}), where a flush of 4 KiB took ${diskBefore.flushMs.toFixed(2)} ms ` +
    `before this run and ${flushMs.toFixed(2)} ms after it.`,
)
// A load above the number of cores means that other programs were running: the figures are then unreliable.
const machine = {
  node: process.version,
  cores: availableParallelism(),
  cpu: cpus()[0]?.model,
  load: loadavg(),
  disk,
}
writeFileSync(values.json, `${JSON.stringify({ machine, rounds, rows }, null, 2)}\n`)
if (values.profile) printProfiles()
