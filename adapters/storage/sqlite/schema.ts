/**
 * Tables and indexes of migration 1. All names begin with `hookswitch_`, because the file may be the host's.
 *
 * - Accounts, webhooks, calls and events have an integer `key`, which the indexes of large tables contain instead of an id.
 *   The key of a webhook is never reused: many caches hold it.
 * - Ids and names in large tables are indexed by an integer hash (`hashKey`, `idHashKey`); queries also compare the string.
 *   Such an index is a third of the size of one on strings, and page splits leave no copies of strings behind.
 * - `state` of a delivery: 0 waiting and never tried, 1 waiting for a retry, 2 in flight, above 2 ended (`state-codes.ts`).
 *   First attempts and retries are separate ranges of one index, each ordered by due time.
 * - An index in which rows written at the same time are far apart costs a page of the log per row, more than everything
 *   else. Therefore attempt records are indexed by webhook and call only (those of an account are found through its
 *   webhooks), and an event is found through its deliveries.
 * - A column that becomes null removes the row from its partial index, and the WHERE of such an index names no other
 *   column. A change of `state` alone therefore touches only `hookswitch_delivery_queue` (SQLite rewrites an index entry
 *   whenever a column of the index's WHERE is set).
 */
export const SCHEMA_1 = `
create table hookswitch_account (
  id text primary key, realm_key text not null, name_key text not null, parent_id text, doc text not null
) without rowid;
create unique index hookswitch_account_realm on hookswitch_account (realm_key);
create index hookswitch_account_name on hookswitch_account (name_key);
create index hookswitch_account_parent on hookswitch_account (parent_id) where parent_id is not null;
create table hookswitch_gone_account (id text primary key) without rowid;
create table hookswitch_api_key (account_id text primary key, hash text not null, doc text not null) without rowid;
create unique index hookswitch_api_key_hash on hookswitch_api_key (hash);

create table hookswitch_user (
  account_id text not null, id text not null, name_lower text not null, doc text not null,
  primary key (account_id, id)
) without rowid;
create unique index hookswitch_user_name on hookswitch_user (account_id, name_lower);
create table hookswitch_credential (
  account_id text not null, key text not null, user_id text not null, primary key (account_id, key)
) without rowid;

create table hookswitch_token (
  hash text primary key, account_id text not null, user_id text, expires_ms integer not null, doc text not null
) without rowid;
create index hookswitch_token_account on hookswitch_token (account_id);
create index hookswitch_token_expires on hookswitch_token (expires_ms);

create table hookswitch_account_key (key integer primary key, id text not null unique);

create table hookswitch_webhook (
  key integer primary key, id text not null unique, account integer not null, hook text not null,
  epoch integer not null, deleted_ms integer, health text, doc text not null
);
create index hookswitch_webhook_account on hookswitch_webhook (account, hook, deleted_ms);
create index hookswitch_webhook_deleted on hookswitch_webhook (deleted_ms) where deleted_ms is not null;

create table hookswitch_call (
  key integer primary key, account integer not null, call_key integer not null, sequence integer not null,
  last_ms integer not null, call_id text not null, others text
);
create index hookswitch_call_id on hookswitch_call (account, call_key);

create table hookswitch_event (
  key integer primary key, id text not null, account integer not null, call integer, call_id text,
  hook text not null, timestamp_ms integer not null, variants integer not null, traceparent text,
  body text not null
);
create index hookswitch_event_call on hookswitch_event (call) where call is not null;
create index hookswitch_event_no_call on hookswitch_event (account) where call is null;
create table hookswitch_body (
  event integer not null, variant integer not null, body text not null, primary key (event, variant)
) without rowid;

create table hookswitch_delivery (
  position integer primary key, id_key integer not null, webhook integer not null, event integer not null,
  epoch integer not null, state integer not null, due_ms integer, attempts integer not null,
  tries integer not null, interruptions integer not null, fence integer not null, term integer,
  lane_key integer, variant integer not null, accepted_ms integer not null, ended_ms integer,
  last_attempt integer, call integer, id text not null, encoding text not null,
  http_verb text not null, reason text, replay_of text, lane text
);
create index hookswitch_delivery_id on hookswitch_delivery (id_key);
create index hookswitch_delivery_webhook on hookswitch_delivery (webhook, position, accepted_ms);
create index hookswitch_delivery_queue on hookswitch_delivery (webhook, epoch, state, due_ms) where state <= 1;
create index hookswitch_delivery_lane on hookswitch_delivery (webhook, lane_key) where lane_key is not null;
create index hookswitch_delivery_term on hookswitch_delivery (term) where term is not null;
create index hookswitch_delivery_ended on hookswitch_delivery (ended_ms) where ended_ms is not null;
create index hookswitch_delivery_event on hookswitch_delivery (event);
create index hookswitch_delivery_call on hookswitch_delivery (call) where call is not null;

create table hookswitch_attempt (
  position integer primary key, webhook integer not null, call integer, delivery integer not null, before integer,
  at_ms integer not null, doc text not null
);
create index hookswitch_attempt_webhook on hookswitch_attempt (webhook, position, at_ms);
create index hookswitch_attempt_call on hookswitch_attempt (call) where call is not null;

create table hookswitch_idempotency (
  account integer not null, key text not null, event_id text not null, sequence integer not null,
  body_hash text not null, until_ms integer not null, call integer, primary key (account, key)
) without rowid;
create index hookswitch_idempotency_until on hookswitch_idempotency (until_ms);
create index hookswitch_idempotency_call on hookswitch_idempotency (call) where call is not null;

create table hookswitch_inbox (
  id integer primary key, event_id text not null, account_id text not null, call_id text,
  event text not null, traceparent text
);
create index hookswitch_inbox_event on hookswitch_inbox (event_id);
`
