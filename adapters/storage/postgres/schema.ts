/**
 * The tables of version 1.
 *
 * **Documents.** Fields that are never searched are in one JSON text, `doc`: `text` and not `jsonb`, because SQL never reads it,
 * and because it may contain what `jsonb` rejects (`\u0000`).
 *
 * **Types.** Ids are compared by their bytes (`"C"`): cheaper, and the same in every database. Times are milliseconds and may
 * have fractions, as in the core: `double precision`.
 *
 * **No foreign keys**: each would be checked row by row on the path of an event.
 *
 * **Early VACUUM.** Tables that change with every event or call have a threshold of 1,000 dead rows, whatever their size.
 */
import { COUNT_COLUMNS } from './stats-columns.js'

/** VACUUM removes dead rows early. */
const HOT = 'autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000'

/** Accounts, users, keys, tokens, open legs and the record of the service secrets in use. */
const accountTables = (s: string): string => `
create table ${s}.account (
  id           text collate "C" primary key,
  realm_key    text collate "C" not null constraint account_realm unique,
  name_key     text collate "C" not null,
  parent_id    text collate "C",
  doc          text not null,
  sort_key     text collate "C" generated always as (doc::json ->> 'name') stored,
  realm_search text collate "C" generated always as (translate(realm_key, '.-_', '')) stored
);
create index account_name on ${s}.account (name_key);
create index account_children on ${s}.account (parent_id, sort_key, id) where parent_id is not null;
create index account_sorted on ${s}.account (sort_key, id);

-- Ids of removed accounts, which are never assigned again.
create table ${s}.gone_account (id text collate "C" primary key);

create table ${s}.api_key (
  account_id text collate "C" primary key,
  hash       text collate "C" not null constraint api_key_hash unique,
  doc        text not null
);

-- \`sort_key\` is what \`userSortKey\` computes.
create table ${s}.account_user (
  account_id text collate "C" not null,
  id         text collate "C" not null,
  name_key   text collate "C" not null,
  doc        text not null,
  sort_key   text collate "C" generated always as (
    coalesce(doc::json ->> 'lastName', '-') || ' ' || coalesce(doc::json ->> 'firstName', doc::json ->> 'username', id)
  ) stored,
  primary key (account_id, id),
  constraint account_user_name unique (account_id, name_key)
);
create index account_user_sorted on ${s}.account_user (account_id, sort_key, id);

-- Ids of removed users, which are never assigned again.
create table ${s}.gone_user (
  account_id text collate "C" not null,
  id         text collate "C" not null,
  primary key (account_id, id)
);

create table ${s}.credential (
  account_id text collate "C" not null,
  key        text collate "C" not null,
  user_id    text collate "C" not null,
  primary key (account_id, key)
);
create index credential_user on ${s}.credential (account_id, user_id);

create table ${s}.token (
  hash       text collate "C" primary key,
  account_id text collate "C" not null,
  user_id    text collate "C",
  expires_ms double precision not null,
  doc        text not null
);
create index token_account on ${s}.token (account_id);
create index token_expiry on ${s}.token (expires_ms);

create table ${s}.hold (scope text collate "C" primary key);

create table ${s}.encryption (id smallint primary key check (id = 1), record text not null);

-- Open legs of event sources. A row is written when its call begins, replaced when it changes, and removed at its end.
-- \`added_ms\` never changes: an update of \`state\` touches no index.
create table ${s}.open_leg (
  added_ms   double precision not null,
  source     text collate "C" not null,
  call_id    text collate "C" not null,
  account_id text collate "C" not null,
  state      text not null,
  primary key (source, call_id)
) with (fillfactor = 70, ${HOT});
create index open_leg_account on ${s}.open_leg (account_id, call_id);
create index open_leg_added on ${s}.open_leg (added_ms);
`

/**
 * Webhooks, and a change mark per account, which shows whether its webhooks have changed since they were read. The mark is
 * random, not a counter: it never returns to an earlier value, even on a server that lost its last changes in a failover. A
 * trigger writes it, so that no statement can forget to, manual ones included. Health does not count: it changes with every
 * failure, and has no influence on which webhooks match.
 *
 * A transaction that changes webhooks writes the rows of their accounts last, and sorted, so that they cause no deadlock.
 */
