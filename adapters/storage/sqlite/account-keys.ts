/** Maps account ids to integer keys. */
import { LRUCache } from 'lru-cache'
import type { Statements } from './query.js'

/** Integer keys of accounts, used in every index. The accounts themselves are in our tables or the host's. */
export interface AccountKeys {
  /** `undefined`: nothing was ever stored for this account. */
  find(accountId: string): number | undefined

  findOrCreate(accountId: string): number
  idOf(key: number): string
  invalidate(): void
}

const MAX_CACHED = 20_000

/** A copy that does not keep a long text alive of which it is a part, as the strings of a decoded group do. */
export function detached(text: string): string {
  return Buffer.from(text).toString()
}

export function createAccountKeys({ prepareQuery, prepareInsert }: Statements): AccountKeys {
  const find = prepareQuery<{ readonly key: number }>('select key from hookswitch_account_key where id = ?')
  const read = prepareQuery<{ readonly id: string }>('select id from hookswitch_account_key where key = ?')
  const insert = prepareInsert('insert into hookswitch_account_key (id) values (?)')
  // Bounded by size: `max` would allocate the memory of all entries at once.
  const limit = { maxSize: MAX_CACHED, sizeCalculation: () => 1 }
  const byId = new LRUCache<string, number>(limit)
  const byKey = new LRUCache<number, string>(limit)

  const accountKeys: AccountKeys = {
    find(accountId) {
      const cached = byId.get(accountId)
      if (cached !== undefined) return cached
      const key = find.get(accountId)?.key
      if (key !== undefined) byId.set(detached(accountId), key)
      return key
    },
    findOrCreate(accountId) {
      const cached = accountKeys.find(accountId)
      if (cached !== undefined) return cached
      const key = insert(accountId)
      byId.set(detached(accountId), key)
      return key
    },
    idOf(key) {
      const cached = byKey.get(key)
      if (cached !== undefined) return cached
      const { id } = read.get(key)!
      byKey.set(key, id)
      return id
    },
    invalidate() {
      byId.clear()
      byKey.clear()
    },
  }
  return accountKeys
}
