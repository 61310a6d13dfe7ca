// @ts-check
/**
 * Accepted means kept: `npm run crash -- [--store sqlite|postgres] [--cycles 1000] [--only cycles,disk-full,takeovers]
 * [--postgres URL] [--seed S] [--json FILE]`.
 *
 * Processes that publish and deliver are killed at any moment, a thousand times; then what publishers were told and
 * what receivers saw is compared. PostgreSQL is the server of `--postgres` or `TEST_PG_URL`, else a private one. The
 * store `memory` keeps nothing: its run must fail.
 */
import { writeFileSync } from 'node:fs'
import { readRunFlags, refuse, wholeFlag } from '../run-flags.js'
import { PARTS, partsOf } from './parts.js'
import { postgresServer } from './postgres-server.js'
import { printFindings, printTable } from './report.js'

const STORES = ['sqlite', 'postgres', 'memory']

const values = readRunFlags({
  store: { type: 'string', default: 'sqlite' },
  cycles: { type: 'string', default: '1000' },
  only: { type: 'string', default: '' },
  postgres: { type: 'string' },
  seed: { type: 'string', default: String(Date.now()) },
  json: { type: 'string' },
})
const { store, seed } = values
const cycles = wholeFlag('cycles', values.cycles)
const only = values.only.split(',').filter(Boolean)

if (!STORES.includes(store)) refuse(`--store takes one of ${STORES.join(', ')}`)
if (only.some((name) => !PARTS.includes(name))) refuse(`--only takes ${PARTS.join(', ')}`)

// Nodes are killed with whoever started them, those that stand still too.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => process.exit(1))
const server =
  store === 'postgres' ? await postgresServer(values.postgres ?? process.env.TEST_PG_URL) : undefined
if (store === 'postgres' && !server) refuse('--store postgres needs a server: --postgres URL')
const began = performance.now()
/** @type {Map<string, number>} */
const totals = new Map()
let isGood = true
for (const part of partsOf({ store, cycles, only, connectionString: server?.url })) {
  if (!isGood) break
  const { ledger, findings, counts, place } = await part.run(`${seed}/${part.name}`)
  for (const [name, count] of counts) totals.set(name, (totals.get(name) ?? 0) + count)
  isGood = findings.length === 0
  if (!isGood) {
    printFindings(ledger, findings)
    console.log(`${part.name} of --seed ${seed}; its store: ${place}\n`)
  }
}

await server?.end()

const seconds = Math.round((performance.now() - began) / 1000)
printTable([['store', store], ['seed', seed], ...totals, ['seconds', seconds]])
const acknowledged = (totals.get('acknowledged') ?? 0).toLocaleString('en')
console.log(
  isGood
    ? `\nNothing was lost: ${acknowledged} events were acknowledged and every one arrived, in order; each repetition is explained by a crash.`
    : '\nThe promise was broken: see above.',
)
if (values.json !== undefined) {
  const facts = { node: process.version, store, seed, seconds, isGood, counts: Object.fromEntries(totals) }
  writeFileSync(values.json, `${JSON.stringify(facts, null, 2)}\n`)
}
process.exitCode = isGood ? 0 : 1