const webhookTables = (s: string): string => `
-- The row of a deleted webhook stays, for its attempts. \`key\` identifies it in the tables of the queue: four bytes instead of
-- its id in every index. \`health\` is written by settlements. \`sort_key\` is the name. It is no generated column, because a
-- document may contain a NUL, which no JSON function of the server accepts.
create table ${s}.webhook (
  id         text collate "C" primary key,
  key        integer generated always as identity constraint webhook_key unique,
  account_id text collate "C" not null,
  hook       text collate "C" not null,
  revision   integer not null,
  epoch      integer not null,
  deleted_ms double precision,
  shard      smallint not null,
  doc        text not null,
  health     text,
  sort_key   text collate "C" not null default ''
) with (fillfactor = 70, ${HOT});
create index webhook_account on ${s}.webhook (account_id, hook) where deleted_ms is null;
create index webhook_of_account on ${s}.webhook (account_id, key);
create index webhook_sorted on ${s}.webhook (account_id, sort_key, id) where deleted_ms is null;
create index webhook_shard on ${s}.webhook (shard, key);
create index webhook_deleted on ${s}.webhook (deleted_ms) where deleted_ms is not null;

create table ${s}.webhook_change (
  account_id text collate "C" primary key,
  mark       uuid not null
) with (fillfactor = 50);

create function ${s}.note_webhook_change() returns trigger language plpgsql as $hookswitch$
begin
  if tg_op <> 'UPDATE' then
    insert into ${s}.webhook_change (account_id, mark)
      select account_id, gen_random_uuid()
      from (select distinct account_id from written order by account_id) a
      on conflict (account_id) do update set mark = excluded.mark;
  else
    insert into ${s}.webhook_change (account_id, mark)
      select account_id, gen_random_uuid()
      from (
        select distinct w.account_id from written w join replaced r on r.key = w.key
        where (w.hook, w.epoch, w.deleted_ms, w.doc) is distinct from (r.hook, r.epoch, r.deleted_ms, r.doc)
        order by w.account_id
      ) a
      on conflict (account_id) do update set mark = excluded.mark;
  end if;
  return null;
end $hookswitch$;
create trigger webhook_inserted after insert on ${s}.webhook referencing new table as written
  for each statement execute function ${s}.note_webhook_change();
create trigger webhook_removed after delete on ${s}.webhook referencing old table as written
  for each statement execute function ${s}.note_webhook_change();
create trigger webhook_updated after update on ${s}.webhook
  referencing old table as replaced new table as written
  for each statement execute function ${s}.note_webhook_change();
`

/** Nodes, their leases, and what they tell each other. */
const nodeTables = (s: string): string => `
-- The store's clock (\`store-time.ts\`), in one row: what is added to the server's clock, and the latest store time that a lease
-- was granted at.
create table ${s}.store_clock (
  id        smallint primary key check (id = 0),
  offset_ms double precision not null,
  last_ms   double precision not null
) with (fillfactor = 25);
insert into ${s}.store_clock (id, offset_ms, last_ms) values (0, 0, 0);

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
) with (fillfactor = 10, ${HOT});

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
) with (fillfactor = 50, ${HOT});
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
) with (${HOT});
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

-- Deliveries that a node accepted for the shard of another. Unlogged: after a crash of the server every node loads anew.
create unlogged table ${s}.incoming (
  position    bigint not null,
  webhook_key integer not null,
  shard       smallint not null,
  xid         xid8 not null default pg_current_xact_id()
) with (${HOT});
create index incoming_shard on ${s}.incoming (shard, xid);

-- Items of live streams on their way to other nodes (\`live.ts\`). Both tables are unlogged: no write-ahead log, no replica and
-- no base backup contains them, and after a crash of the server they are empty. The arrays of a batch are parallel. An item is
-- null where its event was erased. Items are not compressed: they are written and read once.
create unlogged table ${s}.live_watch (
  reader  text collate "C" primary key,
  watches text not null,
  until   timestamptz not null
);
create unlogged table ${s}.live (
  writer      text collate "C" not null,
  number      bigint not null,
  at          timestamptz not null default now(),
  account_ids text[] not null,
  call_ids    text[] not null,
  items       text[] not null,
  primary key (writer, number)
) with (${HOT});
alter table ${s}.live alter column items set storage external;
`

