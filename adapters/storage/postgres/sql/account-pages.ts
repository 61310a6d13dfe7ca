import type { Statement } from '../statement.js'

/** Which columns a page is restricted to; there is one statement per combination. */
interface PageShape {
  readonly scope: 'all' | 'children' | 'descendants' | 'users'
  readonly prefixOf?: 'name' | 'realm' | 'id'
  readonly isAfter: boolean
  readonly ascending: boolean
}

const SEARCH_COLUMNS = { name: 'name_key', realm: 'realm_search', id: 'id' } as const

const below = (s: string) => `with recursive below as (
    select id from ${s}.account where parent_id = $1
    union
    select a.id from below b
    cross join lateral (select id from ${s}.account a where a.parent_id = b.id offset 0) a
  )`

/**
 * A page of accounts or users. Values: the account (unless `all`), the prefix, the sort key and id of the last row
 * before, each if there is one, and the limit.
 */
export function pageStatement(s: string, { scope, prefixOf, isAfter, ascending }: PageShape): Statement {
  let values = scope === 'all' ? 0 : 1
  const next = () => {
    values += 1
    return `$${values}`
  }
  const conditions: string[] = []
  if (scope === 'children') conditions.push('a.parent_id = $1')
  if (scope === 'users') conditions.push('a.account_id = $1')
  if (scope === 'descendants') conditions.push('a.id <> $1')
  if (prefixOf) conditions.push(`starts_with(a.${SEARCH_COLUMNS[prefixOf]}, ${next()})`)
  if (isAfter) conditions.push(`(a.sort_key, a.id) ${ascending ? '>' : '<'} (${next()}, ${next()})`)
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const from =
    scope === 'descendants'
      ? `from below b cross join lateral (select * from ${s}.account a where a.id = b.id offset 0) a`
      : `from ${s}.${scope === 'users' ? 'account_user' : 'account'} a`
  const direction = ascending ? 'asc' : 'desc'
  return {
    name: `page_${scope}_${prefixOf ?? ''}_${isAfter ? 'after' : 'first'}_${direction}`,
    text: `${scope === 'descendants' ? below(s) : ''} select a.doc ${from} ${where}
      order by a.sort_key ${direction}, a.id ${direction} limit ${next()}`,
  }
}

/** For each account of `$1`, the number of accounts below it, at most `$2`. */
export const countStatement = (s: string): Statement => ({
  name: 'account_count_below',
  text: `select (select count(*)::int from (
        with recursive below as (
          select id from ${s}.account where parent_id = k.id
          union
          select a.id from below b
          cross join lateral (select id from ${s}.account a where a.parent_id = b.id offset 0) a
        ) select 1 from below where id <> k.id limit $2
      ) counted) as count
    from unnest($1::text[]) with ordinality k (id, place) order by place`,
})
