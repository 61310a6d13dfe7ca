/**
 * Tables of accounts, users, keys, tokens and webhooks. Fields that are never searched are in one JSON text, `doc`:
 * `text` and not `jsonb`, because SQL never reads it, and because it may contain what `jsonb` rejects (`\u0000`). Ids
 * are compared by their bytes (`"C"`): cheaper, and the same in every database.
 *
 * Times are milliseconds and may have fractions, as in the core: `double precision`.
 *
 * @param s name of the schema, quoted
 */
export const accountTables = (s: string): string => `
create table ${s}.account (
  id        text collate "C" primary key,
  realm_key text collate "C" not null constraint account_realm unique,
  name_key  text collate "C" not null,
  parent_id text collate "C",
  doc       text not null
);
create index account_name on ${s}.account (name_key);
create index account_parent on ${s}.account (parent_id) where parent_id is not null;

-- Ids of removed accounts, which are never assigned again.
create table ${s}.gone_account (id text collate "C" primary key);

create table ${s}.api_key (
  account_id text collate "C" primary key,
  hash       text collate "C" not null constraint api_key_hash unique,
  doc        text not null
);

create table ${s}.account_user (
  account_id text collate "C" not null,
  id         text collate "C" not null,
  name_key   text collate "C" not null,
  doc        text not null,
  primary key (account_id, id),
  constraint account_user_name unique (account_id, name_key)
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

-- The row of a deleted webhook stays, for its attempts. \`key\` identifies it in the tables of the queue. The columns
-- from \`shard\` on repeat parts of \`doc\` and \`health\`, so that no statement on the path of an event reads \`doc\`.
-- \`stale\`: deliveries of an older epoch may be waiting. \`health\` is written by settlements.
create table ${s}.webhook (
  id         text collate "C" primary key,
  key        integer generated always as identity constraint webhook_key unique,
  account_id text collate "C" not null,
  hook       text collate "C" not null,
  revision   integer not null,
  epoch      integer not null,
  deleted_ms double precision,
  shard      smallint not null,
  origin     text not null,
  paused_ms  double precision not null,
  failing    boolean not null,
  probed     boolean not null,
  stale      boolean not null default false,
  doc        text not null,
  health     text
) with (fillfactor = 70);
create index webhook_account on ${s}.webhook (account_id, hook) where deleted_ms is null;
create index webhook_of_account on ${s}.webhook (account_id, key);
create index webhook_stale on ${s}.webhook (key) where stale;
create index webhook_deleted on ${s}.webhook (deleted_ms) where deleted_ms is not null;
`

/**
 * Indexes of the queue's tables for queries, pruning and erasure. They cost little on the path of a delivery:
 * `delivery_failed` contains only failed deliveries, `call_last` is updated once an hour per call.
 */
export const maintenanceIndexes = (s: string): string => `
create index delivery_failed on ${s}.delivery (webhook_key, position) where state in (3, 4, 6);
create index event_account on ${s}.event (account_id, position) where variant = 0;
create index call_last on ${s}.call (last_ms);
create index idempotency_call on ${s}.idempotency (account_id, call_id) where call_id is not null;
`
