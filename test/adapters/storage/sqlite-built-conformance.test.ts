import { join } from 'node:path'
import { describe, it } from 'vitest'
import { storeConformance } from '../../../src/store/conformance/index.js'
import { builtSqlite, sqliteHarness } from './sqlite-bench.js'

const { sqliteStore } = await builtSqlite()

storeConformance(
  { describe, it },
  sqliteHarness('the SQLite store in a thread of its own', false, (folder) => ({
    store: () => sqliteStore({ path: join(folder, 'x.db') }),
  })),
)
