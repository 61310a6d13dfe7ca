// @ts-check
/**
 * Fuzzes the HTTP API through every adapter:
 * `npm run fuzz -- [--requests 200000] [--seed S] [--epoch N] [--fault-injector NAME]`.
 *
 * `--requests` counts sent requests: each generated request goes to every server. A violation is printed with a command
 * that repeats its request alone, and with its epoch; `--epoch` repeats that epoch with all its requests.
 * `--fault-injector` adds a fault to one server, which the run must find; an unknown name prints the known ones.
 */
import { exitWithMessage, parseWholeNumber, readRunFlags } from '../support/run-flags.js'
import { compileServers } from './compile-servers.js'
import { runEpoch, STEPS } from './epoch.js'
import { FAULT_INJECTORS } from './fault-injectors.js'
import { OPERATION_INPUTS } from './operations.js'

const FAULTY_SERVER = 'fastify'
const MAX_VIOLATIONS = 20
/** Requests after which every operation must have succeeded at least once. */
const MIN_REQUESTS_FOR_COVERAGE = 20_000

const values = readRunFlags({
  requests: { type: 'string', default: '200000' },
  seed: { type: 'string', default: String(Date.now()) },
  epoch: { type: 'string' },
  'fault-injector': { type: 'string' },
})
const { seed } = values
const requests = parseWholeNumber('requests', values.requests)
const firstEpoch = parseWholeNumber('epoch', values.epoch ?? '0', 0)
const faultName = values['fault-injector']
const inject = faultName === undefined ? undefined : FAULT_INJECTORS[faultName]

if (faultName !== undefined && !inject)
  exitWithMessage(`--fault-injector takes one of: ${Object.keys(FAULT_INJECTORS).join(', ')}`)

process.on('unhandledRejection', (reason) =>
  exitWithMessage(`Unhandled rejection: ${reason instanceof Error ? reason.stack : reason}`),
)

const {
  servers: { SERVERS, startStandaloneServer },
  raw,
} = await compileServers()
const { express4AfterJson: _, ...fuzzed } = SERVERS
const servers = { ...fuzzed, server: startStandaloneServer }

const startMs = performance.now()
/** @type {Map<string, number>} */
const totals = new Map()
/** @type {import('./epoch.js').Violation[]} */
const violations = []
const serverCount = Object.keys(servers).length
let remaining = values.epoch === undefined ? Math.ceil(requests / serverCount) : STEPS
for (let epoch = firstEpoch; remaining > 0 && violations.length < MAX_VIOLATIONS; epoch += 1) {
  const steps = Math.min(STEPS, remaining)
  remaining -= steps
  const fault = inject && { server: FAULTY_SERVER, inject }
  const result = await runEpoch({ seed, epoch, steps, servers, raw, ...(fault && { fault }) })
  for (const [name, value] of result.counts) totals.set(name, (totals.get(name) ?? 0) + value)
  violations.push(...result.violations)
}

/** A job has ended before the next request, and its state is final then. */
const NEVER_SUCCEED = ['setReplay', 'setAnyReplay', 'setJob']
const uncovered = Object.keys(OPERATION_INPUTS).filter(
  (name) => !totals.has(`succeeded: ${name}`) && !NEVER_SUCCEED.includes(name),
)
if (requests >= MIN_REQUESTS_FOR_COVERAGE && violations.length === 0 && uncovered.length > 0)
  violations.push({ message: `never succeeded: ${uncovered.join(', ')}`, epoch: firstEpoch, replay: 'none' })
for (const { message, epoch, replay } of violations.slice(0, MAX_VIOLATIONS))
  console.log(
    `! ${message.slice(0, 3_000)}\n  --seed ${seed} --epoch ${epoch}, or alone: ${replay.slice(0, 3_000)}\n`,
  )

/** @type {(readonly [string, string | number])[]} */
const rows = [
  ['seed', seed],
  ['servers', Object.keys(servers).join(' ')],
  ...[...totals].filter(([name]) => !name.startsWith('succeeded')).sort(([a], [b]) => (a < b ? -1 : 1)),
  ['operations that succeeded', Object.keys(OPERATION_INPUTS).length - uncovered.length],
  ['seconds', Math.round((performance.now() - startMs) / 1000)],
]
for (const [name, value] of rows) console.log(`${name.padEnd(32)}${value.toLocaleString('en')}`)
console.log(
  violations.length === 0
    ? '\nEvery request got a response without violations, and all servers agree.'
    : `\n${violations.length} violations: see above.`,
)
// `exitCode` is not enough: a request with a truncated body keeps the process alive until its timeout.
process.exit(violations.length === 0 ? 0 : 1)
