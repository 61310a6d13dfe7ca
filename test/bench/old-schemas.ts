/** Tables of version 0.1, for `old-store.js`. */
import { loadDriver, type SqliteHandle } from '../../adapters/storage/sqlite/driver.js'

export { privatePostgres } from '../adapters/storage/pg-cluster.js'
export { createSchemaAt } from '../adapters/storage/postgres-schema-version.js'
export { createOldFile } from '../adapters/storage/sqlite-old-schema.js'

export function openFile(path: string): SqliteHandle {
  return new (loadDriver().DatabaseSync)(path)
}
