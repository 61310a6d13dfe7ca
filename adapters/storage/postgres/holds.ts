/** Stores which accounts are held. */
import type { HoldStore } from 'hookswitch/store'
import type { Deps } from './session-deps.js'
import { holdStatements } from './sql/holds.js'

export function postgresHolds({ session, schema }: Pick<Deps, 'session' | 'schema'>): HoldStore {
  const sql = holdStatements(schema)
  return {
    async list() {
      const rows = await session.query<{ readonly scope: string }>(sql.list, [])
      return rows.map(({ scope }) => scope)
    },
    async put(scope) {
      return (await session.query(sql.put, [scope])).length > 0
    },
    async remove(scope) {
      return (await session.query(sql.remove, [scope])).length > 0
    },
  }
}
