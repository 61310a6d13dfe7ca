import type { SqliteDriver, SqliteHandle, SqliteStatement, SqliteValue } from './driver.js'

type Constructor = SqliteDriver['DatabaseSync']

/**
 * A `DatabaseSync` that binds `?1`, `?2`, … as every SQLite does. Node's up to 22.18 and 24.5 takes them for names, to
 * which nothing is bound (https://github.com/nodejs/node/pull/59350): there each becomes a `?` of its own.
 */
export function bindingNumbers(DatabaseSync: Constructor): Constructor {
  if (bindsNumbers(DatabaseSync)) return DatabaseSync
  return class extends DatabaseSync {
    override prepare(sql: string): SqliteStatement {
      const order = [...sql.matchAll(/\?(\d+)/g)].map(([, number]) => Number(number) - 1)
      if (order.length === 0) return super.prepare(sql)
      return reordered(super.prepare(sql.replace(/\?\d+/g, '?')), order)
    }
  }
}

function reordered(statement: SqliteStatement, order: readonly number[]): SqliteStatement {
  const inOrder = (given: readonly SqliteValue[]) => order.map((place) => given[place]!)
  return {
    run: (...given) => statement.run(...inOrder(given)),
    get: (...given) => statement.get(...inOrder(given)),
    all: (...given) => statement.all(...inOrder(given)),
    iterate: (...given) => statement.iterate(...inOrder(given)),
  }
}

function bindsNumbers(DatabaseSync: Constructor): boolean {
  const db: SqliteHandle = new DatabaseSync(':memory:')
  try {
    db.prepare('SELECT ?1').get(1)
    return true
  } catch {
    return false
  } finally {
    db.close()
  }
}
