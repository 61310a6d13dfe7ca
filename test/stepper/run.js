// @ts-check
/**
 * Runs the PostgreSQL store statement by statement:
 * `npm run stepper -- [--seeds 1000] [--seed S] [--small] [--fault NAME] [--postgres URL]`.
 *
 * Two or three nodes commit groups, poll, edit, erase and hand over shards, one statement at a time in an order drawn from
 * a seed. The server is that of `--postgres` or `TEST_PG_URL`, else a private one. `--seed` repeats one run
 * and prints its trace (where two statements wait for one lock, the server decides which is next); `--small` uses one
 * webhook and one call; `--fault` injects a defect into the store's statements.
 */
import { postgresServer } from '../crash/postgres-server.js'
import { exitWithMessage, parseWholeNumber, readRunFlags } from '../support/run-flags.js'
import { FAULTS } from './fault-injectors.js'
import { stepThrough } from './step.js'

const values = readRunFlags({
  seeds: { type: 'string', default: '1000' },
  seed: { type: 'string' },
  postgres: { type: 'string' },
  fault: { type: 'string' },
  small: { type: 'boolean', default: false },
})
const seeds = parseWholeNumber('seeds', values.seeds)

if (values.fault !== undefined && !(values.fault in FAULTS))
  exitWithMessage(`--fault takes one of: ${Object.keys(FAULTS).join(', ')}`)
const faultInjector = values.fault === undefined ? undefined : FAULTS[values.fault]
const server = await postgresServer(values.postgres ?? process.env.TEST_PG_URL)
if (!server) exitWithMessage('the stepper needs a server: --postgres URL')
const { url, end } = /** @type {NonNullable<typeof server>} */ (server)

const startedMs = performance.now()
/** @type {Map<string, number>} */
const totals = new Map()
const given = values.seed
const all = given === undefined ? Array.from({ length: seeds }, (_, index) => String(index + 1)) : [given]
let runs = 0
let hasPassed = true
for (const seed of all) {
  const { violations, counts, trace } = await stepThrough({
    url,
    schema: 'stepper',
    seed,
    isSmall: values.small,
    ...(faultInjector && { faultInjector }),
  })
  runs += 1
  for (const [name, count] of counts) totals.set(name, (totals.get(name) ?? 0) + count)
  hasPassed = violations.length === 0
  if (given !== undefined) console.log(trace.join('\n'))
  if (hasPassed) continue
  console.log(`\n${trace.slice(-30).join('\n')}\n`)
  for (const violation of violations) console.log(`! ${violation}`)
  console.log(`\nnpm run stepper -- --seed ${seed}${values.small ? ' --small' : ''}`)
  break
}
await end()
const seconds = Math.round((performance.now() - startedMs) / 1000)
const summary = [...totals].map(([name, count]) => `${count.toLocaleString('en')} ${name}`).join(', ')
console.log(`${runs} runs in ${seconds} s: ${summary}`)
process.exitCode = hasPassed ? 0 : 1
