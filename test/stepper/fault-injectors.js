// @ts-check
/** Defects of the store's statements, injected on the way to the server. The stepper must find each of them. */

/** @typedef {import('hookswitch/postgres').PostgresQuery} PostgresQuery */

/** Prepared statements are cached by name, so another text needs another name. @param {PostgresQuery} query @param {string} text @returns {PostgresQuery} */
const withText = (query, text) => ({ ...query, text, ...(query.name && { name: `x_${query.name}` }) })

/**
 * Replaces a pattern in statements of this name. Throws if the pattern is not in the statement any more.
 *
 * @param {RegExp} name @param {RegExp} pattern @param {string} replacement
 */
const replacing = (name, pattern, replacement) => () => (/** @type {PostgresQuery} */ query) => {
  if (!name.test(query.name ?? '')) return query
  if (!pattern.test(query.text)) throw new Error(`${query.name} does not contain ${pattern}`)
  return withText(query, query.text.replace(pattern, replacement))
}

/**
 * Locks the lanes that a settlement leaves and promotes the next delivery of each in one statement. Such a statement does
 * not see what the transaction that held the lock has written. Assumes that one delivery of each lane ends, its head.
 *
 * @param {string} text of `lanes_leave`
 */
function lockAndPromote(text) {
  const schema = /update (\S+)\.lane/.exec(text)?.[1]
  const counted = /counted as \([^)]*\)/.exec(text)?.[0]
  const result = /select w\.id as[\s\S]*$/.exec(text)?.[0]
  return `with left_by as (
      select u.key, u.lane, (u.ended + cardinality($6::int[]) + cardinality($7::text[])) is null as nothing
      from unnest($1::int[], $2::text[], $3::int[]) u (key, lane, ended)
      union all select key, lane, false from unnest($4::int[], $5::text[]) u (key, lane)
    ), locked as materialized (
      select l.* from (select * from left_by order by key, lane collate "C") u cross join lateral (
        select * from ${schema}.lane where webhook_key = u.key and lane = u.lane for no key update
      ) l
    ), fewer as (
      update ${schema}.lane l set open = l.open - 1 from locked k
      where l.webhook_key = k.webhook_key and l.lane = k.lane and k.open > 1
    ), gone as (
      delete from ${schema}.lane l using locked k
      where l.webhook_key = k.webhook_key and l.lane = k.lane and k.open <= 1
    ), ${counted}, next as (
      update ${schema}.delivery d set due_ms = coalesce(($8::float8[])[1], n.accepted_ms) from locked k cross join lateral (
        select b.ctid as at, b.accepted_ms from ${schema}.delivery b
        where b.webhook_key = k.webhook_key and b.lane = k.lane and b.state = 0 and b.due_ms is null
        order by b.position limit 1
      ) n
      where d.ctid = n.at
      returning d.webhook_key, d.epoch, d.due_ms
    ) ${result}`
}

/** @type {Record<string, import('./gates.js').FaultInjector>} */
export const FAULTS = {
  /** For settlements that change no webhook, which are most. */
  'lock and promotion in one statement': () => {
    let isPlain = false
    return (query) => {
      const { name = '', text } = query
      if (text.startsWith('BEGIN')) isPlain = false
      if (name.startsWith('settle_begin_')) {
        isPlain = true
        return withText(query, text.replace('for no key update', ''))
      }
      return isPlain && name.startsWith('lanes_leave_') ? withText(query, lockAndPromote(text)) : query
    }
  },
  /** The next delivery of a lane is searched while others may add one. */
  'an unlocked lane': replacing(/^(settle_begin|lanes_lock)_/, /for no key update/, ''),
  'an acceptance that does not lock the epoch': replacing(/^accept_hold_/, /for key share of w/, ''),
  'a stale mark cleared without a lock': replacing(/^stale_hold_/, /for update/, ''),
}

/** Locks webhooks in the opposite order of acceptances: deadlocks occur and must be retried. @type {import('./gates.js').FaultInjector} */
export const lockedCrosswise = () => (query) => {
  if (!query.name?.startsWith('settle_write_')) return query
  const schema = /update (\S+)\.delivery/.exec(query.text)?.[1]
  const held = `with held as materialized (select key from ${schema}.webhook where key = any ($3::int[]) for update), gone_on as (`
  const text = query.text.replace('with gone_on as (', held)
  return withText(query, `${text} where (select count(*) from held) >= 0`)
}
