/**
 * Tables of the queue. All deliveries are in one table; waiting, in-flight and ended rows are found by partial indexes.
 * The states in their predicates are literals (0 waiting, 1 in flight, 2 and up ended; `STATES` in `rows.ts`), as in
 * every statement, since a parameter would hide the index from a generic plan.
 *
 * What an event and its deliveries share is stored once, in `event`: account, call, kind, time, trace context, and one
 * row per distinct body. A claim and a settlement rewrite the row of a delivery, so it contains only what they change
 * and what indexes need. An event is stored as long as a delivery refers to it.
 *
 * `webhook.key` identifies a webhook in these tables: four bytes instead of its id in every index.
 *
 * There are no foreign keys: each would be checked row by row on the path of an event, and every reference is written
 * in a transaction that has its target locked or has just written it.
 *
 * @param s name of the schema, quoted
 */
export const queueTables = (s: string): string => `
-- Positions of deliveries, events, attempts and legs: one order for the whole store.
create sequence ${s}.position;

-- Owners of shards of webhooks. \`term\` is raised each time a shard gets a new owner.
create table ${s}.shard (
  id             smallint primary key,
  owner          text collate "C",
  alive_until_ms double precision not null default 0,
  leaving        boolean not null default false,
  term           integer not null default 0
) with (fillfactor = 50);
insert into ${s}.shard (id) select generate_series(0, 63);

-- Nodes that own shards or want to.
create table ${s}.node (
  owner          text collate "C" primary key,
  alive_until_ms double precision not null
) with (fillfactor = 50);

-- Number of pending deliveries, split over slots so that transactions do not wait for each other; the sum counts.
create table ${s}.pending (
  slot       smallint primary key,
  deliveries bigint not null default 0
) with (fillfactor = 25);
insert into ${s}.pending (slot) select generate_series(0, 63);

create table ${s}.event (
  position     bigint not null,
  variant      integer not null,
  timestamp_ms double precision not null,
  id           text collate "C" not null,
  account_id   text collate "C" not null,
  call_id      text collate "C",
  hook         text not null,
  traceparent  text,
  body         text not null,
  primary key (position, variant)
);
create index event_call on ${s}.event (call_id) where call_id is not null;

-- Only waiting heads of lanes have a due time. \`retry\`: was attempted before. \`term\` and \`claim\`: term of its
-- shard and token at the last claim.
create table ${s}.delivery (
  position      bigint not null default nextval('${s}.position'),
  event         bigint not null,
  due_ms        double precision,
  accepted_ms   double precision not null,
  ended_ms      double precision,
  claim         bigint,
  webhook_key   integer not null,
  variant       integer not null,
  epoch         integer not null,
  attempts      integer not null default 0,
  tries         integer not null default 0,
  interruptions integer not null default 0,
  fence         integer not null default 0,
  term          integer not null default 0,
  shard         smallint not null,
  state         smallint not null default 0,
  retry         boolean not null default false,
  id            text collate "C" constraint delivery_id primary key,
  lane          text collate "C" not null,
  encoding      text not null,
  http_verb     text not null,
  replay_of     text,
  reason        text
) with (fillfactor = 85);
create index delivery_listed on ${s}.delivery (webhook_key, position);
create index delivery_event on ${s}.delivery (event);
create index delivery_head on ${s}.delivery (webhook_key, epoch, retry, due_ms, position)
  where state = 0 and due_ms is not null;
create index delivery_behind on ${s}.delivery (webhook_key, lane, position) where state = 0 and due_ms is null;
create index delivery_flying on ${s}.delivery (shard, term) where state = 1;
create index delivery_ended on ${s}.delivery (ended_ms) where state >= 2;

-- Lanes with open deliveries. A transaction that adds or ends a delivery locks the row of its lane.
create table ${s}.lane (
  webhook_key integer not null,
  open        integer not null,
  lane        text collate "C" not null,
  primary key (webhook_key, lane)
) with (fillfactor = 70);

create table ${s}.attempt (
  position    bigint not null default nextval('${s}.position'),
  at_ms       double precision not null,
  webhook_key integer not null,
  account_id  text collate "C" not null,
  delivery_id text collate "C" not null,
  call_id     text collate "C",
  doc         text not null
);
create index attempt_webhook on ${s}.attempt (webhook_key, position);
create index attempt_account on ${s}.attempt (account_id, position);
create index attempt_call on ${s}.attempt (account_id, call_id, position) where call_id is not null;
create index attempt_at on ${s}.attempt (at_ms);

-- Sequence numbers and legs of calls, separately for each account.
create table ${s}.call (
  last_ms    double precision not null,
  sequence   integer not null,
  account_id text collate "C" not null,
  call_id    text collate "C" not null,
  primary key (account_id, call_id)
) with (fillfactor = 70);
create table ${s}.call_leg (
  position   bigint not null default nextval('${s}.position'),
  account_id text collate "C" not null,
  call_id    text collate "C" not null,
  other      text collate "C" not null,
  primary key (account_id, call_id, other)
);

create table ${s}.idempotency (
  until_ms   double precision not null,
  sequence   integer not null,
  account_id text collate "C" not null,
  key        text collate "C" not null,
  call_id    text collate "C",
  event_id   text not null,
  body_hash  text not null,
  primary key (account_id, key)
) with (fillfactor = 70);
create index idempotency_until on ${s}.idempotency (until_ms);

-- Events that hosts write in their own transactions, which lock nothing else of ours.
create table ${s}.inbox (
  position    bigint not null default nextval('${s}.position'),
  shard       smallint not null,
  event_id    text collate "C" constraint inbox_event primary key,
  account_id  text collate "C" not null,
  call_id     text collate "C",
  event       text not null,
  traceparent text
);
create index inbox_order on ${s}.inbox (shard, position);

-- Endpoints whose owner may not know yet that they are due. Unlogged: after a crash of the server every node scans its
-- shards.
create unlogged table ${s}.nudge (
  webhook_key integer not null,
  shard       smallint not null
);
create index nudge_shard on ${s}.nudge (shard);
${vacuumed(s)}`

/** Tables that change with every event: VACUUM removes their dead rows early, whatever the size of the table. */
const HOT = ['delivery', 'lane', 'event', 'call', 'shard', 'node', 'pending', 'inbox', 'nudge', 'webhook']

const vacuumed = (s: string) =>
  HOT.map(
    (table) =>
      `alter table ${s}.${table} set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);`,
  ).join('\n')
