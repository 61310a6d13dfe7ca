// @ts-check
/** Faults in the store's statements, made on the way to the server: each of them must be found. */

/** @typedef {import('hookswitch/postgres').PostgresQuery} PostgresQuery */

/** What is prepared is known by its name. @param {PostgresQuery} query @param {string} text @returns {PostgresQuery} */
const said = (query, text) => ({ ...query, text, ...(query.name && { name: `x_${query.name}` }) })

/**
 * A statement of this name says something else. Where nothing of the pattern is in it, the doctor is out of date.
 *
 * @param {RegExp} name @param {RegExp} pattern @param {string} instead
 */
const replaced = (name, pattern, instead) => () => (/** @type {PostgresQuery} */ query) => {
  if (!name.test(query.name ?? '')) return query
  if (!pattern.test(query.text)) throw new Error(`${query.name} has nothing that is like ${pattern}`)
  return said(query, query.text.replace(pattern, instead))
}

/**
 * Locks the lanes that a settlement leaves, and makes the next of each due, in one statement: what the lock waited for is
 * not seen. One of each lane ends, its head.
 *
 * @param {string} text of `lanes_leave`
 */
function lockedAndPromoted(text) {
  const schema = /update (\S+)\.lane/.exec(text)?.[1]
  const counted = /counted as \([^)]*\)/.exec(text)?.[0]
  const told = /select w\.id as[\s\S]*$/.exec(text)?.[0]
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
    ) ${told}`
}

/** @type {Record<string, import('./gates.js').Doctor>} */
export const DOCTORS = {
  /** Of settlements that change no webhook: most there are. */
  'lock and promotion in one': () => {
    let isPlain = false
    return (query) => {
      const { name = '', text } = query
      if (text.startsWith('BEGIN')) isPlain = false
      if (name.startsWith('settle_begin_')) {
        isPlain = true
        return said(query, text.replace('for no key update', ''))
      }
      return isPlain && name.startsWith('lanes_leave_') ? said(query, lockedAndPromoted(text)) : query
    }
  },
  /** What is behind in a lane is looked for while others may write there. */
  'a lane that is not locked': replaced(/^(settle_begin|lanes_lock)_/, /for no key update/, ''),
  'an epoch that nobody holds while something is accepted': replaced(
    /^accept_hold_/,
    /for key share of w/,
    '',
  ),
  'what waits for an ended epoch unmarked before it is held': replaced(/^stale_hold_/, /for update/, ''),
}

/** The other way round than acceptances lock them: some must be given up, and tried again. @type {import('./gates.js').Doctor} */
export const crosswise = () => (query) => {
  if (!query.name?.startsWith('settle_write_')) return query
  const schema = /update (\S+)\.delivery/.exec(query.text)?.[1]
  const held = `with held as materialized (select key from ${schema}.webhook where key = any ($3::int[]) for update), gone_on as (`
  const text = query.text.replace('with gone_on as (', held)
  return said(query, `${text} where (select count(*) from held) >= 0`)
}
