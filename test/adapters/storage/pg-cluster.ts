/** PostgreSQL for tests: databases on the one server of a test run, and servers of a test file that needs its own. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import pg from 'pg'

export interface PgServer {
  /** Connection string of a superuser, or the one in `TEST_PG_URL`. */
  readonly url: string
  readonly host: string
  readonly port: number
  /** The connection string with another host, port, user, password or database. */
  urlOf(changes: {
    host?: string
    port?: number
    user?: string
    password?: string
    database?: string
  }): string
  /** Runs one statement, or several without values, on a new connection. */
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** A schema name that no other test uses. The schema itself does not exist yet. */
  freshSchema(): string
  /** Drops what was created for this test file: its database, its schemas or its server. */
  end(): Promise<void>
}

export interface PrivatePgServer extends PgServer {
  /** Stops the server: `fast` rolls back open transactions, `immediate` is a crash. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
}

/**
 * PostgreSQL for a test file: the server of `TEST_PG_URL`, otherwise a new database on the server of the test run.
 *
 * @returns `undefined` where there is no PostgreSQL; that is reported on stderr, or thrown with `REQUIRE_PG=1`
 */
export async function postgresForTests(): Promise<PgServer | undefined> {
  const url = process.env.TEST_PG_URL
  if (url === undefined || url === '') return localPostgres()
  const schemas: string[] = []
  const server = serverAt(url, async () => {
    for (const schema of schemas) await server.sql(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
  })
  const freshSchema = () => {
    const name = server.freshSchema()
    schemas.push(name)
    return name
  }
  return { ...server, freshSchema }
}

/** What the broker of a test run sends (`test/support/postgres-server.ts`); neither: this machine has no PostgreSQL. */
export interface BrokerAnswer {
  readonly url?: string | undefined
  readonly error?: string | undefined
}

/**
 * A new database on the server of the test run, never on that of `TEST_PG_URL`: for tests that rely on its settings
 * (`RUN_SETTINGS`). Outside a test run, a new server.
 */
export async function localPostgres(): Promise<PgServer | undefined> {
  const port = process.env.TEST_PG_BROKER
  if (port === undefined) return privatePostgres(RUN_SETTINGS)
  const answer = JSON.parse(await text(connect(Number(port), '127.0.0.1'))) as BrokerAnswer
  if (answer.error !== undefined) throw new Error(answer.error)
  if (answer.url === undefined) return undefined
  const cluster = serverAt(answer.url, async () => {})
  const database = `test_${randomBytes(6).toString('hex')}`
  await cluster.sql(`create database ${database}`)
  const end = async () => {
    await connectionsClosed(cluster, database)
    await cluster.sql(`drop database ${database} with (force)`)
  }
  return serverAt(cluster.urlOf({ database }), end)
}

/** A pool reports that it has ended before its sockets are closed, and a killed session is an uncaught error there. */
async function connectionsClosed(cluster: PgServer, database: string): Promise<void> {
  const untilMs = performance.now() + 500
  while (performance.now() < untilMs) {
    const sessions = await cluster.sql('select from pg_stat_activity where datname = $1', [database])
    if (sessions.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Autovacuum would start after a minute and change plans and dead rows in the middle of tests. */
export const RUN_SETTINGS = { max_connections: '600', autovacuum: 'off' } as const

/**
 * A server of one test file, which it may stop, restart and fill with roles; never that of `TEST_PG_URL`.
 *
 * @param settings of the server (`postgresql.conf`)
 * @param hba lines of `pg_hba.conf` before the last one, which lets everybody in without a password
 */
export async function privatePostgres(
  settings: Readonly<Record<string, string>> = {},
  hba: readonly string[] = [],
): Promise<PrivatePgServer | undefined> {
  const bin = await newestBin()
  if (bin === undefined) {
    const sentence = 'no PostgreSQL in /usr/lib/postgresql and no TEST_PG_URL: its tests were SKIPPED'
    if (process.env.REQUIRE_PG === '1') throw new Error(sentence)
    process.stderr.write(`\n*** ${sentence} ***\n`)
    return undefined
  }
  const folder = await mkdtemp(join(tmpdir(), 'hookswitch-pg-'))
  const account = unprivilegedAccount()
  if (account) await chown(folder, account.uid, account.gid)
  const data = join(folder, 'data')
  await createDataFolder(bin, data, { cwd: folder, ...account })

  const hbaFile = join(folder, 'hba.conf')
  await writeFile(hbaFile, [...hba, 'host all all all trust', ''].join('\n'))

  const port = await freePort()
  let server: ChildProcess | undefined
  const removal = removeOnExit(folder)

  const start = async () => {
    server = await startServer(join(bin, 'postgres'), [data, port, { hba_file: hbaFile, ...settings }], {
      cwd: folder,
      ...account,
    })
    removal.alsoKills(server)
  }
  const stop = async (mode: 'fast' | 'immediate') => {
    const running = server
    if (!running) return
    server = undefined
    const exited = new Promise((resolve) => running.once('exit', resolve))
    running.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await exited
  }
  await start()
  const end = async () => {
    await stop('immediate')
    removal.cancel()
    await rm(folder, { recursive: true, force: true })
  }
  return { ...serverAt(`postgres://postgres@127.0.0.1:${port}/postgres`, end), start, stop }
}

function serverAt(url: string, end: () => Promise<void>): PgServer {
  let schemas = 0
  const sql = async (statement: string, values?: unknown[]) => {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    await client.connect()
    try {
      const { rows } = values ? await client.query(statement, values) : await client.query(statement)
      return rows
    } finally {
      await client.end()
    }
  }
  const { hostname, port } = new URL(url)
  return {
    url,
    host: hostname,
    port: Number(port === '' ? 5432 : port),
    urlOf(changes) {
      const other = new URL(url)
      if (changes.host !== undefined) other.hostname = changes.host
      if (changes.port !== undefined) other.port = String(changes.port)
      if (changes.user !== undefined) other.username = changes.user
      if (changes.password !== undefined) other.password = changes.password
      if (changes.database !== undefined) other.pathname = `/${changes.database}`
      return other.href
    },
    sql,
    freshSchema() {
      schemas += 1
      return `hs_${process.pid}_${Date.now().toString(36)}_${schemas}`
    },
    end,
  }
}

interface SpawnAs {
  readonly cwd: string
  readonly uid?: number
  readonly gid?: number
}

/** In a test run `initdb` runs once and every further server gets a copy, which takes a fifth of the time. */
async function createDataFolder(bin: string, data: string, options: SpawnAs): Promise<void> {
  const templates = process.env.PG_DATA_MADE_ONCE
  if (templates === undefined) return initdb(bin, data, options)
  const template = join(templates, 'data')
  if (existsSync(template)) {
    await copyFolder(template, data)
    return
  }
  await initdb(bin, data, options)
  const temporary = join(templates, `data-${process.pid}-${Math.random()}`)
  await copyFolder(data, temporary)
  // Another process may have been first: its template is as good.
  await rename(temporary, template).catch(() => rm(temporary, { recursive: true, force: true }))
}

async function initdb(bin: string, data: string, options: SpawnAs): Promise<void> {
  const flags = ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-sync']
  await promisify(execFile)(join(bin, 'initdb'), flags, options)
}

/** Keeps owner and modes, which the server checks. */
const copyFolder = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to])

/**
 * Kills the server and removes its folder when this process ends before `end` was called, however it ends: a shell
 * waits until its standard input closes.
 */
function removeOnExit(folder: string): { alsoKills(server: ChildProcess): void; cancel(): void } {
  let watcher: ChildProcess | undefined
  const cancel = () => void watcher?.kill('SIGKILL')
  return {
    cancel,
    alsoKills({ pid }) {
      cancel()
      const script = 'read -r _; kill -QUIT "$1"; sleep 1; rm -rf "$2"'
      // Detached: an interrupt from the terminal goes to the whole process group.
      watcher = spawn('sh', ['-c', script, 'sh', String(pid), folder], {
        stdio: ['pipe', 'ignore', 'ignore'],
        detached: true,
      })
      watcher.unref()
    },
  }
}

/** Resolves when the server accepts connections; rejects with its log output when it does not come up. */
async function startServer(
  postgres: string,
  [data, port, settings]: readonly [string, number, Readonly<Record<string, string>>],
  options: SpawnAs,
): Promise<ChildProcess> {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // A crash of the server loses nothing without fsync; only a crash of the machine does.
    fsync: 'off',
    timezone: 'UTC',
    log_min_messages: 'log',
    ...settings,
  }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(postgres, ['-D', data, '-p', String(port), ...flags], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`postgres ended with ${code}: ${output}`)))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      if (output.length < 10_000) output += chunk
      if (output.includes('ready to accept connections')) resolve()
    })
  })
  child.removeAllListeners('exit')
  return child
}

async function newestBin(): Promise<string | undefined> {
  const root = '/usr/lib/postgresql'
  const versions = (await readdir(root).catch(() => [])).map(Number).filter((version) => version >= 13)
  return versions.length === 0 ? undefined : join(root, String(Math.max(...versions)), 'bin')
}

/** PostgreSQL refuses to run as root. */
function unprivilegedAccount(): { readonly uid: number; readonly gid: number } | undefined {
  return userInfo().uid === 0 ? { uid: 65_534, gid: 65_534 } : undefined
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}
