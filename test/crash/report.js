// @ts-check
/** Prints the result of a run. */
import { timelineOf } from './timeline.js'

/** Violations that are printed with their timelines. */
const MAX_DETAILED = 5

/**
 * @param {import('./history.js').History} history
 * @param {readonly import('./oracle.js').Violation[]} violations
 */
export function printViolations(history, violations) {
  for (const violation of violations.slice(0, MAX_DETAILED)) {
    console.log(`\n${violation.rule}: ${violation.what}`)
    for (const line of timelineOf(history, violation)) console.log(`  ${line}`)
  }
  if (violations.length > MAX_DETAILED)
    console.log(`\n… and ${violations.length - MAX_DETAILED} more violations`)
  const rules = countBy(violations.map(({ rule }) => rule))
  console.log(`\n${[...rules].map(([rule, count]) => `${rule}: ${count}`).join(', ')}`)
}

/** @param {Iterable<readonly [string, string | number]>} rows */
export function printTable(rows) {
  const all = [...rows]
  const width = Math.max(...all.map(([name]) => name.length))
  for (const [name, value] of all) {
    console.log(`${name.padEnd(width)}  ${typeof value === 'number' ? value.toLocaleString('en') : value}`)
  }
}

/** @param {readonly string[]} names */
export function countBy(names) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}
