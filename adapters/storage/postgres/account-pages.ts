/** Pages of accounts and users, sorted by their generated sort keys. */
import type { Account, AccountQuery, AccountStore, PageQuery, User } from 'hookswitch/store'
import type { Session } from './session.js'
import { countStatement, pageStatement } from './sql/account-pages.js'
import type { DocRow } from './sql/accounts.js'

export function postgresAccountPages(
  session: Session,
  schema: string,
): Pick<AccountStore, 'accountPage' | 'countDescendants' | 'userPage'> {
  const count = countStatement(schema)

  return {
    async accountPage(query: AccountQuery) {
      const { childrenOf, descendantsOf, prefix, after, ascending, limit } = query
      const scope =
        childrenOf !== undefined ? 'children' : descendantsOf === undefined ? 'all' : 'descendants'
      const of = childrenOf ?? descendantsOf
      const statement = pageStatement(schema, {
        scope,
        isAfter: after !== undefined,
        ascending,
        ...(prefix && { prefixOf: prefix.of }),
      })
      const values = [
        ...(of === undefined ? [] : [of]),
        ...(prefix ? [prefix.text] : []),
        ...(after ?? []),
        limit,
      ]
      return (await session.query<DocRow>(statement, values)).map(({ doc }) => JSON.parse(doc) as Account)
    },
    async countDescendants(accountIds, max) {
      const rows = await session.query<{ count: number }>(count, [accountIds, max])
      return rows.map((row) => row.count)
    },
    async userPage(accountId: string, { after, ascending, limit }: PageQuery) {
      const statement = pageStatement(schema, { scope: 'users', isAfter: after !== undefined, ascending })
      const rows = await session.query<DocRow>(statement, [accountId, ...(after ?? []), limit])
      return rows.map(({ doc }) => JSON.parse(doc) as User)
    },
  }
}
