/** The stores that every golden file runs on in `npm test`; each file gets an empty store. */
import { memoryStore } from 'hookswitch'
import { sqliteStore } from 'hookswitch/sqlite'
import { inTemporaryFolder, type StoreFactory } from './store-factory.js'

export const STORES: readonly StoreFactory[] = [
  { name: 'memory', create: async () => ({ store: memoryStore(), dispose: async () => {} }) },
  { name: 'SQLite', create: inTemporaryFolder((path) => ({ store: sqliteStore({ path, inThread: true }) })) },
]
