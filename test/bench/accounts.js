/**
 * ACCOUNTS: whether reads over HTTP cost the same with 100,000 accounts and users as with 1,000, and how long a start with
 * 100,000 accounts and users in the file takes.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createFolder, removeFolder } from './file-system.js'
import { startProcess } from './processes.js'
import { compareRates, interleave, ratesOf, summarize } from './statistics.js'

const MANY = 100_000
const FEW = 1_000
const CONNECTIONS = 32
const REQUESTS = 20_000
/** The most that reads may be slower with many accounts: 10 %. */
const GOAL = 0.9
const GOAL_START_MS = 5_000
/** A module that prints the processor time of the process when it writes its first line. */
const REPORT_CPU = `data:text/javascript,${encodeURIComponent(`
  const { write } = process.stdout
  process.stdout.write = function (...args) {
    const { user, system } = process.cpuUsage()
    process.stderr.write('cpu ' + Math.round((user + system) / 1000) + '\\n')
    process.stdout.write = write
    return write.apply(this, args)
  }
`)}`
const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url))

/** Rate with many accounts as a ratio to that with few, for each kind of read. Both read the same number of accounts. */
async function measureReads({ rounds, stores }) {
  const load = startProcess('http-load')
  const few = startProcess('account-server')
  const many = startProcess('account-server')
  try {
    const listen = async (process, accounts) =>
      process.request('listen', { location: stores.newLocation(), accounts, read: FEW })
    const targets = { few: await listen(few, FEW), many: await listen(many, MANY) }
    const round =
      (process, { port, token, paths }, kind) =>
      async () => {
        const before = await process.request('cpuMs')
        const input = { port, token, paths: paths[kind], connections: CONNECTIONS, count: REQUESTS }
        const { ms } = await load.request('run', input)
        return ratesOf({ ms, cpuMs: (await process.request('cpuMs')) - before }, REQUESTS)
      }
    const rows = []
    for (const [kind, what] of [
      ['account', 'GET of an account'],
      ['user', 'GET of a user'],
      ['webhook', 'GET of a webhook with its health'],
    ]) {
      const sides = { few: round(few, targets.few, kind), many: round(many, targets.many, kind) }
      await sides.few()
      await sides.many()
      const results = await interleave(rounds, sides)
      rows.push({
        row: 'ACCOUNTS',
        measurement: `${what} of ${FEW.toLocaleString('en')}, with ${MANY.toLocaleString('en')} accounts and users`,
        baseline: `the same with ${FEW.toLocaleString('en')}`,
        unit: 'ratio',
        goal: GOAL,
        ...compareRates(results.few, results.many),
      })
    }
    return rows
  } finally {
    await Promise.all([load, few, many].map((process) => process.stop()))
  }
}

/** Milliseconds from the start of the program to its first line of output, and its processor time until then. */
async function measureOneStart(flags, env) {
  const started = performance.now()
  const child = spawn(process.execPath, ['--import', REPORT_CPU, BIN, 'serve', '--port', '0', ...flags], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text
  })
  const ended = once(child, 'exit')
  const ready = await Promise.race([once(child.stdout, 'data'), ended.then(() => undefined)])
  if (ready === undefined) throw new Error(log)
  const ms = performance.now() - started
  child.kill('SIGTERM')
  await ended
  return { ms, cpuMs: Number(/^cpu (\d+)$/m.exec(log)?.[1]) }
}

async function measureStarts({ rounds, stores }) {
  const folder = createFolder()
  try {
    const file = join(folder, 'accounts.json')
    const accounts = Array.from({ length: MANY }, (_, nth) => ({
      id: `account-${nth}`,
      name: `Account ${nth}`,
      realm: `account-${nth}.example.com`,
      ...(nth >= 100 && { parentId: `account-${nth % 100}` }),
      users: [{ username: `user-${nth}`, password: `password ${nth}` }],
    }))
    writeFileSync(file, JSON.stringify(accounts))
    const first = []
    const later = []
    for (let round = 0; round < Math.min(rounds, 3); round += 1) {
      const { kind, ...location } = stores.newLocation()
      const flags = {
        memory: () => ['--memory'],
        sqlite: () => ['--data', location.path],
        postgres: () => ['--postgres', location.connectionString, '--schema', location.schema],
      }[kind]()
      const env = kind === 'sqlite' ? {} : { HOOKSWITCH_SECRET: 'the secret of the benchmark' }
      first.push(await measureOneStart([...flags, '--accounts', file], env))
      if (kind !== 'memory') later.push(await measureOneStart([...flags, '--accounts', file], env))
      if (kind === 'sqlite') rmSync(location.path, { force: true })
    }
    const rowsOf = (which, samples) =>
      ['ms', 'cpuMs'].map((value) => ({
        row: 'ACCOUNTS',
        measurement:
          `${value === 'ms' ? which : `${which}, processor time`} of \`hookswitch serve\` with ` +
          `${MANY.toLocaleString('en')} accounts and users in the file`,
        baseline: '–',
        unit: 'ms',
        ...(value === 'ms' && { goal: GOAL_START_MS }),
        ...summarize(samples.map((sample) => sample[value])),
      }))
    return [
      ...rowsOf('first start', first),
      ...(later.length > 0 ? rowsOf('next start, nothing changed', later) : []),
    ]
  } finally {
    removeFolder(folder)
  }
}

/** @param {import('./measurements.js').Options} options */
export async function measureAccounts(options) {
  return [...(await measureStarts(options)), ...(await measureReads(options))]
}
