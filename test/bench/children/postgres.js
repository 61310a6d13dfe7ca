/**
 * A PostgreSQL server for one run: on a free port, in a new folder, with default settings except for connections. Every
 * commit is flushed to the disk. Ends with its parent.
 */
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { createFolder, removeFolder } from '../file-system.js'
import { handleRequests } from '../processes.js'
import { cpuMsOf } from './cpu-time.js'
import { findFreePort } from './free-port.js'

const INSTALLED = '/usr/lib/postgresql'

/** The user `nobody`: the server refuses to run as root. */
const NOBODY = 65_534

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  fsync: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
}

/** The extension that counts statements and their time. */
const STATISTICS = 'pg_stat_statements'

function findNewestBin() {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED) : []
  return versions
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(INSTALLED, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres')))
}

let server
let folder

/** Waits for the server's message on standard error. */
function waitUntilReady() {
  let output = ''
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.once('exit', (code) => reject(new Error(`postgres ended with ${code}: ${output}`)))
    server.stderr.setEncoding('utf8').on('data', (text) => {
      if (output.length < 10_000) output += text
      if (output.includes('ready to accept connections')) resolve()
    })
  })
}

/** Stops the server immediately (SIGQUIT): its data is deleted, so it needs no checkpoint. */
async function stop() {
  if (server && server.exitCode === null && server.signalCode === null) {
    const exited = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGQUIT')
    await exited
  }
  if (folder) removeFolder(folder)
  folder = undefined
}

// By default a signal ends a process without its 'exit' event.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))
process.on('exit', () => {
  server?.kill('SIGQUIT')
  if (folder) removeFolder(folder)
})

handleRequests(
  {
    /** Returns the connection string, or `missing`. `countStatements`: loads the extension, if it is installed. */
    async start({ countStatements }) {
      const bin = findNewestBin()
      if (bin === undefined) return { missing: `no PostgreSQL server is installed in ${INSTALLED}` }
      folder = createFolder()
      const data = join(folder, 'data')
      const user = userInfo().uid === 0 ? { uid: NOBODY, gid: NOBODY } : {}
      if (user.uid) chownSync(folder, user.uid, user.gid)
      const options = { cwd: folder, ...user, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }
      execFileSync(
        join(bin, 'initdb'),
        ['-D', data, '-A', 'trust', '-U', 'postgres', '--locale=C', '-E', 'UTF8'],
        options,
      )
      const version = /\d[\d.]*/.exec(execFileSync(join(bin, 'postgres'), ['--version'], options))[0]
      const port = await findFreePort()
      const countsStatements = countStatements && existsSync(join(bin, '../lib', `${STATISTICS}.so`))
      const settings = countsStatements ? { ...SETTINGS, shared_preload_libraries: STATISTICS } : SETTINGS
      const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      server = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...flags], {
        cwd: folder,
        ...user,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      await waitUntilReady()
      return { connectionString: `postgres://postgres@127.0.0.1:${port}/postgres`, version, countsStatements }
    },
    cpuMs: () => cpuMsOf(server.pid),
  },
  stop,
)
