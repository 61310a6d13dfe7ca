// @ts-check
/** What must be true of the tables whenever they are looked at, since every change of them is one transaction. */

/**
 * @param {string} s the schema's name
 * @returns one row, with the text of what is wrong, for each fault
 */
export const faultsIn = (s) => `
  with open as (
    select webhook_key as key, lane, count(*) as rows,
      count(*) filter (where state = 1 or due_ms is not null) as heads
    from ${s}.delivery where state in (0, 1) group by webhook_key, lane
  )
  select format('a lane with work and no head: %s', lane) as fault from open where heads = 0
  union all
  select format('a lane with %s heads: %s', heads, lane) from open where heads > 1
  union all
  select format('%s are open in a lane that says %s: %s', coalesce(o.rows, 0), coalesce(l.open, 0), lane)
  from open o full join (select webhook_key as key, lane, open from ${s}.lane) l using (key, lane)
  where coalesce(o.rows, 0) <> coalesce(l.open, 0)
  union all
  select format('%s are open, and %s are said to be', o.rows, p.said)
  from (select coalesce(sum(rows), 0) as rows from open) o, (select sum(deliveries) as said from ${s}.pending) p
  where o.rows <> p.said
  union all
  select format('%s waits for an ended epoch, and nobody looks for it', d.id)
  from ${s}.delivery d join ${s}.webhook w on w.key = d.webhook_key
  where d.state = 0 and d.epoch < w.epoch and not w.stale`

/** @param {string} s */
export const emptied = (s) => `
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
