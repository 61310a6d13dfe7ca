import type { Account, AccountStore } from 'hookswitch/store'
import { textArray } from './binary-arrays.js'
import { createGroupCommit, READ_OVERLAP_MS } from './group-commit.js'
import type { Session } from './session.js'
import type { PlacedDocRow } from './sql/accounts.js'
import type { Statement } from './statement.js'

/** Accounts per statement. */
const MAX_ACCOUNTS = 200

/**
 * Reads lineages, all that were requested during the previous read with one statement: a host whose events belong to
 * more accounts than the cache holds needs one per event.
 */
export function lineageReader(
  session: Pick<Session, 'query'>,
  statement: Statement,
): AccountStore['lineage'] {
  const group = createGroupCommit<string, readonly Account[]>(
    async (accountIds) => {
      const lines = accountIds.map((): Account[] => [])
      const rows = await session.query<PlacedDocRow>(statement, [textArray(accountIds)])
      for (const { place, doc } of rows) lines[place - 1]!.push(JSON.parse(doc) as Account)
      return lines.map((value) => ({ value }))
    },
    { maxWeight: MAX_ACCOUNTS, overlapAfterMs: READ_OVERLAP_MS },
  )
  // Any other type is no account's id, and would make the statement of all the others fail.
  return async (accountId) => (typeof accountId === 'string' ? group.run(accountId) : [])
}
