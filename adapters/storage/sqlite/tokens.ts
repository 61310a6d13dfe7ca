import type { TokenRow, TokenStore } from 'hookswitch/store'
import type { SqliteHandle } from './driver.js'
import { change, type DocRow, query } from './query.js'
import type { Synchronous } from './synchronous.js'

/** Tokens by hash, by account, and by when they expire. */
export function tokenDoor(db: SqliteHandle): Synchronous<TokenStore> {
  const issue = change(
    db,
    `insert or replace into hookswitch_token (hash, account_id, user_id, expires_ms, doc) values (?, ?, ?, ?, ?)`,
  )
  const read = query<DocRow>(db, 'select doc from hookswitch_token where hash = ?')
  const revoke = change(db, 'delete from hookswitch_token where hash = ?')
  const revokeAll = change(db, 'delete from hookswitch_token where account_id = ?')
  const revokeOf = change(db, 'delete from hookswitch_token where account_id = ? and user_id is ?')
  const prune = change(
    db,
    `delete from hookswitch_token where hash in (
      select hash from hookswitch_token where expires_ms <= ? order by expires_ms limit ? + 0
    )`,
  )

  return {
    issue(token) {
      const { hash, accountId, userId = null, expiresMs } = token
      issue(hash, accountId, userId, expiresMs, JSON.stringify(token))
    },
    read(hash) {
      const row = read.get(hash)
      return row && (JSON.parse(row.doc) as TokenRow)
    },
    revoke: (hash) => revoke(hash) > 0,
    revokeAll: (accountId, holder) =>
      holder === undefined ? revokeAll(accountId) : revokeOf(accountId, holder),
    pruneTokens: (now, limit) => prune(now, limit),
  }
}
