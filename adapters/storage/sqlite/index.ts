/**
 * The SQLite store, for the process that opens it: options, lifecycle and the calls into the database.
 *
 * Theory of operation
 *
 * - Threads. All SQL runs in one worker thread (`worker-server.ts`), because each commit waits for the disk. The methods
 *   of this store send requests to it (`worker-client.ts`); the engine (`engine.ts`) executes them synchronously on one
 *   connection. With `inThread` the engine runs in the calling thread, and every call is a transaction.
 * - Group commit. Requests that arrive while a transaction is being flushed to the disk form the next group: one
 *   transaction, one fsync (`group-commit.ts`). A call's promise resolves after the commit of its group. A refused call
 *   (HookswitchError) has written nothing; any other error rolls the group back, and its calls are retried one by one.
 * - Ownership. A file has one owning store at a time. An exclusive lock on `PATH-owner` (`process-lock.ts`) enforces this;
 *   the kernel releases it when the process dies. Therefore the engine may keep in memory what it wrote itself (webhooks,
 *   calls, counters); a rollback discards it. Other programs may read the file, and the host may write to its own tables.
 * - The log of a queue. The host's thread encodes each group into one text and one buffer of numbers
 *   (`group-encoding.ts`); the engine decodes it, and `accept.ts`, `settle.ts` and `starts.ts` write its parts. A delivery is
 *   a row of `hookswitch_waiting`, and a row of `hookswitch_attempt` from its end on (`schema.ts`). Fences, versions
 *   and incoming deliveries are in memory.
 * - Crash. The write-ahead log with `synchronous=FULL` keeps exactly the committed groups, and SQLite replays them at the
 *   next open. Starts that the dead owner stored carry its term: the next owner has a higher one, and `load` names them as
 *   interrupted. Numbers of the last block of keys that were not used are skipped. Files beside the database: `-wal`,
 *   `-shm`, `-owner`, `.key`.
 * - Time. Store time begins where the last writer of the file was, even if the clock of the machine has been set back
 *   since (`startTime` in `engine-state.ts`); a running node counts it by its monotonic clock.
 * - Host database. With `database`, the file is the host's. `publish(event, { tx })` inserts an inbox row through the
 *   host's handle (`host-database.ts`); everything else uses a second connection in the worker.
 */
import type { InboxStore, Log, NodeLease, Store } from 'hookswitch/store'
import { createAccountClient } from './account-client.js'
import type { Backend, BackendDeps } from './backend.js'
import type { Encoded } from './encoded-values.js'
import { toStoreError, unavailableError } from './errors.js'
import { decodeResult, encodeGroup } from './group-encoding.js'
import { createHostInbox, locateHostDatabase } from './host-database.js'
import { openInThread } from './in-thread.js'
import { createLifecycle } from './lifecycle.js'
import { createListeners } from './listeners.js'
import type { OpenRequest } from './open.js'
import { checkOptions, type SqliteStoreOptions } from './options.js'
import { withReadCache } from './read-cache.js'
import { createPortClient, type RpcRequest } from './rpc-methods.js'
import { openInWorker } from './worker-client.js'

export type { SqliteHandle, SqliteStatement, SqliteValue } from './driver.js'
export { type SqliteExportOptions, sqliteExportSource, undoMigration } from './export.js'
export type { SqliteDatabaseOptions, SqliteFileOptions, SqliteStoreOptions } from './options.js'
export { type VacuumProgress, vacuumDatabase } from './vacuum.js'

