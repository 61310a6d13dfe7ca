import type { TokenRow, TokenStore } from 'hookswitch/store'
import { removedOn } from './session.js'
import type { Deps } from './session-deps.js'
import type { DocRow } from './sql/accounts.js'
import { tokenStatements } from './sql/tokens.js'

/** Tokens, stored by their hash. */
export function postgresTokens({ session, schema }: Pick<Deps, 'session' | 'schema'>): TokenStore {
  const sql = tokenStatements(schema)
  const removedBy = removedOn(session)

  return {
    async issue(token) {
      const { hash, accountId, userId = null, expiresMs } = token
      await session.query(sql.issue, [hash, accountId, userId, expiresMs, JSON.stringify(token)])
    },
    async read(hash) {
      const [row] = await session.query<DocRow>(sql.read, [hash])
      return row && (JSON.parse(row.doc) as TokenRow)
    },
    async revoke(hash) {
      return (await session.query(sql.revoke, [hash])).length > 0
    },
    revokeAll: (accountId, holder) =>
      holder === undefined
        ? removedBy(sql.revokeAll, [accountId])
        : removedBy(sql.revokeOf, [accountId, holder]),
    pruneTokens: (now, limit) => removedBy(sql.prune, [now, limit]),
  }
}
