/**
 * Tables of a store that is the log of queues in the memory of nodes, and the conversion of the tables before them, in
 * which the rows were the queue.
 *
 * A delivery is one row of `waiting` until it ends, and one row of `attempt` afterwards: that of its last attempt, or a row
 * without a document (a slim end) where nothing is recorded. `attempt.state` is 0 for a failed attempt before the last. The
 * first body of an event is in its row, others are in `body`.
 *
 * Ids of deliveries begin with the first 24 digits of their event's id, and only the other 8 are stored. Other ids are
 * stored whole, after a `!`, and have an index (`delivery-id.ts`).
 *
 * `form` is the encoding of the body (1: form) + 2 × HTTP method + 16 × kind of lane (`rows.ts`).
 *
 * There are no foreign keys: each would be checked row by row on the path of an event.
 */

/** Names of the tables that are converted. */
export type LegacyTable = 'event' | 'delivery' | 'attempt' | 'call' | 'call_leg'

const LEGACY_TABLES: readonly LegacyTable[] = ['event', 'delivery', 'attempt', 'call', 'call_leg']

const tables = (s: string): string => `
create sequence ${s}.fence as integer;

-- Living nodes. A group holds its row FOR SHARE, so that a change of it waits for the group. The row of a dead node is
-- deleted: its fence is never granted again.
create table ${s}.node (
  owner          text collate "C" primary key,
  fence          integer not null,
  number         smallint not null constraint node_number unique,
  version        bigint not null default 0,
  alive_until_ms double precision not null,
  pending        bigint not null default 0
) with (fillfactor = 10);

-- The key of the advisory lock that the session of a node holds (\`crashed-nodes.ts\`). Unlogged: when the server crashes,
-- all sessions end, which says nothing about the nodes.
create unlogged table ${s}.node_session (
  fence        integer primary key,
  key          bigint not null,
  process      text,
  server_start timestamptz not null
);

create table ${s}.shard (
  id      smallint primary key,
  owner   text collate "C",
  leaving boolean not null default false
) with (fillfactor = 50);
insert into ${s}.shard (id) select generate_series(0, 63);

-- Leases that ended with a shard: their starts there may have been interrupted.
create table ${s}.takeover (
  shard smallint not null,
  fence integer not null,
  primary key (shard, fence)
);

-- Attempts that were about to begin. \`entries\`: 16 bytes each, webhook (4), position (8), attempt (4).
create table ${s}.start (
  fence   integer not null,
  n       bigint not null,
  part    smallint not null,
  entries bytea not null,
  primary key (fence, n, part)
);
alter table ${s}.start alter column entries set storage plain;

-- What a raised version of a node covers: an edited webhook (\`positions\` null), or erased deliveries of one. Without a
-- webhook: nothing that the node has.
create table ${s}.change (
  fence      integer not null,
  n          bigint not null,
  webhook_id text collate "C",
  positions  bigint[],
  at         timestamptz not null default now()
);
create index change_of_node on ${s}.change (fence, n);
create index change_at on ${s}.change (at);

-- \`sequence\` null: not numbered. \`body\` null: it has no delivery.
create table ${s}.event (
  position     bigint primary key,
  timestamp_ms double precision not null,
  accepted_ms  double precision not null,
  sequence     integer,
  id           text collate "C" not null,
  account_id   text collate "C" not null,
  call_id      text collate "C",
  other_leg    text collate "C",
  hook         text not null,
  traceparent  text,
  body         text
);
create table ${s}.body (
  event   bigint not null,
  variant smallint not null,
  body    text not null,
  primary key (event, variant)
);

-- \`due_ms\` null: it has no retry to wait for. \`sequence\` 0: not numbered.
create table ${s}.waiting (
  position      bigint not null,
  event         bigint not null,
  lane          bigint not null,
  accepted_ms   double precision not null,
  due_ms        double precision,
  webhook_key   integer not null,
  sequence      integer not null,
  epoch         integer not null,
  attempts      integer not null default 0,
  tries         integer not null default 0,
  interruptions integer not null default 0,
  variant       smallint not null,
  form          smallint not null,
  id            text collate "C" not null,
  replay_of     text,
  reason        text,
  primary key (webhook_key, position)
) with (fillfactor = 90);

create table ${s}.attempt (
  position      bigint not null default nextval('${s}.position'),
  event         bigint not null,
  delivery      bigint not null,
  lane          bigint not null,
  at_ms         double precision not null,
  accepted_ms   double precision not null,
  ended_ms      double precision,
  webhook_key   integer not null,
  epoch         integer not null,
  n             integer,
  attempts      integer not null,
  tries         integer not null,
  interruptions integer not null,
  variant       smallint not null,
  form          smallint not null,
  state         smallint not null,
  id            text collate "C" not null,
  replay_of     text,
  reason        text,
  doc           text
);
`

