import { DatabaseSync } from '@photostructure/sqlite'
import type { SqliteHandle } from 'hookswitch/sqlite'
import { builtSqlite } from '../adapters/storage/sqlite-bench.js'
import { goldenFiles } from './golden-files.js'
import { inFolder } from './store-maker.js'

const { sqliteStore } = await builtSqlite()

goldenFiles({
  name: "SQLite, on the host's handle",
  make: inFolder((path) => {
    const database = new DatabaseSync(path)
    return { store: sqliteStore({ database: database as SqliteHandle }), end: () => database.close() }
  }),
})
