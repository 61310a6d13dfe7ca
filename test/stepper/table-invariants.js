// @ts-check
/** Invariants of the tables. They hold between any two transactions. */

/**
 * @param {string} s the schema's name
 * @returns a query with one row per violation
 */
export const violationsQuery = (s) => `
  select format('%s waits and has ended', w.id) as violation
  from ${s}.waiting w join ${s}.attempt a on a.webhook_key = w.webhook_key and a.delivery = w.position and a.state >= 2
  union all
  select format('%s has ended %s times', min(id), count(*)) from ${s}.attempt where state >= 2
  group by webhook_key, delivery having count(*) > 1
  union all
  select format('attempt %s of %s is recorded %s times', n, min(id), count(*)) from ${s}.attempt where n is not null
  group by webhook_key, delivery, n having count(*) > 1
  union all
  select format('%s waits after %s attempts, of which %s are recorded', w.id, w.attempts, a.recorded)
  from ${s}.waiting w cross join lateral (
    select count(*) as recorded from ${s}.attempt where webhook_key = w.webhook_key and delivery = w.position
  ) a where w.attempts <> a.recorded
  union all
  select format('%s waits without its event', w.id)
  from ${s}.waiting w left join ${s}.event e on e.position = w.event where e.body is null
  union all
  select format('the attempt %s has no event', a.id)
  from ${s}.attempt a left join ${s}.event e on e.position = a.event where e.position is null
  union all
  select format('shard %s belongs to %s, which has no lease', m.id, m.owner)
  from ${s}.shard m left join ${s}.node n on n.owner = m.owner where m.owner is not null and n.owner is null
  union all
  select format('shard %s was left by lease %s, which is not over', t.shard, t.fence)
  from ${s}.takeover t join ${s}.node n on n.fence = t.fence
  union all
  select format('a change of %s has a version above that of its node', n.owner)
  from ${s}.change c join ${s}.node n on n.fence = c.fence where c.n > n.version`

/** What waits in the shards of a node. @param {string} s */
export const waitingQuery = (s) => `
  select w.id as webhook, d.position, d.attempts, d.epoch, w.revision
  from ${s}.waiting d join ${s}.webhook w on w.key = d.webhook_key join ${s}.shard m on m.id = w.shard
  where m.owner = $1`

/** Final states of all deliveries, by id: those of events whose ids are their first 24 digits. @param {string} s */
export const statesQuery = (s) => `
  select left(e.id, 24) || d.id as id, d.state from (
    select event, id, 0 as state from ${s}.waiting
    union all select event, id, state from ${s}.attempt where state >= 2
  ) d join ${s}.event e on e.position = d.event`

/** @param {string} s */
export const truncateQuery = (s) => `
  truncate ${[
    'event',
    'body',
    'waiting',
    'attempt',
    'start',
    'takeover',
    'change',
    'idempotency',
    'inbox',
    'incoming',
    'node',
    'webhook',
  ]
    .map((table) => `${s}.${table}`)
    .join(', ')};
  update ${s}.shard set owner = null, leaving = false`
