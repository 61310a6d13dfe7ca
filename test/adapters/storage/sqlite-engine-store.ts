import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock, InboxEntry, ReadyEndpoint, Store } from 'hookswitch/store'
import { METHODS } from '../../../adapters/storage/sqlite/call.js'
import { loadDriver, type SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { createEngine, type Engine } from '../../../adapters/storage/sqlite/engine.js'
import { migrate } from '../../../adapters/storage/sqlite/migrations.js'
import { HookswitchError } from '../../../src/errors.js'
import type { StoreHarness } from '../../../src/store/conformance/index.js'

/** The one of this Node where it has one, else the installed one. */
const { DatabaseSync } = loadDriver()

/** A file in a folder of its own, with our tables in it. */
export function freshDatabase(): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'hookswitch-engine-'))
  return { path: join(folder, 'data.db'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

export function openDatabase(path: string): SqliteHandle {
  const db = new DatabaseSync(path)
  db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma secure_delete = on')
  db.exec('pragma cache_size = -65536; pragma temp_store = memory; pragma busy_timeout = 5000')
  migrate(db, { path, field: 'path' })
  return db
}

/** The engine over one connection, each call in a transaction of its own. */
export interface EngineStore extends Store {
  readonly db: SqliteHandle
  readonly engine: Engine
  readonly path: string
  /** Runs this in one transaction, which is committed, or rolled back when it throws. */
  together<Result>(calls: (engine: Engine) => Result): Result
  /** In a transaction of another connection. */
  transaction(end: 'commit' | 'rollback', work: (tx: unknown) => Promise<void>): Promise<void>
}

type Wake = readonly ReadyEndpoint[] | undefined

const closed = () =>
  new HookswitchError('StoreUnavailable', 'the store is not open', { retryAfterSeconds: 1 })

export function engineStore(path: string, clock: Pick<Clock, 'now'>, transactions = false): EngineStore {
  const db = openDatabase(path)
  const listeners = new Set<(ready: Wake) => void>()
  let told: Wake[] = []
  let isOpen = true
  let host: SqliteHandle | undefined
  const engine = createEngine(db, (ready) => told.push(ready))

  function wake(ready: Wake): void {
    for (const listener of [...listeners]) {
      try {
        listener(ready)
      } catch {
        // A broken listener hurts nobody.
      }
    }
  }

  function together<Result>(calls: (engine: Engine) => Result): Result {
    db.exec('begin immediate')
    let result: Result | undefined
    let refused: unknown
    try {
      try {
        result = calls(engine)
      } catch (thrown) {
        if (!(thrown instanceof HookswitchError)) throw thrown
        refused = thrown
      }
      db.exec('commit')
    } catch (thrown) {
      told = []
      engine.rolledBack()
      db.exec('rollback')
      throw thrown
    }
    engine.committed()
    const tell = told
    told = []
    tell.forEach(wake)
    if (refused) throw refused
    return result as Result
  }

  const door = (name: keyof typeof METHODS) =>
    Object.fromEntries(
      Object.entries(METHODS[name]).map(([method, effect]) => [
        method,
        async (...args: unknown[]) => {
          if (!isOpen) throw closed()
          const call = () =>
            (engine[name] as unknown as Record<string, (...args: unknown[]) => unknown>)[method]!(...args)
          return effect === 'writes' ? together(call) : call()
        },
      ]),
    )
  const deliveries = door('deliveries')

  return {
    db,
    engine,
    path,
    together,
    supports: { durable: true, sharedBetweenNodes: false, transactions },
    async open() {},
    async close() {
      if (!isOpen) return
      isOpen = false
      host?.close()
      db.close()
    },
    accounts: door('accounts'),
    tokens: door('tokens'),
    webhooks: door('webhooks'),
    deliveries: {
      ...deliveries,
      own: (owner: string, leaseMs: number) => deliveries.own!(owner, leaseMs, clock.now()),
      renew: (owner: string, leaseMs: number) => deliveries.renew!(owner, leaseMs, clock.now()),
      subscribe(listener: (ready: Wake) => void) {
        const call = (ready: Wake) => listener(ready)
        listeners.add(call)
        return () => listeners.delete(call)
      },
    },
    inbox: {
      ...door('inbox'),
      put(tx: unknown, { id, accountId, callId, event, traceparent }: InboxEntry) {
        if (tx === undefined || tx !== host) {
          throw new HookswitchError('InvalidOption', 'tx is no connection of this store', { field: 'tx' })
        }
        host!
          .prepare(
            `insert into hookswitch_inbox (event_id, account_id, call_id, event, traceparent) values (?, ?, ?, ?, ?)`,
          )
          .run(id, accountId, callId ?? null, event, traceparent ?? null)
      },
    },
    async transaction(end: 'commit' | 'rollback', work: (tx: unknown) => Promise<void>) {
      host ??= new DatabaseSync(path)
      host.exec('begin immediate')
      await work(host)
      host.exec(end)
      if (end === 'commit') wake(undefined)
    },
  } as unknown as EngineStore
}

/** How the suite comes by engines, each over a file of its own. */
export function engineHarness(name: string): StoreHarness {
  const files = new Map<string, { readonly remove: () => void; readonly clock: Pick<Clock, 'now'> }>()
  return {
    name,
    supports: { durable: true, sharedBetweenNodes: false, transactions: true },
    async open({ clock }) {
      const { path, remove } = freshDatabase()
      files.set(path, { remove, clock })
      return engineStore(path, clock, true)
    },
    async reopen(store) {
      const { path } = store as EngineStore
      await store.close()
      return engineStore(path, files.get(path)!.clock, true)
    },
    async close(store) {
      await store.close()
      files.get((store as EngineStore).path)!.remove()
    },
    transaction: (store, end, work) => (store as EngineStore).transaction(end, work),
  }
}