const indexes = (s: string): string => `
create unique index event_id on ${s}.event (id);
create unique index event_number on ${s}.event (call_id, account_id, sequence);
create index event_other_leg on ${s}.event (other_leg) where other_leg is not null;
create index event_account on ${s}.event (account_id, position);

create index waiting_event on ${s}.waiting (event);
create index waiting_replay on ${s}.waiting (position) where replay_of is not null;
create unique index waiting_whole_id on ${s}.waiting (id) where left(id, 1) = '!';

create index attempt_webhook on ${s}.attempt (webhook_key, position) where doc is not null;
create index attempt_ended on ${s}.attempt (webhook_key, delivery) where state >= 2;
create index attempt_failed on ${s}.attempt (webhook_key, delivery) where state in (3, 4, 6);
create index attempt_event on ${s}.attempt (event);
create index attempt_at on ${s}.attempt (at_ms);
create index attempt_replay on ${s}.attempt (delivery) where replay_of is not null and state >= 2;
create index attempt_whole_id on ${s}.attempt (id) where left(id, 1) = '!';

-- Deliveries that a node accepted for the shard of another. Unlogged: after a crash of the server every node loads anew.
create unlogged table ${s}.nudge (
  position    bigint not null,
  webhook_key integer not null,
  shard       smallint not null,
  xid         xid8 not null default pg_current_xact_id()
);
create index nudge_shard on ${s}.nudge (shard, xid);
`

/** Tables that change with every event: VACUUM removes their dead rows early, whatever the size of the table. */
const HOT = ['waiting', 'event', 'start', 'node', 'nudge', 'shard', 'inbox', 'idempotency']

const vacuumed = (s: string) =>
  HOT.map(
    (table) =>
      `alter table ${s}.${table} set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);`,
  ).join('\n')

/**
 * `laneKey` of `delivery/lane-key.ts` in SQL, so that the lanes of converted deliveries continue, `storedDeliveryId` and
 * `formOf`. `readable`: a record as JSON, whatever its texts contain, such as a recorded response: PostgreSQL decodes no NUL
 * character and no half of a surrogate pair. `pg_temp` functions are dropped with the session.
 */
const FUNCTIONS = `
create or replace function pg_temp.fnv(units integer[], seed bigint) returns bigint language plpgsql immutable as $$
declare hash bigint := seed; unit integer;
begin
  foreach unit in array units loop hash := ((hash # unit) * 16777619) & 4294967295; end loop;
  return hash;
end $$;
create or replace function pg_temp.lane_key(lane text) returns bigint language plpgsql immutable as $$
declare units integer[] := '{}'; code integer; key bigint;
begin
  if left(lane, 2) = '-/' then return 0; end if;
  for i in 1 .. length(lane) loop
    code := ascii(substr(lane, i, 1));
    if code < 65536 then units := units || code;
    else units := units || (55296 + ((code - 65536) >> 10)) || (56320 + ((code - 65536) & 1023)); end if;
  end loop;
  key := (pg_temp.fnv(units, 2166136261) & 2097151) * 4294967296 + pg_temp.fnv(units, 2538058380);
  return case key when 0 then 1 else key end;
end $$;
create or replace function pg_temp.stored_id(id text, event_id text) returns text language sql immutable as $$
  select case when left(id, 24) = left(event_id, 24) and id ~ '^[0-9a-f]{32}$' and event_id ~ '^[0-9a-f]{32}$'
    then right(id, 8) else '!' || id end $$;
create or replace function pg_temp.readable(doc text) returns json language sql immutable as $$
  select case when strpos(doc, '\\u') = 0 then doc
    else regexp_replace(doc, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u(?:0000|d[89a-f][0-9a-f]{2})', '\\1?', 'gi') end::json $$;
create or replace function pg_temp.form(encoding text, verb text, lane text) returns integer language sql immutable as $$
  select case encoding when 'form' then 1 else 0 end
    + 2 * (array_position(array['get', 'post', 'put', 'patch', 'delete'], verb) - 1)
    + 16 * case when left(lane, 2) = '-/' then 0 when left(lane, 7) = 'replay/' then 2
      when left(lane, 5) = 'test/' then 3 else 1 end $$;
`

