import type { Account, AccountStore } from 'hookswitch/store'
import { grouped, READ_PATIENCE_MS } from './group.js'
import { textArray } from './rows-arrays.js'
import type { Session, Statement } from './session.js'
import type { LineageRow } from './sql/accounts.js'

/** Accounts of one statement. */
const MOST = 200

/**
 * Lineages, read for all that were asked for meanwhile by one statement: where the host's events are of more accounts
 * than are remembered, each event asks for one.
 */
export function lineageReader(
  session: Pick<Session, 'query'>,
  statement: Statement,
): AccountStore['lineage'] {
  const group = grouped<string, readonly Account[]>(
    async (accountIds) => {
      const lines = accountIds.map((): Account[] => [])
      const rows = await session.query<LineageRow>(statement, [textArray(accountIds)])
      for (const { place, doc } of rows) lines[place - 1]!.push(JSON.parse(doc) as Account)
      return lines.map((value) => ({ value }))
    },
    { most: MOST, patienceMs: READ_PATIENCE_MS },
  )
  // No account has another kind of id, and none may spoil the statement of others.
  return async (accountId) => (typeof accountId === 'string' ? group.run(accountId) : [])
}
