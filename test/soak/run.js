// @ts-check
/**
 * Memory does not grow: `npm run soak -- [--minutes 10] [--store memory|sqlite|postgres] [--dead 300]
 * [--leak] [--postgres URL]`. Without `--store` all stores run one after the other. PostgreSQL is the server of
 * `--postgres` or `TEST_PG_URL`, otherwise a private one, whose processes are not measured.
 *
 * The service runs at full rate beside dead endpoints. After the warm-up, a quarter of the run, the regression line of its
 * memory must be flat. A run with `--leak`, in which the host keeps 2 kB per event, must fail.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { postgresServer } from '../crash/postgres-server.js'
import { exitWithMessage, parseWholeNumber, readRunFlags } from '../support/run-flags.js'
import { checkGrowth } from './slope.js'

const STORES = ['memory', 'sqlite', 'postgres']
const PRINTED_READINGS = 12

const values = readRunFlags({
  minutes: { type: 'string', default: '10' },
  store: { type: 'string' },
  postgres: { type: 'string' },
  dead: { type: 'string', default: '300' },
  leak: { type: 'boolean', default: false },
})
const seconds = Number(values.minutes) * 60
const dead = parseWholeNumber('dead', values.dead, 0)

if (!(seconds >= 10)) exitWithMessage('--minutes takes a number, at least 0.2')
if (values.store !== undefined && !STORES.includes(values.store))
  exitWithMessage(`--store takes one of ${STORES.join(', ')}`)

const path = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url))
const mb = (/** @type {number} */ bytes) => (bytes / 1e6).toFixed(1)

/** @param {string} store */
async function soak(store) {
  const folder = await mkdtemp(join(tmpdir(), 'hookswitch-soak-'))
  const endpoints = fork(path('endpoints.js'))
  const [ports] = await once(endpoints, 'message')
  const server =
    store === 'postgres' ? await postgresServer(values.postgres ?? process.env.TEST_PG_URL) : undefined
  if (store === 'postgres' && !server) exitWithMessage('--store postgres needs a server: --postgres URL')
  const location = {
    path: join(folder, 'store.db'),
    connectionString: server?.url,
    schema: `soak_${process.pid}`,
  }
  const options = { store, ...location, dead, ports, leak: values.leak }
  const service = fork(path('service.js'), [JSON.stringify(options)], { execArgv: ['--expose-gc'] })
  /** @type {(import('./slope.js').Reading & { published: number, delivered: number, dying: number })[]} */
  const readings = []
  service.on('message', (message) => {
    readings.push(/** @type {(typeof readings)[number]} */ (message))
    if (Number(readings.at(-1)?.seconds) >= seconds) service.send('stop')
  })
  const [code] = await once(service, 'exit')
  endpoints.disconnect()
  await server?.end()
  await rm(folder, { recursive: true })
  if (code !== 0) throw new Error(`the service exited with code ${code}`)

  const { rss, live, secondHalf, problems } = checkGrowth(readings, seconds / 4)
  const last = readings.at(-1)
  console.log(
    `\n${store}: ${values.minutes} minutes, ${dead} dead endpoints, ${last?.published} events, ${last?.delivered} delivered`,
  )
  for (let n = 0; n < PRINTED_READINGS; n += 1) {
    const reading = readings[Math.floor(((n + 1) * readings.length) / PRINTED_READINGS) - 1]
    if (reading)
      console.log(
        `  ${String(Math.round(reading.seconds)).padStart(5)} s  RSS ${mb(reading.rss).padStart(7)} MB  live ${mb(reading.live).padStart(7)} MB`,
      )
  }
  console.log(
    `  after the warm-up: RSS ${mb(rss.perMinute)} MB a minute, live ${mb(live.perMinute)} MB a minute`,
  )
  const withMargin = (/** @type {typeof rss} */ { perMinute, margin }) =>
    `${mb(perMinute)} ± ${mb(margin)} MB a minute`
  console.log(
    `  in the second half (95 %): RSS ${withMargin(secondHalf.rss)}, live ${withMargin(secondHalf.live)}`,
  )
  for (const problem of problems) console.log(`! ${problem}`)
  return problems.length === 0
}

let isGood = true
for (const store of values.store === undefined ? STORES : [values.store])
  isGood = (await soak(store)) && isGood
console.log(isGood ? '\nMemory is flat.' : '\nMemory grows: see above.')
process.exitCode = isGood ? 0 : 1
