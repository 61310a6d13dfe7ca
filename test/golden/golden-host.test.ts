import { DatabaseSync } from '@photostructure/sqlite'
import type { SqliteHandle } from 'hookswitch/sqlite'
import { builtSqlite } from '../adapters/storage/sqlite-harness.js'
import { shareWorkers } from '../adapters/storage/sqlite-shared-worker.js'
import { goldenFiles } from './golden-files.js'
import { inTemporaryFolder } from './store-factory.js'

const { sqliteStore } = await builtSqlite()
shareWorkers()

goldenFiles({
  name: "SQLite, on the host's handle",
  create: inTemporaryFolder((path) => {
    const database = new DatabaseSync(path)
    return { store: sqliteStore({ database: database as SqliteHandle }), end: () => database.close() }
  }),
})
