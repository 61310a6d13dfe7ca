// @ts-check
/** Invariants of the tables. They hold between any two transactions. */

/**
 * @param {string} s the schema's name
 * @returns a query with one row per violation
 */
export const violationsQuery = (s) => `
  with open as (
    select webhook_key as key, lane, count(*) as rows,
      count(*) filter (where state = 1 or due_ms is not null) as heads
    from ${s}.delivery where state in (0, 1) group by webhook_key, lane
  )
  select format('a lane with deliveries has no head: %s', lane) as violation from open where heads = 0
  union all
  select format('a lane has %s heads: %s', heads, lane) from open where heads > 1
  union all
  select format('%s deliveries are pending in a lane that counts %s: %s', coalesce(o.rows, 0), coalesce(l.open, 0), lane)
  from open o full join (select webhook_key as key, lane, open from ${s}.lane) l using (key, lane)
  where coalesce(o.rows, 0) <> coalesce(l.open, 0)
  union all
  select format('%s deliveries are pending, but %s are counted', o.rows, p.counted)
  from (select coalesce(sum(rows), 0) as rows from open) o, (select sum(deliveries) as counted from ${s}.pending) p
  where o.rows <> p.counted
  union all
  select format('%s waits in an ended epoch, but its webhook is not marked stale', d.id)
  from ${s}.delivery d join ${s}.webhook w on w.key = d.webhook_key
  where d.state = 0 and d.epoch < w.epoch and not w.stale`

/** @param {string} s */
export const truncateQuery = (s) => `
  truncate ${[
    'event',
    'delivery',
    'lane',
    'attempt',
    'call',
    'call_leg',
    'idempotency',
    'inbox',
    'nudge',
    'node',
    'webhook',
  ]
    .map((table) => `${s}.${table}`)
    .join(', ')};
  update ${s}.shard set owner = null, alive_until_ms = 0, leaving = false, term = 0;
  update ${s}.pending set deliveries = 0`