/**
 * The log of the queues in the memory of nodes.
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
 * The states in predicates are literals (0 waiting, 2 and up ended; `STATES` in `rows.ts`), as in every statement, since a
 * parameter would hide the index from a generic plan.
 *
 * A replay has the event of its original, and the original has the position of that event: `event` of a replay is the position
 * of its original. The indexes by which a delivery finds its replays contain only replays.
 *
 * Each ended delivery is in one of three indexes by webhook and position (`sql/ended.ts`), and each attempt in one of three by
 * time. So a search for rows to remove does not read the rows that are kept for longer.
 */
const queueTables = (s: string): string => `
-- Positions of deliveries, events, attempts and entries of the inbox: one order for the whole store.
create sequence ${s}.position;

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
) with (${HOT});
create unique index event_id on ${s}.event (id);
create unique index event_number on ${s}.event (call_id, account_id, sequence);
create index event_other_leg on ${s}.event (other_leg) where other_leg is not null;
-- With \`OF_ALL_CALLS\` (\`sql/mentions\`): a statement about one call must not find it here.
create index event_account on ${s}.event (account_id, position) where accepted_ms >= 0;

create table ${s}.body (
  event   bigint not null,
  variant smallint not null,
  body    text not null,
  primary key (event, variant)
);

-- \`due_ms\` null: it has no retry to wait for. \`sequence\` 0: not numbered. \`failed_ms\`: its first failure, if any.
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
  failed_ms     double precision,
  primary key (webhook_key, position)
) with (fillfactor = 90, ${HOT});
create index waiting_event on ${s}.waiting (event);
create index waiting_replay on ${s}.waiting (position) where replay_of is not null;
create index waiting_replay_lane on ${s}.waiting (webhook_key, lane, position) where replay_of is not null;
create unique index waiting_whole_id on ${s}.waiting (id) where left(id, 1) = '!';

-- Rows are removed at any rate: VACUUM frees their space before the table has grown by a fifth.
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
  doc           text,
  failed_ms     double precision
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
create index attempt_webhook on ${s}.attempt (webhook_key, position) where doc is not null;
-- The failures of a webhook in order of their records: documents of successes begin with \`[1,\`.
create index attempt_failure on ${s}.attempt (webhook_key, position) where doc is not null and not starts_with(doc, '[1,');
create index attempt_event on ${s}.attempt (event);
create index attempt_whole_id on ${s}.attempt (id) where left(id, 1) = '!';
-- \`accepted_ms\` and \`form\` add 16 bytes per delivery: a count of 50,000 successes reads 360 pages instead of 48,000.
create index attempt_delivered on ${s}.attempt (webhook_key, delivery) include (attempts, n, accepted_ms, form)
  where state = 2 and replay_of is null;
create index attempt_undelivered on ${s}.attempt (webhook_key, delivery) include (state, accepted_ms, form, replay_of)
  where state > 2;
create index attempt_replayed on ${s}.attempt (webhook_key, delivery) where state = 2 and replay_of is not null;
-- Ended deliveries of all webhooks have \`OF_ALL_WEBHOOKS\` (\`sql/ended\`).
create index attempt_at_delivered on ${s}.attempt (at_ms) where state = 2 and replay_of is null and epoch >= 0;
create index attempt_at_ended on ${s}.attempt (at_ms)
  where (state > 2 or state = 2 and replay_of is not null) and epoch >= 0;
create index attempt_at_failed on ${s}.attempt (at_ms, position) where state < 2;
create index attempt_replay on ${s}.attempt (delivery) where replay_of is not null and state >= 2 and epoch >= 0;
create index attempt_of_original on ${s}.attempt (webhook_key, event, delivery) include (state)
  where state >= 2 and replay_of is not null;

create table ${s}.idempotency (
  until_ms   double precision not null,
  sequence   integer not null,
  account_id text collate "C" not null,
  key        text collate "C" not null,
  call_id    text collate "C",
  event_id   text not null,
  body_hash  text not null,
  primary key (account_id, key)
) with (fillfactor = 70, ${HOT});
create index idempotency_until on ${s}.idempotency (until_ms);
create index idempotency_call on ${s}.idempotency (account_id, call_id) where call_id is not null;

-- Events that hosts write in their own transactions, which lock nothing else of ours.
create table ${s}.inbox (
  position    bigint not null default nextval('${s}.position'),
  shard       smallint not null,
  event_id    text collate "C" constraint inbox_event primary key,
  account_id  text collate "C" not null,
  call_id     text collate "C",
  event       text not null,
  traceparent text
) with (${HOT});
create index inbox_order on ${s}.inbox (shard, position);
`

