import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { chown, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'

/**
 * A PostgreSQL server for tests: the one that `TEST_PG_URL` names, else one of this test file's own, made in a temp
 * folder in a second and gone at the end. Without both the tests are skipped, loudly; `REQUIRE_PG=1` fails instead.
 */
export interface PgServer {
  /** A superuser's, or what `TEST_PG_URL` says. */
  readonly url: string
  /** Host and port, user and password, database of another connection. */
  urlOf(changes: {
    host?: string
    port?: number
    user?: string
    password?: string
    database?: string
  }): string
  /** One statement, or several, on a connection of its own. */
  sql(text: string, values?: unknown[]): Promise<Record<string, unknown>[]>
  /** A name that no other test uses; the schema itself is made by whoever needs it. */
  freshSchema(): string
  /** Drops the schemas that were named, or stops the server. */
  end(): Promise<void>
}

export interface PrivatePgServer extends PgServer {
  readonly port: number
  /** Ends the server: `fast` rolls back what is open, `immediate` is a crash. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
}

/** For a test file: `undefined` where there is no PostgreSQL, which has been said then. */
export async function postgresForTests(): Promise<PgServer | undefined> {
  const url = process.env.TEST_PG_URL
  return url === undefined || url === '' ? privatePostgres() : serverAt(url, async () => {})
}

/**
 * One that may be stopped, started and filled with roles: never that of `TEST_PG_URL`.
 *
 * @param settings of the server (`postgresql.conf`)
 * @param hba lines of `pg_hba.conf` before the last one, which trusts everybody
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
  const who = unprivileged()
  if (who) await chown(folder, who.uid, who.gid)
  const data = join(folder, 'data')
  await makeData(bin, data, { cwd: folder, ...who })

  const hbaFile = join(folder, 'hba.conf')
  await writeFile(hbaFile, [...hba, 'host all all all trust', ''].join('\n'))

  const port = await freePort()
  let server: ChildProcess | undefined
  // Of a test file that ends before its time nothing is left either.
  const kill = () => {
    server?.kill('SIGQUIT')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', kill)

  const start = async () => {
    server = await started(join(bin, 'postgres'), [data, port, { hba_file: hbaFile, ...settings }], {
      cwd: folder,
      ...who,
    })
  }
  const stop = async (mode: 'fast' | 'immediate') => {
    const running = server
    if (!running) return
    server = undefined
    const gone = new Promise((resolve) => running.once('exit', resolve))
    running.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await gone
  }
  await start()
  const end = async () => {
    await stop('immediate')
    process.removeListener('exit', kill)
    await rm(folder, { recursive: true, force: true })
  }
  return { ...serverAt(`postgres://postgres@127.0.0.1:${port}/postgres`, end), port, start, stop }
}

function serverAt(url: string, end: () => Promise<void>): PgServer {
  const schemas: string[] = []
  const sql = async (text: string, values?: unknown[]) => {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    await client.connect()
    try {
      const { rows } = values ? await client.query(text, values) : await client.query(text)
      return rows
    } finally {
      await client.end()
    }
  }
  return {
    url,
    urlOf({ host, port, user, password, database }) {
      const other = new URL(url)
      if (host !== undefined) other.hostname = host
      if (port !== undefined) other.port = String(port)
      if (user !== undefined) other.username = user
      if (password !== undefined) other.password = password
      if (database !== undefined) other.pathname = `/${database}`
      return other.href
    },
    sql,
    freshSchema() {
      const name = `hs_${process.pid}_${Date.now().toString(36)}_${schemas.length}`
      schemas.push(name)
      return name
    },
    async end() {
      if (process.env.TEST_PG_URL === url) {
        for (const schema of schemas) await sql(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
      }
      await end()
    },
  }
}

interface AsWhom {
  readonly cwd: string
  readonly uid?: number
  readonly gid?: number
}

/** In a run of tests the folder of a new server is made once and copied, which takes a fifth of the time. */
async function makeData(bin: string, data: string, options: AsWhom): Promise<void> {
  const once = process.env.PG_DATA_MADE_ONCE
  if (once === undefined) return initdb(bin, data, options)
  const made = join(once, 'data')
  if (!existsSync(made)) {
    await initdb(bin, data, options)
    const aside = join(once, `data-${process.pid}-${Math.random()}`)
    await copied(data, aside)
    // Another one may have been first: theirs is as good.
    await rename(aside, made).catch(() => rm(aside, { recursive: true, force: true }))
    return
  }
  await copied(made, data)
}

async function initdb(bin: string, data: string, options: AsWhom): Promise<void> {
  const flags = ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-sync']
  await promisify(execFile)(join(bin, 'initdb'), flags, options)
}

/** With its owner and modes, which the server insists on. */
const copied = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to])

/** Up when it says so; its output is the reason where it does not come up. */
async function started(
  postgres: string,
  [data, port, settings]: readonly [string, number, Readonly<Record<string, string>>],
  options: AsWhom,
): Promise<ChildProcess> {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // A crash of the server loses nothing without it; only one of the machine does.
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
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`postgres ended with ${code}: ${said}`)))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < 10_000) said += text
      if (said.includes('ready to accept connections')) resolve()
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
function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  return userInfo().uid === 0 ? { uid: 65_534, gid: 65_534 } : undefined
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}
