// @ts-check
/**
 * Accepted means kept: `npm run crash -- [--store sqlite|postgres] [--cycles 1000] [--nodes 3] [--pauses 12]
 * [--failovers 4] [--only cycles,disk-full,takeovers,pauses,failover] [--postgres URL] [--seed S] [--json FILE]`.
 *
 * Processes that publish and deliver are killed at random moments, a thousand times; then the acknowledgements that
 * publishers got are compared with the requests that receivers saw. PostgreSQL is the server of `--postgres` or
 * `TEST_PG_URL`, otherwise a private one. The store `memory` is not durable: its run must fail.
 */
import { writeFileSync } from 'node:fs'
import { exitWithMessage, parseWholeNumber, readRunFlags } from '../support/run-flags.js'
import { createParts, PARTS } from './parts.js'
import { postgresServer } from './postgres-server.js'
import { printTable, printViolations } from './report.js'

const STORES = ['sqlite', 'postgres', 'memory']

const values = readRunFlags({
  store: { type: 'string', default: 'sqlite' },
  cycles: { type: 'string', default: '1000' },
  nodes: { type: 'string', default: '3' },
  pauses: { type: 'string', default: '12' },
  failovers: { type: 'string', default: '4' },
  only: { type: 'string', default: '' },
  postgres: { type: 'string' },
  seed: { type: 'string', default: String(Date.now()) },
  json: { type: 'string' },
})
const { store: kind, seed } = values
const cycles = parseWholeNumber('cycles', values.cycles)
const nodes = parseWholeNumber('nodes', values.nodes)
const pauses = parseWholeNumber('pauses', values.pauses)
const failovers = parseWholeNumber('failovers', values.failovers)
const only = values.only.split(',').filter(Boolean)

if (!STORES.includes(kind)) exitWithMessage(`--store takes one of ${STORES.join(', ')}`)
if (nodes < 2 || nodes > 4) exitWithMessage('--nodes takes 2, 3 or 4')
if (only.some((name) => !PARTS.includes(name))) exitWithMessage(`--only takes ${PARTS.join(', ')}`)

// Exiting kills all nodes, paused ones included.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => process.exit(1))
const server =
  kind === 'postgres' ? await postgresServer(values.postgres ?? process.env.TEST_PG_URL) : undefined
if (kind === 'postgres' && !server) exitWithMessage('--store postgres needs a server: --postgres URL')
const began = performance.now()
/** @type {Map<string, number>} */
const totals = new Map()
let isGood = true
for (const part of createParts({
  kind,
  cycles,
  nodes,
  pauses,
  failovers,
  only,
  connectionString: server?.url,
})) {
  if (!isGood) break
  const { history, violations, counts, store } = await part.run(`${seed}/${part.name}`)
  for (const [name, count] of counts) totals.set(name, (totals.get(name) ?? 0) + count)
  isGood = violations.length === 0
  if (!isGood) {
    printViolations(history, violations)
    console.log(`${part.name} of --seed ${seed}; its store: ${store}\n`)
  }
}

await server?.end()

const seconds = Math.round((performance.now() - began) / 1000)
printTable([['store', kind], ['seed', seed], ...totals, ['seconds', seconds]])
const acknowledged = (totals.get('acknowledged') ?? 0).toLocaleString('en')
console.log(
  isGood
    ? `\nNothing was lost: ${acknowledged} events were acknowledged and every one arrived, in order; each repetition is explained by a crash.`
    : '\nA promise was broken: see above.',
)
if (values.json !== undefined) {
  const facts = {
    node: process.version,
    store: kind,
    seed,
    seconds,
    isGood,
    counts: Object.fromEntries(totals),
  }
  writeFileSync(values.json, `${JSON.stringify(facts, null, 2)}\n`)
}
process.exitCode = isGood ? 0 : 1
