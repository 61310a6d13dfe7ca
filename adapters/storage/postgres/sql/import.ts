/** Statements of a migration into this schema (`import.ts`), apart from its inserts. */

import type { Statement } from '../statement.js'
import { createStagedTables } from './import-tables.js'
import { storeMs } from './store-clock.js'

/** A table that is not empty. */
export interface UsedTableRow {
  readonly table: string
}

/** A migration that was announced in this schema. `counts`, a JSON text, is set once it is complete. */
export interface ImportRow {
  readonly counts: string | null
}

/**
 * Moves the staged rows into their tables. What was in flight becomes a start of a lease that has ended. An event is added, at a
 * negative position, for the last number of a call whose events are gone, for each other leg of a call, and for attempts whose
 * delivery is gone.
 */
const moveStaged = (s: string): string => `
create unique index on pg_temp.imported_delivery (delivery_id);
analyze pg_temp.imported_delivery, pg_temp.imported_attempt;

insert into ${s}.event
  (position, timestamp_ms, accepted_ms, sequence, id, account_id, call_id, hook, traceparent, body)
select e.position, e.timestamp_ms, coalesce(d.accepted_ms, 0), nullif(e.sequence, 0), e.id, e.account_id, e.call_id, e.hook,
  e.traceparent, e.body
from pg_temp.imported_event e left join (
  select event, min(accepted_ms) as accepted_ms from pg_temp.imported_delivery group by event
) d on d.event = e.position;
insert into ${s}.event (position, timestamp_ms, accepted_ms, sequence, id, account_id, call_id, hook)
select -nextval('${s}.position'), c.last_ms, c.last_ms, nullif(c.sequence, 0),
  'call/' || c.account_id || '/' || c.call_id, c.account_id, c.call_id, ''
from pg_temp.imported_call c
where not exists (
  select from ${s}.event e where e.call_id = c.call_id and e.account_id = c.account_id and e.sequence >= c.sequence
);
insert into ${s}.event (position, timestamp_ms, accepted_ms, id, account_id, call_id, other_leg, hook)
select -nextval('${s}.position'), c.last_ms, c.last_ms,
  'leg/' || l.account_id || '/' || l.call_id || '/' || l.other, l.account_id, l.call_id, l.other, ''
from pg_temp.imported_call_leg l
join pg_temp.imported_call c on c.account_id = l.account_id and c.call_id = l.call_id
order by l.position;
insert into ${s}.event (position, timestamp_ms, accepted_ms, id, account_id, call_id, hook)
select -nextval('${s}.position'), a.at_ms, 0, a.event_id, a.account_id, a.call_id, a.hook from (
  select distinct on (event_id) * from pg_temp.imported_attempt a
  where not exists (select from pg_temp.imported_delivery d where d.delivery_id = a.delivery_id)
    and not exists (select from ${s}.event e where e.id = a.event_id)
  order by event_id, position
) a;

insert into ${s}.waiting
  (position, event, lane, accepted_ms, due_ms, webhook_key, sequence, epoch, attempts, tries, interruptions, variant, form,
   id, replay_of, reason, failed_ms)
select d.position, d.event, d.lane, d.accepted_ms, case when d.attempts > 0 then d.due_ms end, d.webhook_key,
  case when d.replay_of is null then coalesce(e.sequence, 0) else 0 end, d.epoch, d.attempts, d.tries, d.interruptions,
  d.variant, d.form, d.id, d.replay_of, d.reason, d.failed_ms
from pg_temp.imported_delivery d join ${s}.event e on e.position = d.event
where d.state < 2;

insert into ${s}.attempt
  (position, event, delivery, lane, at_ms, accepted_ms, ended_ms, webhook_key, epoch, n, attempts, tries, interruptions,
   variant, form, state, id, replay_of, reason, doc, failed_ms)
select a.position, coalesce(d.event, e.position), coalesce(d.position, a.position), 0, a.at_ms, coalesce(d.accepted_ms, 0),
  case when x.ends then d.ended_ms end, a.webhook_key, coalesce(d.epoch, 0), a.n, coalesce(a.n, d.attempts, 0),
  coalesce(d.tries, 0), coalesce(d.interruptions, 0), coalesce(d.variant, 0), coalesce(d.form, 2),
  case when x.ends then d.state else 0 end, a.id, d.replay_of, case when x.ends then d.reason end, a.doc,
  case when x.ends then d.failed_ms end
from (
  select *, row_number() over (partition by delivery_id order by position desc) = 1 as is_last from pg_temp.imported_attempt
) a
left join pg_temp.imported_delivery d on d.delivery_id = a.delivery_id
left join ${s}.event e on d.delivery_id is null and e.id = a.event_id
cross join lateral (select d.state >= 2 and a.is_last and coalesce(a.n, d.attempts) = d.attempts as ends) x;
insert into ${s}.attempt
  (event, delivery, lane, at_ms, accepted_ms, ended_ms, webhook_key, epoch, attempts, tries, interruptions, variant, form,
   state, id, replay_of, reason, failed_ms)
select d.event, d.position, 0, d.ended_ms, d.accepted_ms, d.ended_ms, d.webhook_key, d.epoch, d.attempts, d.tries,
  d.interruptions, d.variant, d.form, d.state, d.id, d.replay_of, d.reason, d.failed_ms
from pg_temp.imported_delivery d where d.state >= 2 and not exists (
  select from ${s}.attempt a where a.webhook_key = d.webhook_key and a.delivery = d.position and a.state >= 2
);

with lost as (
  select nextval('${s}.fence')::int as fence
), entries as (
  select (row_number() over (order by webhook_key, position) - 1) / 100 as part, webhook_key, position, attempts
  from pg_temp.imported_delivery where state = 1
), written as (
  insert into ${s}.start (fence, n, part, entries)
  select l.fence, 1 + e.part, 0,
    string_agg(int4send(e.webhook_key) || int8send(e.position) || int4send(e.attempts + 1), '')
  from entries e cross join lost l group by l.fence, e.part returning fence
)
insert into ${s}.takeover (shard, fence)
select s.id, f.fence from ${s}.shard s cross join (select distinct fence from written) f;
`

