/**
 * The benchmark: `npm run bench -- [--only P1,P4] [--rounds 5] [--pending 200000] [--profile] [--json FILE]`.
 *
 * Machines differ, so what can be is a ratio to a baseline of the same run, in turns. Nothing is asserted: the table
 * shows median and spread beside goal and floor, and goes into a file as JSON.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { measureExpress, measureNode } from './answers.js'
import { measureDeliveries } from './deliveries.js'
import { measureIdle, measureStart } from './footprint.js'
import { clearProfiles, printProfiles } from './profile.js'
import { measureFanOut, measurePublish } from './publishing.js'

const MEASURES = {
  P1: measureDeliveries,
  P4: measureNode,
  P5: measureExpress,
  P6: measurePublish,
  P9: measureFanOut,
  P13: measureIdle,
  P14: measureStart,
}
/** Of these the side that is ours can be profiled. */
const PROFILED = ['P1', 'P4', 'P5']

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    pending: { type: 'string', default: '200000' },
    profile: { type: 'boolean', default: false },
    json: { type: 'string', default: 'bench-results.json' },
  },
})

const asked = values.only.toUpperCase().split(',').filter(Boolean)
const unknown = asked.filter((name) => !(name in MEASURES))
const [rounds, pending] = [Number(values.rounds), Number(values.pending)]
if (unknown.length > 0 || !(rounds >= 1) || !(pending >= 1)) {
  console.error(
    `--only takes ${Object.keys(MEASURES).join(',')}; --rounds and --pending whole numbers from 1`,
  )
  process.exit(1)
}
// A profile of two kinds of work would say little of either: without a choice it is P1's.
const wanted = asked.length > 0 ? asked : values.profile ? ['P1'] : Object.keys(MEASURES)

const digits = (unit, value) => (unit === 'ratio' ? value.toFixed(2) : value.toFixed(value < 100 ? 1 : 0))

/** A row as the table shows it. */
function shown(row) {
  const { unit } = row
  const value = (number) => (unit === 'ratio' ? digits(unit, number) : `${digits(unit, number)} ${unit}`)
  const bound = (number) => (number === undefined ? '' : `${unit === 'ratio' ? '≥' : '≤'} ${number}`)
  const rate = (number) => Math.round(number).toLocaleString('en')
  return {
    row: row.row,
    what: row.what,
    baseline: row.baseline,
    median: value(row.median),
    spread: `${digits(unit, row.min)} – ${digits(unit, row.max)}`,
    goal: bound(row.goal),
    floor: bound(row.floor),
    seen:
      row.oursPerSecond === undefined
        ? row.p50 === undefined
          ? ''
          : `p50 ${value(row.p50)}`
        : `${rate(row.oursPerSecond)} of ${rate(row.baselinePerSecond)}/s, ` +
          `CPU ${row.oursCpuMicros.toFixed(0)} against ${row.baselineCpuMicros.toFixed(0)} µs each`,
  }
}

/** Columns as wide as their widest text. */
function printTable(rows) {
  const names = ['row', 'what', 'baseline', 'median', 'spread', 'goal', 'floor', 'seen']
  const lines = [Object.fromEntries(names.map((name) => [name, name])), ...rows.map(shown)]
  const width = (name) => Math.max(...lines.map((line) => line[name].length))
  for (const line of lines)
    console.log(
      names
        .map((name) => line[name].padEnd(width(name)))
        .join('  ')
        .trimEnd(),
    )
}

if (values.profile) clearProfiles()
const rows = []
for (const name of wanted) {
  process.stderr.write(`${name} …\n`)
  const profile = values.profile && PROFILED.includes(name)
  try {
    rows.push(...(await MEASURES[name]({ rounds, pending, profile })))
  } catch (thrown) {
    // What was measured before is worth its table.
    console.error(`${name} failed:`, thrown)
    process.exitCode = 1
  }
}
printTable(rows)
const machine = { node: process.version, cores: availableParallelism(), cpu: cpus()[0]?.model }
writeFileSync(values.json, `${JSON.stringify({ machine, rounds, rows }, null, 2)}\n`)
if (values.profile) printProfiles()
