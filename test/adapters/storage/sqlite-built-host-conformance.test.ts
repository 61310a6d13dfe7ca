import { join } from 'node:path'
import { describe, it } from 'vitest'
import { loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { storeConformance } from '../../../src/testkit/conformance/index.js'
import { builtSqlite, sqliteHarness } from './sqlite-harness.js'
import { shareWorkers } from './sqlite-shared-worker.js'

const { sqliteStore } = await builtSqlite()
shareWorkers()
const { DatabaseSync } = loadDriver()

storeConformance(
  { describe, it },
  sqliteHarness("the SQLite store in the host's database", true, (folder) => {
    const database = new DatabaseSync(join(folder, 'host.db'))
    database.exec('CREATE TABLE ticket (id TEXT)')
    return { store: () => sqliteStore({ database }), database }
  }),
)
