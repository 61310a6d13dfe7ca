import { textArray } from './binary-arrays.js'
import { createGroupCommit, READ_OVERLAP_MS } from './group-commit.js'
import type { Session } from './session.js'
import type { PlacedDocRow } from './sql/accounts.js'
import type { Statement } from './statement.js'

/** Accounts per statement. */
const MAX_ACCOUNTS = 200

/**
 * Reads a list of documents per account, all that were requested during the previous read with one statement: a host whose
 * events belong to more accounts than the cache holds needs one per event.
 *
 * @param statement takes ids of accounts, and returns each document with the place of its account, from 1
 */
export function placedReader<Doc>(
  session: Pick<Session, 'query'>,
  statement: Statement,
): (accountId: string) => Promise<Doc[]> {
  const group = createGroupCommit<string, Doc[]>(
    async (accountIds) => {
      const lists = accountIds.map((): Doc[] => [])
      const rows = await session.query<PlacedDocRow>(statement, [textArray(accountIds)])
      for (const { place, doc } of rows) lists[place - 1]!.push(JSON.parse(doc) as Doc)
      return lists.map((value) => ({ value }))
    },
    { maxCalls: MAX_ACCOUNTS, overlapAfterMs: READ_OVERLAP_MS },
  )
  // Any other type is no account's id, and would make the statement of all the others fail.
  return async (accountId) => (typeof accountId === 'string' ? group.run(accountId) : [])
}
