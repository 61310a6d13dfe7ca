import { join } from 'node:path'
import { describe, it } from 'vitest'
import { storeConformance } from '../../../src/testkit/conformance/index.js'
import { builtSqlite, sqliteHarness } from './sqlite-harness.js'
import { shareWorkers } from './sqlite-shared-worker.js'

const { sqliteStore } = await builtSqlite()
shareWorkers()

storeConformance(
  { describe, it },
  sqliteHarness('the SQLite store in a worker thread', false, (folder) => ({
    store: () => sqliteStore({ path: join(folder, 'x.db') }),
  })),
)
