/** Stores tokens; finds them by hash, account and expiry. */
import type { TokenRow, TokenStore } from 'hookswitch/store'
import type { DocRow, Statements } from './query.js'
import type { Synchronous } from './synchronous.js'

export function createTokenStore({ prepareQuery, prepareChange }: Statements): Synchronous<TokenStore> {
  const issue = prepareChange(
    `insert or replace into hookswitch_token (hash, account_id, user_id, expires_ms, doc) values (?, ?, ?, ?, ?)`,
  )
  const read = prepareQuery<DocRow>('select doc from hookswitch_token where hash = ?')
  const revoke = prepareChange('delete from hookswitch_token where hash = ?')
  const revokeAll = prepareChange('delete from hookswitch_token where account_id = ?')
  const revokeOfUser = prepareChange('delete from hookswitch_token where account_id = ? and user_id is ?')
  const pruneExpired = prepareChange(`delete from hookswitch_token where hash in (
      select hash from hookswitch_token where expires_ms <= ? order by expires_ms limit ? + 0
    )`)

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
      holder === undefined ? revokeAll(accountId) : revokeOfUser(accountId, holder),
    pruneTokens: (now, limit) => pruneExpired(now, limit),
  }
}