/** Replay jobs and statistics. */
const serviceTables = (s: string): string => `
-- Replay jobs. \`doc\`: what only the service reads.
create table ${s}.replay (
  created_ms double precision not null,
  ended_ms   double precision,
  revision   integer not null,
  id         text collate "C" primary key,
  account_id text collate "C",
  state      text not null,
  doc        text not null
) with (fillfactor = 50, ${HOT});
create index replay_created on ${s}.replay (created_ms, id);
create index replay_account on ${s}.replay (account_id, created_ms, id) where account_id is not null;
create index replay_unfinished on ${s}.replay (created_ms, id) where state in ('running', 'paused');
create index replay_ended on ${s}.replay (ended_ms) where ended_ms is not null;

-- Counts of the attempts of one slot of time, for a webhook, an account (\`webhook_id\` empty) or the service (both empty).
-- \`slot\`: minutes since 1970. The key begins with the slot, so that a flush changes pages that are in memory, and not one for
-- each webhook; a series is read by one look-up per slot. \`o0\` to \`o11\`: outcomes; \`d0\` to \`d11\`: buckets of durations
-- (\`stats/columns\`). \`causes\`: failed attempts by cause. A row is updated with each flush of its slot: the free space on its page keeps that out of the index.
create table ${s}.stat (
  step       smallint not null,
  slot       integer not null,
  account_id text collate "C" not null,
  webhook_id text collate "C" not null,
  ${COUNT_COLUMNS.map((column) => `${column} ${column === 'sum_ms' ? 'bigint' : 'integer'} not null`).join(',\n  ')},
  causes     jsonb,
  primary key (step, slot, account_id, webhook_id)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- The last batch of each instance, so that a repeated one is recognized.
create table ${s}.stat_writer (
  writer text collate "C" primary key,
  number integer not null,
  slot   integer not null
) with (fillfactor = 50);
`

/** The call index. Rows are added at the end, and removed from the beginning. */
const callIndexTables = (s: string): string => `
create table ${s}.unwanted_event (
  n            bigint generated always as identity primary key,
  accepted_ms  double precision not null,
  timestamp_ms double precision not null,
  sequence     integer not null,
  is_internal  boolean not null,
  id           text collate "C" not null constraint unwanted_event_id unique,
  account_id   text collate "C" not null,
  call_id      text collate "C" not null,
  hook         text not null,
  source       text not null
);
create index unwanted_event_call on ${s}.unwanted_event (call_id, n);
create index unwanted_event_account on ${s}.unwanted_event (account_id, n);

-- \`number\`: a keyed hash; 0: the call has no number.
create table ${s}.call_number (
  n           bigint generated always as identity primary key,
  number      bigint not null,
  accepted_ms double precision not null,
  account_id  text collate "C" not null,
  call_id     text collate "C" not null,
  source      text not null
);
create index call_number_number on ${s}.call_number (number, account_id, n);
create index call_number_call on ${s}.call_number (call_id, n);
create index call_number_account on ${s}.call_number (account_id, n);
`

/**
 * Creates all tables in an empty schema.
 *
 * @param s name of the schema, quoted
 */
export const createTables = (s: string): string =>
  accountTables(s) + webhookTables(s) + nodeTables(s) + queueTables(s) + serviceTables(s) + callIndexTables(s)
