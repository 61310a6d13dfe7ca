/**
 * A PostgreSQL of this run's own: on a free port, in a folder of its own, as installed but for its connections. Every
 * commit is flushed to the disk. Ends with its parent.
 */
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { makeFolder, removeFolder } from '../file-system.js'
import { answerParent } from '../processes.js'
import { freePort } from './free-port.js'
import { processorMs } from './processor-time.js'

const INSTALLED = '/usr/lib/postgresql'

/** Whoever this is: the server refuses to run as root. */
const NOBODY = 65_534

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  fsync: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
}

/** Counts every statement, and its time. */
const COUNTER = 'pg_stat_statements'

function newestBin() {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED) : []
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(INSTALLED, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')))
}

let server
let folder

/** It says so on its standard error. */
function ready() {
  let said = ''
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`postgres ended with ${code}: ${said}`)))
    server.stderr.setEncoding('utf8').on('data', (text) => {
      if (said.length < 10_000) said += text
      if (said.includes('ready to accept connections')) resolve()
    })
  })
}

/** Nothing of it is wanted any more: it need not write what is in its memory. */
async function stop() {
  if (server && server.exitCode === null && server.signalCode === null) {
    const gone = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGQUIT')
    await gone
  }
  if (folder) removeFolder(folder)
  folder = undefined
}

// A signal of its own would end this process without its 'exit'.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))
process.on('exit', () => {
  server?.kill('SIGQUIT')
  if (folder) removeFolder(folder)
})

answerParent(
  {
    /** How to connect, or what is missing. `counted`: with the extension that counts statements, where it is there. */
    async start({ counted }) {
      const bin = newestBin()
      if (bin === undefined) return { missing: `no PostgreSQL server is installed in ${INSTALLED}` }
      folder = makeFolder()
      const data = join(folder, 'data')
      const who = userInfo().uid === 0 ? { uid: NOBODY, gid: NOBODY } : {}
      if (who.uid) chownSync(folder, who.uid, who.gid)
      const options = { cwd: folder, ...who, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }
      execFileSync(
        join(bin, 'initdb'),
        ['-D', data, '-A', 'trust', '-U', 'postgres', '--locale=C', '-E', 'UTF8'],
        options,
      )
      const version = /\d[\d.]*/.exec(execFileSync(join(bin, 'postgres'), ['--version'], options))[0]
      const port = await freePort()
      const counts = counted && existsSync(join(bin, '../lib', `${COUNTER}.so`))
      const settings = counts ? { ...SETTINGS, shared_preload_libraries: COUNTER } : SETTINGS
      const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      server = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...flags], {
        cwd: folder,
        ...who,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      await ready()
      return { connectionString: `postgres://postgres@127.0.0.1:${port}/postgres`, version, counts }
    },
    cpuMs: () => processorMs(server.pid),
  },
  stop,
)
