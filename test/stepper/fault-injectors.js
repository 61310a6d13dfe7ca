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

/** @type {Record<string, import('./gates.js').FaultInjector>} */
export const FAULTS = {
  /** The owner keeps what was erased. */
  'an edit that raises no version': replacing(/^version_raise_/, /version \+ 1/, 'version'),
  /** Two nodes take the same shard. */
  'leases that are planned at the same time': replacing(
    /^lease_lock_/,
    /pg_advisory_xact_lock\(hashtextextended\('.*', 0\)\) is null/,
    'false',
  ),
  /** Incoming deliveries of transactions that are under way are not seen again. */
  'a poll that skips running transactions': replacing(/^queue_poll_/, /pg_snapshot_xmin/, 'pg_snapshot_xmax'),
  /** What a dead node had in flight is sent again as the same attempt. */
  'a takeover that forgets starts': replacing(
    /^lease_free_/,
    /(select id, fence from ended)/,
    '$1 where false',
  ),
  /** The owner of the shard never learns of a delivery that another node accepted. */
  'an acceptance that no other node sees': () => (query) => {
    const insert = /insert into \S+\.incoming \([^)]*\) select \* from unnest\([^)]*\)/
    return insert.test(query.text) ? withText(query, query.text.replace(insert, '$& where false')) : query
  },
}

/**
 * Edits lock webhooks before nodes: together with groups, which lock them the other way round, deadlocks occur and must be
 * retried.
 *
 * @type {import('./gates.js').FaultInjector}
 */
export const lockedCrosswise = () => (query) => {
  if (!query.name?.startsWith('version_shards_')) return query
  const schema = /from (\S+)\.shard/.exec(query.text)?.[1]
  const held = `with held as materialized (select 1 from ${schema}.webhook order by key for update)`
  const text = query.text.replace('order by id', 'and (select count(*) from held) >= 0 order by id')
  return withText(query, `${held} ${text}`)
}