/**
 * Creates a store in one SQLite file, for one process at a time. A promise that resolves means that its transaction is
 * on the disk: accepted events survive a crash of the process and a power failure.
 *
 * Nothing is opened before `open`, which rejects with
 * - `InvalidOption` (field `path` or `database`): the file cannot be used, is another program's, or its contents were
 *   migrated to another store
 * - `StoreUnavailable`: another process uses the file, or the disk is full
 * - `StoreCorrupt`: restore a backup
 *
 * and then leaves the disk unchanged. While the store is open every promise may reject with `StoreUnavailable` (retry
 * later) or `StoreCorrupt`.
 *
 * @param options `{ path, inThread? }` for a file that belongs to the store, `{ database }` for the host's database
 * @throws HookswitchError `InvalidOption` naming the option, also for an unknown one
 * @example
 * const hs = createHookswitch({ store: sqliteStore({ path: '/var/lib/app/hookswitch.db' }) })
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  const checked = checkOptions(options)
  const { subscribe, notify } = createListeners()
  const lifecycle = createLifecycle()
  let machineMs = () => 0
  /** The file of the open database. */
  let path = ''

  const request = (call: RpcRequest) => lifecycle.backend?.request(call) ?? Promise.reject(notOpen())
  const leaseMethod = (method: 'own' | 'renew') => (owner: string, leaseMs: number) =>
    request({ port: 'deliveries', method, args: [owner, leaseMs, machineMs()] }) as Promise<NodeLease>

  async function openBackend(log: Log, onLost: () => void): Promise<Backend> {
    let cached: ReturnType<typeof withReadCache> | undefined
    const deps: BackendDeps = {
      warn: (sentence) => log.warn({}, sentence),
      notify,
      onLost(reason) {
        cached?.invalidate()
        log.error({ reason }, 'the worker thread of the SQLite store has exited: reopen the store')
        onLost()
      },
    }
    const opening: OpenRequest =
      checked.kind === 'database'
        ? locateHostDatabase(checked.database)
        : { path: checked.path, field: 'path' }
    path = opening.path
    const isInThread = checked.kind === 'path' && checked.inThread
    cached = withReadCache(isInThread ? openInThread(opening, deps) : await openInWorker(opening, deps))
    return cached
  }

  const hostInbox = checked.kind === 'database' ? createHostInbox(checked.database, notify) : undefined
  const inbox: InboxStore | undefined = hostInbox && {
    ...createPortClient('inbox', request),
    put(tx, entries) {
      if (!lifecycle.backend) throw notOpen()
      hostInbox.put(tx, entries)
    },
  }
  return {
    supports: { durable: true, sharedBetweenNodes: false, transactions: inbox !== undefined },
    open({ clock, log }) {
      machineMs = () => clock.now()
      return lifecycle.open((onLost) => openBackend(log, onLost))
    },
    secret: async () => {
      if (!lifecycle.backend) throw notOpen()
      return lifecycle.backend.secret()
    },
    async replaceSecret(secret) {
      if (!lifecycle.backend) throw notOpen()
      await lifecycle.backend.replaceSecret(secret)
    },
    close() {
      hostInbox?.stop()
      return lifecycle.close()
    },
    accounts: createAccountClient(createPortClient('accounts', request), (thrown) =>
      toStoreError(thrown, path),
    ),
    tokens: createPortClient('tokens', request),
    openLegs: createPortClient('openLegs', request),
    replays: createPortClient('replays', request),
    encryption: createPortClient('encryption', request),
    holds: createPortClient('holds', request),
    stats: createPortClient('stats', request),
    callIndex: createPortClient('callIndex', request),
    webhooks: createPortClient('webhooks', request),
    deliveries: {
      ...createPortClient('deliveries', request),
      // The host's tables are in the file too.
      ...(checked.kind === 'database' && {
        async historyBytes() {
          if (!lifecycle.backend) throw notOpen()
          return undefined
        },
      }),
      own: leaseMethod('own'),
      renew: leaseMethod('renew'),
      async commit(group) {
        const encoded = encodeGroup(group)
        const { buffer } = encoded.numbers
        const result = await request({
          port: 'deliveries',
          method: 'commit',
          args: [encoded],
          transfer: [buffer],
        })
        return decodeResult(result as Encoded, group)
      },
      async countReplayable({ webhookIds, ...query }) {
        const counts = new Map<string, number>()
        const ids = [...new Set(webhookIds)]
        for (let from = 0; from < ids.length; from += COUNTED_WEBHOOKS) {
          const part = ids.slice(from, from + COUNTED_WEBHOOKS)
          const args = [{ ...query, webhookIds: part }]
          const found = await request({ port: 'deliveries', method: 'countReplayable', args })
          for (const [id, count] of found as ReadonlyMap<string, number>) counts.set(id, count)
        }
        return counts
      },
      subscribe,
    },
    ...(inbox && { inbox }),
  }
}

/** Webhooks whose deliveries are counted at once: other calls are executed in between. */
const COUNTED_WEBHOOKS = 100

const notOpen = () => unavailableError('the SQLite store is not open')
