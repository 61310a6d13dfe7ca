// @ts-check
/**
 * Statement by statement through the PostgreSQL store: `npm run stepper -- [--seeds 1000] [--seed S] [--small] [--postgres URL]`.
 *
 * Two or three nodes accept, claim, settle, cancel, disable and hand over, one statement at a time in an order drawn from
 * a seed. The server is that of `--postgres` or `TEST_PG_URL`, else a private one. `--seed` repeats one run and tells it
 * (where two wait for one lock, the server says who is next); `--small` has one webhook and one call alone.
 */
import { postgresServer } from '../crash/postgres-server.js'
import { readRunFlags, refuse, wholeFlag } from '../run-flags.js'
import { DOCTORS } from './doctors.js'
import { stepThrough } from './step.js'

const values = readRunFlags({
  seeds: { type: 'string', default: '1000' },
  seed: { type: 'string' },
  postgres: { type: 'string' },
  doctor: { type: 'string' },
  small: { type: 'boolean', default: false },
})
const seeds = wholeFlag('seeds', values.seeds)

if (values.doctor !== undefined && !(values.doctor in DOCTORS))
  refuse(`--doctor takes one of: ${Object.keys(DOCTORS).join(', ')}`)
const doctor = values.doctor === undefined ? undefined : DOCTORS[values.doctor]
const server = await postgresServer(values.postgres ?? process.env.TEST_PG_URL)
if (!server) refuse('the stepper needs a server: --postgres URL')
const { url, end } = /** @type {NonNullable<typeof server>} */ (server)

const began = performance.now()
/** @type {Map<string, number>} */
const totals = new Map()
const given = values.seed
const all = given === undefined ? Array.from({ length: seeds }, (_, index) => String(index + 1)) : [given]
let runs = 0
let isGood = true
for (const seed of all) {
  const { findings, counts, story } = await stepThrough({
    url,
    schema: 'stepper',
    seed,
    isSmall: values.small,
    ...(doctor && { doctor }),
  })
  runs += 1
  for (const [name, count] of counts) totals.set(name, (totals.get(name) ?? 0) + count)
  isGood = findings.length === 0
  if (given !== undefined) console.log(story.join('\n'))
  if (isGood) continue
  console.log(`\n${story.slice(-30).join('\n')}\n`)
  for (const finding of findings) console.log(`! ${finding}`)
  console.log(`\nnpm run stepper -- --seed ${seed}${values.small ? ' --small' : ''}`)
  break
}
await end()
const seconds = Math.round((performance.now() - began) / 1000)
const told = [...totals].map(([name, count]) => `${count.toLocaleString('en')} ${name}`).join(', ')
console.log(`${runs} runs in ${seconds} s: ${told}`)
process.exitCode = isGood ? 0 : 1
