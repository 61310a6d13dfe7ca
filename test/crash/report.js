// @ts-check
/** What a run says at its end. */
import { timelineOf } from './timeline.js'

/** Findings that are shown with their timelines. */
const MOST = 5

/**
 * @param {import('./ledger.js').Ledger} ledger
 * @param {readonly import('./oracle.js').Finding[]} findings
 */
export function printFindings(ledger, findings) {
  for (const finding of findings.slice(0, MOST)) {
    console.log(`\n${finding.rule}: ${finding.what}`)
    for (const line of timelineOf(ledger, finding)) console.log(`  ${line}`)
  }
  if (findings.length > MOST) console.log(`\n… and ${findings.length - MOST} more findings`)
  const rules = countBy(findings.map(({ rule }) => rule))
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
