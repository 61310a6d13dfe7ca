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
  type NewDelivery,
  type NewEvent,
  type NodeLease,
  type Settlement,
  type Store,
} from 'hookswitch/store'
import { expect, onTestFinished } from 'vitest'
import { createAccountClient } from '../../../adapters/storage/sqlite/account-client.js'
import { loadDriver, type SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import type { Encoded } from '../../../adapters/storage/sqlite/encoded-values.js'
import { createEngine, type Engine } from '../../../adapters/storage/sqlite/engine.js'
import { toStoreError } from '../../../adapters/storage/sqlite/errors.js'
import { decodeResult, encodeGroup } from '../../../adapters/storage/sqlite/group-encoding.js'
import { createListeners } from '../../../adapters/storage/sqlite/listeners.js'
import { migrateSchema } from '../../../adapters/storage/sqlite/migrations.js'
import { createPortClient, effectOf, type RpcRequest } from '../../../adapters/storage/sqlite/rpc-methods.js'
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
}

/** @param rollsBack executes each transaction twice: the first time it is rolled back, which must leave nothing in memory */
export function engineStore(path: string, clock: Pick<Clock, 'now'>, rollsBack = false): EngineStore {
  const db = openDatabase(path)
  const { subscribe, notify } = createListeners()
  let isOpen = true
  const engine = createEngine(db)

  function runTransaction<Result>(calls: (engine: Engine) => Result, end: 'commit' | 'rollback'): Result {
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
      if (end === 'commit') db.exec('commit')
      else throw new Error('the disk is full')
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
  function inTransaction<Result>(calls: (engine: Engine) => Result): Result {
    if (rollsBack) expect(() => runTransaction(calls, 'rollback')).toThrow('the disk is full')
    return runTransaction(calls, 'commit')
  }

  async function request(rpc: RpcRequest): Promise<unknown> {
    if (!isOpen) {
      throw new HookswitchError('StoreUnavailable', 'the store is not open', { retryAfterSeconds: 1 })
    }
    const { port, method, args } = rpc
    const methods = engine[port] as unknown as Record<string, (...args: readonly unknown[]) => unknown>
    const call = () => methods[method]!(...args)
    return effectOf(rpc) === 'noTransaction' ? call() : inTransaction(call)
  }
  const deliveries = createPortClient('deliveries', request)
  const leaseMethod = (method: 'own' | 'renew') => (owner: string, leaseMs: number) =>
    request({ port: 'deliveries', method, args: [owner, leaseMs, clock.now()] }) as Promise<NodeLease>

  return {
    db,
    engine,
    path,
    inTransaction,
    supports: { durable: true, sharedBetweenNodes: false, transactions: false },
    async open() {},
    async close() {
      if (isOpen) db.close()
      isOpen = false
    },
    accounts: createAccountClient(createPortClient('accounts', request), (thrown) =>
      toStoreError(thrown, path),
    ),
    tokens: createPortClient('tokens', request),
    openLegs: createPortClient('openLegs', request),
    replays: createPortClient('replays', request),
    holds: createPortClient('holds', request),
    stats: createPortClient('stats', request),
    callIndex: createPortClient('callIndex', request),
    encryption: createPortClient('encryption', request),
    webhooks: createPortClient('webhooks', request),
    deliveries: {
      ...deliveries,
      own: leaseMethod('own'),
      renew: leaseMethod('renew'),
      commit: async (group) => {
        const args = [encodeGroup(group)]
        return decodeResult((await request({ port: 'deliveries', method: 'commit', args })) as Encoded, group)
      },
      subscribe,
    },
  }
}

/** Opens an engine until the end of the test. @param path of a file. Default: a new one, which is then removed */
export function openEngine(now: number, path?: string): EngineStore {
  const file = path === undefined ? temporaryDatabase() : undefined
  const store = engineStore(path ?? file!.path, { now: () => now })
  onTestFinished(async () => {
    await store.close()
    file?.remove()
  })
  return store
}

/** Provides engines for the conformance suite, each with its own file, which roll back each transaction once. */
export function engineHarness(name: string): StoreHarness {
  const files = new Map<string, { readonly remove: () => void; readonly clock: Pick<Clock, 'now'> }>()
  return {
    name,
    supports: { durable: true, sharedBetweenNodes: false, transactions: false },
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
    transaction: () => Promise.reject(new Error('the engine has no inbox')),
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