/** @param tables names of the tables that must be empty */
export const importStatements = (s: string, tables: readonly string[]) =>
  ({
    database: { name: 'load_place', text: 'select current_database() as database' },
    /** VACUUM yields its lock after a second; for anything else the migration does not wait. */
    setLockTimeout: { name: 'load_impatience', text: `set local lock_timeout = '2s'` },
    resetLockTimeout: { name: 'load_patience', text: 'set local lock_timeout = 0' },
    /** Blocks all other writers until the end of the transaction. */
    lock: {
      name: 'load_lock',
      text: `lock table ${[...tables, 'shard', 'node', 'start', 'takeover'].map((table) => `${s}.${table}`).join(', ')}
        in exclusive mode`,
    },
    /** A table that a node fills when it starts does not count. */
    used: {
      name: 'load_used',
      text: tables
        .filter((table) => table !== 'encryption')
        .map((table) => `select '${table}' as "table" where exists (select from ${s}.${table})`)
        .join(' union all '),
    },
    /** A node with a current lease. */
    node: {
      name: 'load_node',
      text: `select 1 from ${s}.node where alive_until_ms > ${storeMs(s, 'null')} limit 1`,
    },
    createImports: {
      name: 'load_create_moves',
      text: `create table if not exists ${s}.hookswitch_move (id text primary key, counts text)`,
    },
    import: { name: 'load_move', text: `select counts from ${s}.hookswitch_move where id = $1` },
    announce: {
      name: 'load_announce',
      text: `insert into ${s}.hookswitch_move (id) values ($1) on conflict do nothing`,
    },
    end: { name: 'load_end', text: `update ${s}.hookswitch_move set counts = $2 where id = $1` },
    /** The secrets of the imported rows count, not those of a node that was started on the empty schema. */
    clearEncryption: { name: 'load_clear_encryption', text: `delete from ${s}.encryption` },
    /** New positions come after those of the imported rows. */
    position: {
      name: 'load_position',
      text: `select setval('${s}.position', greatest($1::bigint, (select last_value from ${s}.position)))`,
    },
    /** Leases have ended: a node that was alive would have kept the schema from being used. */
    freeShards: {
      name: 'load_free',
      text: `with gone as (delete from ${s}.node) update ${s}.shard set owner = null, leaving = false`,
    },
    createStaged: { name: '', text: createStagedTables },
    moveStaged: { name: '', text: moveStaged(s) },
    /**
     * Store time goes on after everything that was imported, and from that of the source (`$1`, or null) on: what is due there
     * at some moment is due here at the same moment, also where the clock of the source was ahead.
     */
    clock: {
      name: 'load_clock',
      text: `update ${s}.store_clock set
        offset_ms = greatest(offset_ms, $1::float8 - extract(epoch from clock_timestamp()) * 1000),
        last_ms = greatest(last_ms, $1::float8, (select max(accepted_ms) from ${s}.waiting),
          (select max(greatest(accepted_ms, ended_ms)) from ${s}.attempt))`,
    },
  }) satisfies Record<string, Statement>
