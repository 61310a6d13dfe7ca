import type { InboxStore, Log, Ownership, Store } from 'hookswitch/store'
import type { Backend, BackendDoors } from './backend.js'
import { type Call, doorOf } from './call.js'
import { unavailable } from './errors.js'
import { openingOf } from './host-database.js'
import { hostInbox } from './host-inbox.js'
import { rememberingAnswers } from './known-answers.js'
import { newLife } from './life.js'
import { newListeners } from './listeners.js'
import { openLocal } from './local.js'
import type { Opening } from './open.js'
import { checkedOptions, type SqliteStoreOptions } from './options.js'
import { openRemote } from './remote.js'

export type { SqliteHandle, SqliteStatement, SqliteValue } from './driver.js'
export { type SqliteSourceOptions, sqliteSource, undoMove } from './dump.js'
export type { SqliteDatabaseOptions, SqliteFileOptions, SqliteStoreOptions } from './options.js'

/**
 * A store in one SQLite file, of one process at a time. What was accepted survives the process and the power: every
 * transaction is on the disk before its promise resolves.
 *
 * `open` rejects with `InvalidOption` (the place is wrong: field `path` or `database`), `StoreUnavailable` (in use by
 * another process, the disk is full) or `StoreCorrupt` (restore a backup), each in one sentence, and leaves the disk as it
 * was. Afterwards every promise may reject with `StoreUnavailable` or `StoreCorrupt`.
 *
 * @throws HookswitchError `InvalidOption` naming the option
 * @example
 * const hs = createHookswitch({ store: sqliteStore({ path: '/var/lib/app/hookswitch.db' }) })
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  const chosen = checkedOptions(options)
  const { subscribe, wake } = newListeners()
  const life = newLife()
  let storeMs = () => 0

  const ask = (call: Call) => life.backend?.ask(call) ?? Promise.reject(notOpen())
  const leased = (method: 'own' | 'renew') => (owner: string, leaseMs: number) =>
    ask({ door: 'deliveries', method, args: [owner, leaseMs, storeMs()] }) as Promise<Ownership>

  async function begin(log: Log, lost: () => void): Promise<Backend> {
    let known: ReturnType<typeof rememberingAnswers> | undefined
    const doors: BackendDoors = {
      warn: (sentence) => log.warn({}, sentence),
      wake,
      lost(reason) {
        known?.forget()
        log.error({ reason }, 'the thread of the SQLite store is gone: the store has to be opened again')
        lost()
      },
    }
    const opening: Opening =
      chosen.kind === 'database' ? openingOf(chosen.database) : { path: chosen.path, field: 'path' }
    const isLocal = chosen.kind === 'path' && chosen.inThread
    known = rememberingAnswers(isLocal ? openLocal(opening, doors) : await openRemote(opening, doors))
    return known
  }

  const hosts = chosen.kind === 'database' ? hostInbox(chosen.database, () => wake(undefined)) : undefined
  const inbox: InboxStore | undefined = hosts && {
    ...doorOf('inbox', ask),
    put(tx, entry) {
      if (!life.backend) throw notOpen()
      hosts.put(tx, entry)
    },
  }
  return {
    supports: { durable: true, sharedBetweenNodes: false, transactions: inbox !== undefined },
    open({ clock, log }) {
      storeMs = () => clock.now()
      return life.open((lost) => begin(log, lost))
    },
    secret: async () => {
      if (!life.backend) throw notOpen()
      return life.backend.secret()
    },
    close() {
      hosts?.stop()
      return life.close()
    },
    accounts: doorOf('accounts', ask),
    tokens: doorOf('tokens', ask),
    webhooks: doorOf('webhooks', ask),
    deliveries: { ...doorOf('deliveries', ask), own: leased('own'), renew: leased('renew'), subscribe },
    ...(inbox && { inbox }),
  }
}

const notOpen = () => unavailable('the SQLite store is not open')
