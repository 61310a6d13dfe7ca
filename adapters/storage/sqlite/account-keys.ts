import type { SqliteHandle } from './driver.js'
import { query } from './query.js'
import { recent } from './recent.js'

/** Accounts as integers, whether their rows are ours or the host's: every index holds those. */
export interface AccountKeys {
  /** `undefined`: nothing was ever kept of it. */
  find(accountId: string): number | undefined
  /** Gives it a key when it has none. */
  make(accountId: string): number
  idOf(key: number): string
  forget(): void
}

/** How many are remembered. */
const REMEMBERED = 10_000

export function accountKeys(db: SqliteHandle): AccountKeys {
  const find = query<{ readonly key: number }>(db, 'select key from hookswitch_account_key where id = ?')
  const read = query<{ readonly id: string }>(db, 'select id from hookswitch_account_key where key = ?')
  const insert = db.prepare('insert into hookswitch_account_key (id) values (?)')
  const byId = recent<string, number>(REMEMBERED)
  const byKey = recent<number, string>(REMEMBERED)

  const keys: AccountKeys = {
    find(accountId) {
      const known = byId.get(accountId)
      if (known !== undefined) return known
      const key = find.get(accountId)?.key
      if (key !== undefined) byId.set(accountId, key)
      return key
    },
    make(accountId) {
      const known = keys.find(accountId)
      if (known !== undefined) return known
      const key = Number(insert.run(accountId).lastInsertRowid)
      byId.set(accountId, key)
      return key
    },
    idOf(key) {
      const known = byKey.get(key)
      if (known !== undefined) return known
      const { id } = read.get(key)!
      byKey.set(key, id)
      return id
    },
    forget() {
      byId.clear()
      byKey.clear()
    },
  }
  return keys
}
