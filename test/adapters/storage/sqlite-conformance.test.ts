import { join } from 'node:path'
import { type SqliteStoreOptions, sqliteStore } from 'hookswitch/sqlite'
import { describe, it } from 'vitest'
import { storeConformance } from '../../../src/testkit/conformance/index.js'
import { sqliteHarness } from './sqlite-harness.js'

storeConformance(
  { describe, it },
  sqliteHarness('the SQLite store in the calling thread', false, (folder) => {
    const options: SqliteStoreOptions = { path: join(folder, 'x.db'), inThread: true }
    return { store: () => sqliteStore(options) }
  }),
)