/**
 * Converts deliveries, events, attempts and calls. A delivery takes the position of its event, a replay keeps its own.
 * What was in flight becomes a start of a lease that has ended. An event of a call whose events are gone is added for its
 * last number and for each other leg, at a negative position.
 *
 * @param s name of the schema, quoted
 * @param old name of a table that is converted, quoted
 * @param sequence sequence number of an event `e`; 0 or null: not numbered
 * @param failed name of the column of first failures, which both the converted table and the new ones have; absent: neither has
 */
export const conversion = (
  s: string,
  old: (table: LegacyTable) => string,
  sequence: string,
  failed?: 'failed_ms',
): string => `
${FUNCTIONS}
create temporary table converted on commit drop as
  select d.*, pg_temp.stored_id(d.id, e.id) as stored_id,
    case when d.replay_of is null then coalesce(${sequence}, 0) else 0 end as sequence,
    case when d.replay_of is null
        and row_number() over (partition by d.webhook_key, d.event order by d.position) = 1
      then d.event else d.position end as at,
    pg_temp.form(d.encoding, d.http_verb, d.lane) as form
  from ${old('delivery')} d join ${old('event')} e on e.position = d.event and e.variant = 0;
create unique index on converted (id);
analyze converted;
create temporary table recorded on commit drop as
  select a.*, row_number() over (partition by a.delivery_id order by a.position desc) = 1 as is_last,
    (d.doc ->> 'attempt')::int as n, d.doc ->> 'eventId' as event_id, d.doc ->> 'hook' as hook
  from ${old('attempt')} a cross join lateral (select pg_temp.readable(a.doc) as doc offset 0) d;
analyze recorded;

insert into ${s}.event
  (position, timestamp_ms, accepted_ms, sequence, id, account_id, call_id, hook, traceparent, body)
select e.position, e.timestamp_ms, coalesce(d.accepted_ms, 0), nullif(${sequence}, 0), e.id, e.account_id, e.call_id, e.hook, e.traceparent, e.body
from ${old('event')} e left join (
  select event, min(accepted_ms) as accepted_ms from converted group by event
) d on d.event = e.position
where e.variant = 0;
insert into ${s}.body (event, variant, body)
  select position, variant, body from ${old('event')} where variant > 0;
insert into ${s}.event (position, timestamp_ms, accepted_ms, sequence, id, account_id, call_id, hook)
  select -nextval('${s}.position'), c.last_ms, c.last_ms, nullif(c.sequence, 0),
    'call/' || c.account_id || '/' || c.call_id, c.account_id, c.call_id, ''
  from ${old('call')} c
  where not exists (
    select from ${s}.event e where e.call_id = c.call_id and e.account_id = c.account_id and e.sequence >= c.sequence
  );
insert into ${s}.event (position, timestamp_ms, accepted_ms, id, account_id, call_id, other_leg, hook)
  select -nextval('${s}.position'), c.last_ms, c.last_ms,
    'leg/' || l.account_id || '/' || l.call_id || '/' || l.other, l.account_id, l.call_id, l.other, ''
  from ${old('call_leg')} l join ${old('call')} c on c.account_id = l.account_id and c.call_id = l.call_id
  order by l.position;
-- Attempts whose delivery is gone keep what they say about its event.
insert into ${s}.event (position, timestamp_ms, accepted_ms, id, account_id, call_id, hook)
  select -nextval('${s}.position'), r.at_ms, 0, r.event_id, r.account_id, r.call_id, r.hook
  from (
    select distinct on (event_id) * from recorded r
    where not exists (select from converted c where c.id = r.delivery_id)
      and not exists (select from ${s}.event e where e.id = r.event_id)
    order by event_id, position
  ) r;

insert into ${s}.waiting
  (position, event, lane, accepted_ms, due_ms, webhook_key, sequence, epoch, attempts, tries, interruptions, variant, form,
   id, replay_of, reason${failed ? `, ${failed}` : ''})
select c.at, c.event, l.key, c.accepted_ms, case when c.attempts > 0 then c.due_ms end, c.webhook_key,
  c.sequence, c.epoch, c.attempts, c.tries, c.interruptions, c.variant, c.form, c.stored_id, c.replay_of, c.reason
  ${failed ? `, c.${failed}` : ''}
from converted c join (
  select lane, pg_temp.lane_key(lane) as key from (select distinct lane from converted where state < 2) d
) l on l.lane = c.lane
where c.state < 2;

insert into ${s}.attempt
  (position, event, delivery, lane, at_ms, accepted_ms, ended_ms, webhook_key, epoch, n, attempts, tries, interruptions,
   variant, form, state, id, replay_of, reason, doc${failed ? `, ${failed}` : ''})
select r.position, coalesce(c.event, e.position), coalesce(c.at, r.position), 0, r.at_ms, coalesce(c.accepted_ms, 0),
  case when x.ends then c.ended_ms end, r.webhook_key, coalesce(c.epoch, 0), r.n, coalesce(r.n, c.attempts, 0),
  coalesce(c.tries, 0), coalesce(c.interruptions, 0), coalesce(c.variant, 0), coalesce(c.form, 2),
  case when x.ends then c.state else 0 end, coalesce(c.stored_id, pg_temp.stored_id(r.delivery_id, r.event_id)), c.replay_of,
  case when x.ends then c.reason end, r.doc${failed ? `, case when x.ends then c.${failed} end` : ''}
from recorded r left join converted c on c.id = r.delivery_id
left join ${s}.event e on c.id is null and e.id = r.event_id
cross join lateral (select c.state >= 2 and r.is_last and coalesce(r.n, c.attempts) = c.attempts as ends) x;
insert into ${s}.attempt
  (event, delivery, lane, at_ms, accepted_ms, ended_ms, webhook_key, epoch, attempts, tries, interruptions, variant, form,
   state, id, replay_of, reason${failed ? `, ${failed}` : ''})
select c.event, c.at, 0, c.ended_ms, c.accepted_ms, c.ended_ms, c.webhook_key, c.epoch, c.attempts, c.tries,
  c.interruptions, c.variant, c.form, c.state, c.stored_id, c.replay_of, c.reason${failed ? `, c.${failed}` : ''}
from converted c where c.state >= 2 and not exists (
  select from recorded r where r.delivery_id = c.id and r.is_last and coalesce(r.n, c.attempts) = c.attempts
);

with lost as (select nextval('${s}.fence')::int as fence),
  entries as (
    select (row_number() over (order by webhook_key, at) - 1) / 100 as part, webhook_key, at, attempts
    from converted where state = 1
  ), written as (
    insert into ${s}.start (fence, n, part, entries)
    select l.fence, 1 + e.part, 0,
      string_agg(int4send(e.webhook_key) || int8send(e.at) || int4send(e.attempts + 1), '')
    from entries e cross join lost l group by l.fence, e.part returning fence
  )
insert into ${s}.takeover (shard, fence)
  select s.id, f.fence from ${s}.shard s cross join (select distinct fence from written) f;
drop table converted, recorded;
`

/**
 * Replaces the tables in which rows were the queue.
 *
 * @param s name of the schema, quoted
 */
export const queueLogTables = (s: string): string => `
${LEGACY_TABLES.map((table) => `alter table ${s}.${table} rename to old_${table};`).join('\n')}
drop table ${s}.node, ${s}.shard, ${s}.lane, ${s}.pending, ${s}.nudge;
drop index ${s}.event_account;
${tables(s)}
${conversion(s, (table) => `${s}.old_${table}`, 'null')}
drop table ${LEGACY_TABLES.map((table) => `${s}.old_${table}`).join(', ')};
alter table ${s}.webhook drop column origin, drop column paused_ms, drop column failing, drop column probed,
  drop column stale;
create index webhook_shard on ${s}.webhook (shard, key);
${indexes(s)}
${vacuumed(s)}
`
