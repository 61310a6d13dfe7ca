/** Equipment of the SQLite tests: the built package, temporary folders, logs, and host scripts in child processes. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock, Log, Store } from 'hookswitch/store'
import { onTestFinished } from 'vitest'
import type { SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { systemClock } from '../../../src/runtime/clock.js'
import type { StoreHarness } from '../../../src/testkit/conformance/index.js'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** The built package: worker threads of Node 20 cannot run TypeScript. */
export const DIST = join(ROOT, 'dist')

/** `sqliteStore` of the built package. */
export async function builtSqlite(): Promise<typeof import('hookswitch/sqlite')> {
  return import(join(DIST, 'sqlite.js'))
}

/** A file system in memory, if there is one: these tests do not depend on the disk. */
const TEMPORARY_ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** Creates a folder that the caller removes. */
export function createFolder(): string {
  return realpathSync(mkdtempSync(join(TEMPORARY_ROOT, 'hookswitch-')))
}

/** Creates a folder that is removed at the end of the test. */
export function temporaryFolder(): string {
  const folder = createFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Size and hash of every file in a folder, except SQLite's shared memory, which holds no data. */
export function contentsOf(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true, encoding: 'utf8' })
  return Object.fromEntries(
    files
      .filter((entry) => entry.isFile() && !entry.name.endsWith('-shm'))
      .map(({ parentPath, name }) => {
        const bytes = readFileSync(join(parentPath, name))
        return [name, `${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`]
      }),
  )
}

/** A log that records its lines. */
export function recordingLog(): Log & { readonly lines: readonly string[] } {
  const lines: string[] = []
  const note = (level: string) => (fields: object, message: string) => {
    lines.push(`${level} ${message} ${JSON.stringify(fields)}`)
  }
  return { lines, debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') }
}

/** Opens a store that is closed at the end of the test. */
export async function openStore<AStore extends Store>(
  store: AStore,
  log: Log = recordingLog(),
): Promise<AStore> {
  onTestFinished(() => store.close())
  await store.open({ clock: systemClock(), log })
  return store
}

interface PreparedStore {
  readonly store: () => Store
  /** The host's database, if any. */
  readonly database?: SqliteHandle
}

/** Provides stores for the conformance suite, each in its own folder. */
export function sqliteHarness(
  name: string,
  transactions: boolean,
  prepare: (folder: string) => PreparedStore,
): StoreHarness {
  interface OpenedStore extends PreparedStore {
    readonly folder: string
    readonly clock: Clock
  }
  const openedStores = new WeakMap<Store, OpenedStore>()

  async function open(opened: OpenedStore): Promise<Store> {
    const store = opened.store()
    openedStores.set(store, opened)
    await store.open({ clock: opened.clock, log: recordingLog() })
    return store
  }
  return {
    name,
    supports: { durable: true, sharedBetweenNodes: false, transactions },
    open: ({ clock }) => {
      const folder = createFolder()
      return open({ ...prepare(folder), folder, clock })
    },
    async reopen(store) {
      await store.close()
      return open(openedStores.get(store)!)
    },
    async close(store) {
      await store.close()
      const { folder, database } = openedStores.get(store)!
      database?.close()
      rmSync(folder, { recursive: true, force: true })
    },
    async transaction(store, end, work) {
      const { database } = openedStores.get(store)!
      database!.exec('BEGIN IMMEDIATE')
      try {
        await work(database)
      } finally {
        database!.exec(end)
      }
    },
  }
}

/** Returns the error that a promise rejects with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise
  } catch (thrown) {
    return thrown as Error & Record<string, unknown>
  }
  throw new Error('the promise did not reject')
}

/** Prepended to host scripts, which are modules that use the built package. */
const PRELUDE = `
import { sqliteStore } from ${JSON.stringify(join(DIST, 'sqlite.js'))}
const log = { debug() {}, info() {}, warn() {}, error(_, m) { console.log('log:', m) } }
const clock = { now: () => Date.now(), monotonic: () => performance.now() }
const open = async (options) => {
  const store = sqliteStore(options)
  await store.open({ clock, log })
  return store
}
const token = (hash) => ({ hash, accountId: 'a', credentialVersion: 'v', issuedMs: 1, expiresMs: 2 })
const print = (line) => new Promise((resolve) => process.stdout.write(line + '\\n', resolve))
`

/** The environment without the variables of the test runner. */
const { VITEST: _, NODE_OPTIONS: __, NODE_TEST_CONTEXT: ___, ...CLEAN_ENV } = process.env

export interface ScriptResult {
  readonly code: unknown
  readonly stdout: string
  readonly stderr: string
}

/** Runs a script to its end. @param before a command that runs Node, such as `unshare` */
export function runScript(
  script: string,
  before: readonly string[] = [],
  options: object = {},
): Promise<ScriptResult> {
  const [program, ...args] = [...before, process.execPath, '--input-type=module', '-e', PRELUDE + script]
  return new Promise((resolve) => {
    execFile(program!, args, { env: CLEAN_ENV, timeout: 60_000, ...options }, (error, stdout, stderr) =>
      resolve({
        code: error ? (error.code ?? error.signal) : 0,
        stdout: String(stdout),
        stderr: String(stderr),
      }),
    )
  })
}

/** Starts a script; `nextLine` waits for its next line of output. */
export function startScript(script: string): { readonly child: ChildProcess; nextLine(): Promise<string> } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PRELUDE + script], {
    env: CLEAN_ENV,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const lines = child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })
  let rest = ''
  async function line(): Promise<string> {
    for (;;) {
      const end = rest.indexOf('\n')
      if (end !== -1) {
        const statement = rest.slice(0, end)
        rest = rest.slice(end + 1)
        return statement
      }
      const { done, value } = await lines.next()
      if (done) throw new Error('the script printed no further line')
      rest += value
    }
  }
  return { child, nextLine: line }
}
