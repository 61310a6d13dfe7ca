// @ts-check
/** The command-line flags of the simulator. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { FAULT_KINDS } from 'hookswitch/simulator'
import { exitWithMessage, parseWholeNumber, readRunFlags } from '../support/run-flags.js'

/** @param {string | undefined} text @param {string} name */
function positiveFlag(text, name) {
  const number = Number(text)
  if (!(number > 0)) exitWithMessage(`--${name} takes a number above 0`)
  return number
}

/** @param {string | undefined} text */
const numbers = (text) => new Set((text ?? '').split(',').filter(Boolean).map(Number))

/** @param {string} text */
function faultsOf(text) {
  if (['all', 'none', 'drawn'].includes(text)) return text
  const kinds = text.split(',')
  const unknown = kinds.find((kind) => !(/** @type {readonly string[]} */ (FAULT_KINDS).includes(kind)))
  if (unknown !== undefined)
    exitWithMessage(`--faults takes all, none, drawn, or some of: ${FAULT_KINDS.join(', ')}`)
  return kinds
}

/** Store operations before or after which their node crashes: `12-before,40-after`. @param {string} text */
function crashesOf(text) {
  const parts = text.split(',').map((part) => /^(\d+)-(before|after)$/.exec(part))
  if (parts.includes(null))
    exitWithMessage('--crash-at takes store operations by number, such as 12-before,40-after')
  return new Map(parts.map((part) => [Number(part?.[1]), part?.[2]]))
}

/** SQLite files, in memory where possible. */
async function sqliteStores() {
  const { sqliteStore } = await import('hookswitch/sqlite')
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'hookswitch-sim-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  let files = 0
  return () => sqliteStore({ path: join(folder, String(++files)), inThread: true })
}

/** Reads the flags. Prints one sentence and ends the process if one is invalid. */
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
  if (!['memory', 'sqlite'].includes(store)) exitWithMessage('--store takes memory or sqlite')
  if (crashes !== undefined && !['singles', 'pairs'].includes(crashes))
    exitWithMessage('--crashes takes singles or pairs')

  const options = /** @type {import('hookswitch/simulator').SimulationOptions} */ ({
    minutes: positiveFlag(values.minutes, 'minutes'),
    faults: faultsOf(values.faults),
    ...(nodes !== undefined && { nodes: parseWholeNumber('nodes', nodes) }),
    ...(calls !== undefined && { callsPerDay: positiveFlag(calls, 'calls') }),
    ...(lease !== undefined && { leaseSeconds: positiveFlag(lease, 'lease-seconds') }),
    ...(crashAt !== undefined && { crashes: crashesOf(crashAt) }),
    ...(store === 'sqlite' && { store: await sqliteStores() }),
    without: { faults: numbers(values['without-faults']), calls: numbers(values['without-calls']) },
  })
  const first = values.seed ?? String(Date.now() % 1_000_000)
  const runs = parseWholeNumber('runs', values.runs)
  /** The seed of a run: numbers count up. @param {number} index 0, 1, … */
  const seedOf = (index) => {
    if (index === 0) return first
    return /^\d+$/.test(first) ? String(Number(first) + index) : `${first}/${index}`
  }
  return {
    options,
    seedOf,
    runs,
    jobs: Math.min(parseWholeNumber('jobs', values.jobs), runs),
    crashes,
    json: values.json,
    /** Further flags of a command line that repeats a run. */
    more: store === 'memory' ? '' : ` --store ${store}`,
  }
}
