// @ts-check
/** What people ask of the simulator on its command line. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { FAULT_KINDS } from 'hookswitch/testkit'
import { readRunFlags, refuse, wholeFlag } from '../run-flags.js'

/** @param {string | undefined} text @param {string} name */
function above0(text, name) {
  const number = Number(text)
  if (!(number > 0)) refuse(`--${name} takes a number above 0`)
  return number
}

/** @param {string | undefined} text */
const numbers = (text) => new Set((text ?? '').split(',').filter(Boolean).map(Number))

/** @param {string} text */
function faultsOf(text) {
  if (['all', 'none', 'drawn'].includes(text)) return text
  const kinds = text.split(',')
  const strange = kinds.find((kind) => !(/** @type {readonly string[]} */ (FAULT_KINDS).includes(kind)))
  if (strange !== undefined) refuse(`--faults takes all, none, drawn, or some of: ${FAULT_KINDS.join(', ')}`)
  return kinds
}

/** Store operations and the side of them on which their node dies: `12-before,40-after`. @param {string} text */
function crashesOf(text) {
  const parts = text.split(',').map((part) => /^(\d+)-(before|after)$/.exec(part))
  if (parts.includes(null)) refuse('--crash-at takes store operations by number, such as 12-before,40-after')
  return new Map(parts.map((part) => [Number(part?.[1]), part?.[2]]))
}

/** Files of SQLite, in memory where there is such a place. */
async function sqliteStores() {
  const { sqliteStore } = await import('hookswitch/sqlite')
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'hookswitch-sim-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  let files = 0
  return () => sqliteStore({ path: join(folder, String(++files)), inThread: true })
}

/** Reads them; refuses in one sentence, and ends the process, where one is strange. */
export async function readFlags() {
  const values = readRunFlags({
    seed: { type: 'string' },
    runs: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    minutes: { type: 'string', default: '10' },
    nodes: { type: 'string' },
    faults: { type: 'string', default: 'drawn' },
    calls: { type: 'string' },
    'lease-seconds': { type: 'string' },
    store: { type: 'string', default: 'memory' },
    crashes: { type: 'string' },
    'crash-at': { type: 'string' },
    'without-faults': { type: 'string' },
    'without-calls': { type: 'string' },
    json: { type: 'string' },
  })
  const { nodes, calls, store, crashes, 'lease-seconds': lease, 'crash-at': crashAt } = values
  if (!['memory', 'sqlite'].includes(store)) refuse('--store takes memory or sqlite')
  if (crashes !== undefined && !['singles', 'pairs'].includes(crashes))
    refuse('--crashes takes singles or pairs')

  const options = /** @type {import('hookswitch/testkit').SimulationOptions} */ ({
    minutes: above0(values.minutes, 'minutes'),
    faults: faultsOf(values.faults),
    ...(nodes !== undefined && { nodes: wholeFlag('nodes', nodes) }),
    ...(calls !== undefined && { callsPerDay: above0(calls, 'calls') }),
    ...(lease !== undefined && { leaseSeconds: above0(lease, 'lease-seconds') }),
    ...(crashAt !== undefined && { crashes: crashesOf(crashAt) }),
    ...(store === 'sqlite' && { store: await sqliteStores() }),
    without: { faults: numbers(values['without-faults']), calls: numbers(values['without-calls']) },
  })
  const first = values.seed ?? String(Date.now() % 1_000_000)
  const runs = wholeFlag('runs', values.runs)
  /** Of the runs that follow the first: numbers count on. @param {number} index 0, 1, … */
  const seedOf = (index) => {
    if (index === 0) return first
    return /^\d+$/.test(first) ? String(Number(first) + index) : `${first}/${index}`
  }
  return {
    options,
    seedOf,
    runs,
    jobs: Math.min(wholeFlag('jobs', values.jobs), runs),
    crashes,
    json: values.json,
    /** What a line that repeats a run must say besides its options. */
    more: store === 'memory' ? '' : ` --store ${store}`,
  }
}
