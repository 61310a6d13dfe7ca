/** The SQLite engine as a store, without a worker: each call is a transaction on one connection. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Acceptance,
  type AttemptRecord,
  type Clock,
  createPositions,
  type Delivery,
  type Group,
  type InboxEntry,
  type NewDelivery,
  type NewEvent,
  type Settlement,
  type Store,
} from 'hookswitch/store'
import { createAccountClient } from '../../../adapters/storage/sqlite/account-client.js'
import { loadDriver, type SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import type { Encoded } from '../../../adapters/storage/sqlite/encoded-values.js'
import { createEngine, type Engine } from '../../../adapters/storage/sqlite/engine.js'
import { toStoreError } from '../../../adapters/storage/sqlite/errors.js'
import { decodeResult, encodeGroup } from '../../../adapters/storage/sqlite/group-encoding.js'
import { migrateSchema } from '../../../adapters/storage/sqlite/migrations.js'
import { METHODS, type RpcAccounts } from '../../../adapters/storage/sqlite/rpc-methods.js'
import { HookswitchError } from '../../../src/errors.js'
import type { StoreHarness } from '../../../src/testkit/conformance/index.js'
import { newRecord } from '../../../src/testkit/conformance/sample-data.js'

const { DatabaseSync } = loadDriver()

/** Names a database file in a new temporary folder. */
export function temporaryDatabase(): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'hookswitch-engine-'))
  return { path: join(folder, 'data.db'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

export function openDatabase(path: string): SqliteHandle {
  const db = new DatabaseSync(path)
  db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma secure_delete = on')
  db.exec('pragma cache_size = -65536; pragma temp_store = memory; pragma busy_timeout = 5000')
  migrateSchema(db, { path, field: 'path' })
  return db
}

export interface EngineStore extends Store {
  readonly db: SqliteHandle
  readonly engine: Engine
  readonly path: string
  /** Runs calls in one transaction, which is rolled back if they throw anything but a HookswitchError. */
  inTransaction<Result>(calls: (engine: Engine) => Result): Result
  /** Runs `work` in a transaction of another connection. */
  inHostTransaction(end: 'commit' | 'rollback', work: (tx: unknown) => Promise<void>): Promise<void>
}

const closed = () =>
  new HookswitchError('StoreUnavailable', 'the store is not open', { retryAfterSeconds: 1 })

export function engineStore(path: string, clock: Pick<Clock, 'now'>, transactions = false): EngineStore {
  const db = openDatabase(path)
  const listeners = new Set<() => void>()
  let isOpen = true
  let host: SqliteHandle | undefined
  const engine = createEngine(db)

  function notify(): void {
    for (const listener of [...listeners]) {
      try {
        listener()
      } catch {
        // A listener that throws does not affect the others.
      }
    }
  }

  function inTransaction<Result>(calls: (engine: Engine) => Result): Result {
    db.exec('begin immediate')
    let result: Result | undefined
    let refusal: unknown
    try {
      try {
        result = calls(engine)
      } catch (thrown) {
        if (!(thrown instanceof HookswitchError)) throw thrown
        refusal = thrown
      }
      db.exec('commit')
    } catch (thrown) {
      engine.rolledBack()
      db.exec('rollback')
      throw thrown
    }
    engine.committed()
    if (engine.takeNotice()) notify()
    if (refusal) throw refusal
    return result as Result
  }

  const createPort = (name: keyof typeof METHODS) =>
    Object.fromEntries(
      Object.entries(METHODS[name]).map(([method, effect]) => [
        method,
        async (...args: unknown[]) => {
          if (!isOpen) throw closed()
          const call = () =>
            (engine[name] as unknown as Record<string, (...args: unknown[]) => unknown>)[method]!(...args)
          return effect === 'noTransaction' ? call() : inTransaction(call)
        },
      ]),
    )
  const deliveries = createPort('deliveries')

  return {
    db,
    engine,
    path,
    inTransaction,
    supports: { durable: true, sharedBetweenNodes: false, transactions },
    async open() {},
    async close() {
      if (!isOpen) return
      isOpen = false
      host?.close()
      db.close()
    },
    accounts: createAccountClient(createPort('accounts') as unknown as RpcAccounts, (thrown) =>
      toStoreError(thrown, path),
    ),
    tokens: createPort('tokens'),
    openLegs: createPort('openLegs'),
    replays: createPort('replays'),
    stats: createPort('stats'),
    encryption: createPort('encryption'),
    webhooks: createPort('webhooks'),
    deliveries: {
      ...deliveries,
      own: (owner: string, leaseMs: number) => deliveries.own!(owner, leaseMs, clock.now()),
      renew: (owner: string, leaseMs: number) => deliveries.renew!(owner, leaseMs, clock.now()),
      commit: async (group: Group) =>
        decodeResult((await deliveries.commit!(encodeGroup(group))) as Encoded, group),
      subscribe(listener: () => void) {
        const call = () => listener()
        listeners.add(call)
        return () => listeners.delete(call)
      },
    },
    inbox: {
      ...createPort('inbox'),
      put(tx: unknown, { id, accountId, callId, event, traceparent }: InboxEntry) {
        if (tx === undefined || tx !== host) {
          throw new HookswitchError('InvalidOption', 'tx is not a connection of this store', { field: 'tx' })
        }
        host!
          .prepare(
            `insert into hookswitch_inbox (event_id, account_id, call_id, event, traceparent) values (?, ?, ?, ?, ?)`,
          )
          .run(id, accountId, callId ?? null, event, traceparent ?? null)
      },
    },
    async inHostTransaction(end: 'commit' | 'rollback', work: (tx: unknown) => Promise<void>) {
      host ??= new DatabaseSync(path)
      host.exec('begin immediate')
      await work(host)
      host.exec(end)
      if (end === 'commit') notify()
    },
  } as unknown as EngineStore
}

/** Provides engines for the conformance suite, each with its own file. */
export function engineHarness(name: string): StoreHarness {
  const files = new Map<string, { readonly remove: () => void; readonly clock: Pick<Clock, 'now'> }>()
  return {
    name,
    supports: { durable: true, sharedBetweenNodes: false, transactions: true },
    async open({ clock }) {
      const { path, remove } = temporaryDatabase()
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
    transaction: (store, end, work) => (store as EngineStore).inHostTransaction(end, work),
  }
}

const positions = createPositions(0)

/** Gives positions to the events and deliveries of an acceptance. */
export function placed(events: NewEvent[], deliveries: NewDelivery[] = []): Acceptance {
  for (const event of events) event.position = positions.next(0)
  for (const delivery of deliveries) {
    const event = delivery.replayOf === undefined && events.find(({ id }) => id === delivery.eventId)
    delivery.position = event ? event.position! : positions.next(0)
  }
  return { events, deliveries }
}

/** Commits a group as the node `node`. */
export function commitGroup({ deliveries }: Engine, parts: Partial<Group>, now: number) {
  const lease = deliveries.own('node', 1, now)
  const version = deliveries.changes(lease, 0)!.version
  const empty = { accepted: [], ended: [], finished: [], pending: 0, isRepeat: false }
  const group: Group = { lease, version, now, ...empty, ...parts }
  const result = decodeResult(deliveries.commit(encodeGroup(group)), group)
  if (result.kind !== 'committed') throw new Error(result.kind)
  return result
}

/** The settlement of the next attempt of a delivery that was accepted with `attempts` attempts before. */
export function settlementOf(
  delivery: NewDelivery,
  attempts: number,
  state: 'waiting' | 'delivered' | 'exhausted',
  record: Partial<AttemptRecord> = {},
): Settlement {
  const stored = { ...delivery, attempts } as Delivery
  return {
    deliveryId: delivery.id,
    webhookId: delivery.webhookId,
    position: delivery.position!,
    expect: { attempts },
    next: {
      state,
      attempts: attempts + 1,
      tries: attempts + 1,
      interruptions: 0,
      ...(state === 'waiting' && { dueMs: 1 }),
    },
    record: newRecord(stored, { result: state === 'delivered' ? 'success' : 'failure', ...record }),
  }
}
