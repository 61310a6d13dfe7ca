/** Descendants of accounts, and pages of accounts and users, sorted by their generated sort keys. */
import type { Account, AccountQuery, PageQuery, User } from 'hookswitch/store'
import type { SqliteValue } from './driver.js'
import type { DocRow, PreparedQuery, Statements } from './query.js'

const SEARCH_COLUMNS = { name: 'name_key', realm: 'realm_search', id: 'id' } as const

const BELOW = `with recursive below (id) as (
    select id from hookswitch_account where parent_id = ?
    union
    select a.id from below join hookswitch_account a on a.parent_id = below.id
  )`

export function createAccountPages({ prepareQuery }: Statements) {
  const prepared = new Map<string, PreparedQuery<DocRow>>()
  const descendants = prepareQuery<{ readonly id: string }>(`${BELOW} select id from below where id <> ?`)
  const count = prepareQuery<{ readonly count: number }>(
    `${BELOW} select count(*) as count from (select 1 from below where id <> ? limit ? + 0)`,
  )

  /** Prepares a statement when it is first used: there is one per combination of conditions. */
  function statement(sql: string): PreparedQuery<DocRow> {
    const found = prepared.get(sql) ?? prepareQuery<DocRow>(sql)
    prepared.set(sql, found)
    return found
  }

  /** The condition, order and limit of a page, with their values. */
  function page({ after, ascending, limit }: PageQuery): {
    readonly where: string
    readonly end: string
    readonly values: SqliteValue[]
  } {
    const direction = ascending ? 'asc' : 'desc'
    return {
      where: after ? `and (sort_key, id) ${ascending ? '>' : '<'} (?, ?)` : '',
      end: `order by sort_key ${direction}, id ${direction} limit ? + 0`,
      values: [...(after ?? []), limit],
    }
  }

  return {
    accountPage(query: AccountQuery): readonly Account[] {
      const { childrenOf, descendantsOf, prefix } = query
      const { where, end, values } = page(query)
      const scope =
        childrenOf !== undefined
          ? 'from hookswitch_account where parent_id = ?'
          : descendantsOf === undefined
            ? 'from hookswitch_account where true'
            : 'from hookswitch_account where id in (select id from below) and id <> ?'
      const column = prefix && SEARCH_COLUMNS[prefix.of]
      const search = column === undefined ? '' : `and substr(${column}, 1, length(?)) = ?`
      const sql = `${descendantsOf === undefined ? '' : BELOW} select doc ${scope} ${search} ${where} ${end}`
      const parameters: SqliteValue[] =
        childrenOf !== undefined
          ? [childrenOf]
          : descendantsOf === undefined
            ? []
            : [descendantsOf, descendantsOf]
      if (prefix) parameters.push(prefix.text, prefix.text)
      return statement(sql)
        .all(...parameters, ...values)
        .map(({ doc }) => JSON.parse(doc) as Account)
    },
    descendants: (accountId: string): readonly string[] =>
      descendants.all(accountId, accountId).map(({ id }) => id),
    countDescendants: (accountIds: readonly string[], max: number): readonly number[] =>
      accountIds.map((id) => count.get(id, id, max)!.count),
    userPage(accountId: string, query: PageQuery): readonly User[] {
      const { where, end, values } = page(query)
      return statement(`select doc from hookswitch_user where account_id = ? ${where} ${end}`)
        .all(accountId, ...values)
        .map(({ doc }) => JSON.parse(doc) as User)
    },
  }
}
