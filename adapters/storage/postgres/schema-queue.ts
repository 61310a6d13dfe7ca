/**
 * Tables of the queue. One table of deliveries, whose waiting, flying and ended rows are found by partial indexes: the
 * states in their predicates are literals (0 waiting, 1 in flight, 2 and up ended; `STATES` in `rows.ts`), and so they
 * are in every statement, since a parameter there would hide the index from a generic plan.
 *
 * What an event and its deliveries share is kept once, in `event`: account, call, kind, time, trace context and one row
 * for each distinct body. A delivery's row is rewritten by its claim and its settlement, so it holds only what those
 * change and what indexes need. Events are there as long as a delivery refers to them, and no longer than that.
 *
 * `webhook.key` is a webhook's short name in here: four bytes instead of its id in every index.
 *
 * Nothing is declared to refer to anything: every reference would be checked row by row on the way of an event, and
 * each is written in the transaction that knows that its target is there.
 *
 * @param s the schema's name, quoted
 */
export const queueTables = (s: string): string => `
-- Order of the whole store: of deliveries, events, records and legs.
create sequence ${s}.position;

-- Who works on which webhooks. \`term\` is raised whenever a shard gets an owner anew.
create table ${s}.shard (
  id             smallint primary key,
  owner          text collate "C",
  alive_until_ms double precision not null default 0,
  leaving        boolean not null default false,
  term           integer not null default 0
) with (fillfactor = 50);
insert into ${s}.shard (id) select generate_series(0, 63);

-- Nodes that work here, or want to.
create table ${s}.node (
  owner          text collate "C" primary key,
  alive_until_ms double precision not null
) with (fillfactor = 50);

-- Waiting and in flight, in parts that nobody has to wait for: the sum is what counts.
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

-- Only heads of lanes that wait have a due time. \`retry\`: was attempted before. \`term\` and \`claim\`: under which
-- term of its shard, and by which call, it was claimed last.
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

-- Only lanes that are not empty. What is written or ended in a lane is written under its row's lock.
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

-- Numbers and legs of calls, as each account knows them.
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

-- What hosts write in their own transactions, and nothing else of ours.
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

-- Endpoints whose owner may not know yet that they are due. Unlogged: after a crash of the server every node looks for
-- itself.
create unlogged table ${s}.nudge (
  webhook_key integer not null,
  shard       smallint not null
);
create index nudge_shard on ${s}.nudge (shard);
${vacuumed(s)}`

/** Tables whose rows come, change and go with every event: their dead rows are removed early, however many live. */
const HOT = ['delivery', 'lane', 'event', 'call', 'shard', 'node', 'pending', 'inbox', 'nudge', 'webhook']

const vacuumed = (s: string) =>
  HOT.map(
    (table) =>
      `alter table ${s}.${table} set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);`,
  ).join('\n')
