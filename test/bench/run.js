/**
 * The benchmark: `npm run bench -- [--only P1,P4] [--rounds 5] [--pending 200000] [--most 100000] [--profile]
 * [--json FILE]`.
 *
 * Machines differ, so what can be is a ratio to a baseline of the same run, in turns. Nothing is asserted: the table
 * shows median and spread beside goal and floor, and goes into a file as JSON.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { measureExpress, measureNode } from './answers.js'
import { measureDeliveries } from './deliveries.js'
import { measureIdle, measureStart } from './footprint.js'
import { measureGrowth } from './growth.js'
import { measureIsolation } from './isolation.js'
import { measureLatency } from './latency.js'
import { measurePeers } from './peers.js'
import { clearProfiles, printProfiles } from './profile.js'
import { measureFanOut, measurePublish } from './publishing.js'
import { printTable } from './table.js'

const MEASURES = {
  P1: measureDeliveries,
  PEERS: measurePeers,
  P4: measureNode,
  P5: measureExpress,
  P6: measurePublish,
  P7: measureLatency,
  P8: measureIsolation,
  P9: measureFanOut,
  P13: measureIdle,
  P14: measureStart,
  P15: measureGrowth,
}
/** Of these the side that is ours can be profiled. */
const PROFILED = ['P1', 'P4', 'P5', 'P7', 'P8']

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    pending: { type: 'string', default: '200000' },
    most: { type: 'string', default: '100000' },
    profile: { type: 'boolean', default: false },
    json: { type: 'string', default: 'bench-results.json' },
  },
})

const asked = values.only.toUpperCase().split(',').filter(Boolean)
const unknown = asked.filter((name) => !(name in MEASURES))
const [rounds, pending, most] = [values.rounds, values.pending, values.most].map(Number)
const isWhole = (number, step) => number >= step && number % step === 0
if (unknown.length > 0 || !isWhole(rounds, 1) || !isWhole(pending, 1) || !isWhole(most, 1_000)) {
  console.error(
    `--only takes ${Object.keys(MEASURES).join(',')}; --rounds and --pending whole numbers, --most thousands`,
  )
  process.exit(1)
}
// A profile of two kinds of work would say little of either: without a choice it is P1's.
const wanted = asked.length > 0 ? asked : values.profile ? ['P1'] : Object.keys(MEASURES)

if (values.profile) clearProfiles()
const rows = []
for (const name of wanted) {
  const started = performance.now()
  process.stderr.write(`${name} … `)
  const profile = values.profile && PROFILED.includes(name)
  try {
    rows.push(...(await MEASURES[name]({ rounds, pending, most, profile })))
  } catch (thrown) {
    // What was measured before is worth its table.
    console.error(`${name} failed:`, thrown)
    process.exitCode = 1
  }
  process.stderr.write(`${((performance.now() - started) / 1000).toFixed(0)} s\n`)
}
printTable(rows)
// Above the number of cores others were at work, and the figures say little.
const machine = {
  node: process.version,
  cores: availableParallelism(),
  cpu: cpus()[0]?.model,
  load: loadavg(),
}
writeFileSync(values.json, `${JSON.stringify({ machine, rounds, rows }, null, 2)}\n`)
if (values.profile) printProfiles()
