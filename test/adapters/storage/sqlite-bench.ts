import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock, Log, Store } from 'hookswitch/store'
import { onTestFinished } from 'vitest'
import type { SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { systemClock } from '../../../src/clock.js'
import type { StoreHarness } from '../../../src/store/conformance/index.js'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** The built package: Node 20 runs no TypeScript in a thread. */
export const DIST = join(ROOT, 'dist')

/** `sqliteStore` of the built package. */
export async function builtSqlite(): Promise<typeof import('hookswitch/sqlite')> {
  return import(join(DIST, 'sqlite.js'))
}

/** In memory where there is such a place: what is tested here does not wait for a disk. */
const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** A new folder, which whoever made it removes. */
export function newFolder(): string {
  return realpathSync(mkdtempSync(join(PLACE, 'hookswitch-')))
}

/** A folder of this test's own, gone afterwards. */
export function freshFolder(): string {
  const folder = newFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Every file in a folder with what is in it, but SQLite's shared memory, which says nothing that counts. */
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

/** A log that keeps what it was told. */
export function notedLog(): Log & { readonly said: readonly string[] } {
  const said: string[] = []
  const note = (level: string) => (fields: object, message: string) => {
    said.push(`${level} ${message} ${JSON.stringify(fields)}`)
  }
  return { said, debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') }
}

/** Opens a store, which is closed at the end of the test. */
export async function opened<AStore extends Store>(store: AStore, log: Log = notedLog()): Promise<AStore> {
  onTestFinished(() => store.close())
  await store.open({ clock: systemClock(), log })
  return store
}

interface Prepared {
  readonly store: () => Store
  /** The host's. */
  readonly database?: SqliteHandle
}

/** How the conformance suite comes by stores, each in a folder of its own. */
export function sqliteHarness(
  name: string,
  transactions: boolean,
  prepare: (folder: string) => Prepared,
): StoreHarness {
  interface Made extends Prepared {
    readonly folder: string
    readonly clock: Clock
  }
  const made = new WeakMap<Store, Made>()

  async function open(one: Made): Promise<Store> {
    const store = one.store()
    made.set(store, one)
    await store.open({ clock: one.clock, log: notedLog() })
    return store
  }
  return {
    name,
    supports: { durable: true, sharedBetweenNodes: false, transactions },
    open: ({ clock }) => {
      const folder = newFolder()
      return open({ ...prepare(folder), folder, clock })
    },
    async reopen(store) {
      await store.close()
      return open(made.get(store)!)
    },
    async close(store) {
      await store.close()
      const { folder, database } = made.get(store)!
      database?.close()
      rmSync(folder, { recursive: true, force: true })
    },
    async transaction(store, end, work) {
      const { database } = made.get(store)!
      database!.exec('BEGIN IMMEDIATE')
      try {
        await work(database)
      } finally {
        database!.exec(end)
      }
    },
  }
}

/** The error that this ends with. */
export async function errorOf(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  try {
    await promise
  } catch (thrown) {
    return thrown as Error & Record<string, unknown>
  }
  throw new Error('it did not fail')
}

/** As a host's script, with the built package: `code` is a module; `open` and `log` are there. */
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
const tell = (one) => new Promise((resolve) => process.stdout.write(one + '\\n', resolve))
`

/** What surrounds the tests says nothing to their children. */
const { VITEST: _, NODE_OPTIONS: __, NODE_TEST_CONTEXT: ___, ...CLEAN } = process.env

export interface Ran {
  readonly code: unknown
  readonly stdout: string
  readonly stderr: string
}

/** Runs a script to its end. */
export function ran(code: string, before: readonly string[] = [], options: object = {}): Promise<Ran> {
  const [program, ...args] = [...before, process.execPath, '--input-type=module', '-e', PRELUDE + code]
  return new Promise((resolve) => {
    execFile(program!, args, { env: CLEAN, timeout: 60_000, ...options }, (error, stdout, stderr) =>
      resolve({
        code: error ? (error.code ?? error.signal) : 0,
        stdout: String(stdout),
        stderr: String(stderr),
      }),
    )
  })
}

/** Starts a script; `line` waits for the next line it says. */
export function started(code: string): { readonly child: ChildProcess; line(): Promise<string> } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PRELUDE + code], {
    env: CLEAN,
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
        const one = rest.slice(0, end)
        rest = rest.slice(end + 1)
        return one
      }
      const { done, value } = await lines.next()
      if (done) throw new Error('it said no more')
      rest += value
    }
  }
  return { child, line }
}
