/**
 * Tables and indexes of version 1. All names begin with `hookswitch_`, because the file may be the host's.
 *
 * - Accounts and webhooks have an integer `key`, which large tables contain instead of an id. The key of a webhook is never
 *   reused: many caches hold it.
 * - Ids and names in large tables are indexed by an integer hash (`hashKey`, `idHashKey`); queries also compare the string.
 *   Such an index is a third of the size of one on strings, and page splits leave no copies of strings behind.
 * - An index in which rows written at the same time are far apart costs a page of the log per row, more than everything
 *   else. Positions grow with time: rows are added to the end of a table, and of the indexes that begin with a position, on
 *   pages that are written anyway.
 * - A column that becomes null removes the row from its partial index, and the WHERE of such an index names no other column:
 *   SQLite rewrites an index entry whenever a column of the index's WHERE is set.
 */
import { COUNTED_ATTEMPTS } from './attempt-counts.js'
import { COUNT_COLUMNS } from './stats-columns.js'

/**
 * Pages of accounts and users are sorted by columns that are computed from the documents, as `userSortKey` computes them. Ids of
 * removed accounts and users are never assigned again.
 *
 * Hashes of API keys are random, so each new one changes another page of their index. Of 40 bits of a hash it is half as large, and
 * two of a million accounts rarely share them; the one writer of the file checks that the whole hash is unique.
 */
const ACCOUNTS = `
create table hookswitch_account (
  id text primary key, realm_key text not null, name_key text not null, parent_id text, doc text not null,
  sort_key text generated always as (json_extract(doc, '$.name')) virtual,
  realm_search text generated always as (replace(replace(replace(realm_key, '.', ''), '-', ''), '_', '')) virtual
) without rowid;
create unique index hookswitch_account_realm on hookswitch_account (realm_key);
create index hookswitch_account_name on hookswitch_account (name_key);
create index hookswitch_account_children on hookswitch_account (parent_id, sort_key, id) where parent_id is not null;
create index hookswitch_account_sorted on hookswitch_account (sort_key, id);
create table hookswitch_gone_account (id text primary key) without rowid;
create table hookswitch_account_key (key integer primary key, id text not null unique);
create table hookswitch_api_key (account_id text primary key, hash text not null, doc text not null) without rowid;
create index hookswitch_api_key_hash on hookswitch_api_key (substr(hash, 1, 10));

create table hookswitch_user (
  account_id text not null, id text not null, name_lower text not null, doc text not null,
  sort_key text generated always as (
    ifnull(json_extract(doc, '$.lastName'), '-') || ' ' ||
    coalesce(json_extract(doc, '$.firstName'), json_extract(doc, '$.username'), id)
  ) virtual,
  primary key (account_id, id)
) without rowid;
create unique index hookswitch_user_name on hookswitch_user (account_id, name_lower);
create index hookswitch_user_sorted on hookswitch_user (account_id, sort_key, id);
create table hookswitch_gone_user (
  account_id text not null, id text not null, primary key (account_id, id)
) without rowid;
create table hookswitch_credential (
  account_id text not null, key text not null, user_id text not null, primary key (account_id, key)
) without rowid;

create table hookswitch_token (
  hash text primary key, account_id text not null, user_id text, expires_ms integer not null, doc text not null
) without rowid;
create index hookswitch_token_account on hookswitch_token (account_id);
create index hookswitch_token_expires on hookswitch_token (expires_ms);
`

/** The record of the service secrets in use is one row. */
const WEBHOOKS = `
create table hookswitch_webhook (
  key integer primary key, id text not null unique, account integer not null, hook text not null,
  epoch integer not null, deleted_ms integer, health text, doc text not null,
  sort_key text generated always as (json_extract(doc, '$.settings.name')) virtual
);
create index hookswitch_webhook_account on hookswitch_webhook (account, hook, deleted_ms);
create index hookswitch_webhook_deleted on hookswitch_webhook (deleted_ms) where deleted_ms is not null;
create index hookswitch_webhook_sorted on hookswitch_webhook (account, sort_key, id) where deleted_ms is null;
create table hookswitch_encryption (id integer primary key check (id = 1), record text not null);
create table hookswitch_hold (scope text primary key) without rowid;
`

/**
 * - `hookswitch_event` is indexed by a key of the first 24 digits of its id, with which the ids of its deliveries begin.
 *   Deliveries with other ids are in `hookswitch_delivery_id`.
 * - `hookswitch_open_leg`: open legs of event sources. A row lives as long as its call, and is read when a source starts, when
 *   rows are erased, and by retention.
 */
const EVENTS = `
create table hookswitch_call (
  key integer primary key, account integer not null, call_key integer not null, sequence integer not null,
  last_ms integer not null, call_id text not null, others text
);
create index hookswitch_call_id on hookswitch_call (call_key, account);
create index hookswitch_call_account on hookswitch_call (account);

create table hookswitch_event (
  position integer primary key, id_key integer not null, id text not null, account integer not null, call integer,
  call_id text, sequence integer not null, hook text not null, timestamp_ms integer not null,
  variants integer not null, traceparent text, body text not null
);
create index hookswitch_event_id on hookswitch_event (id_key);
create index hookswitch_event_of_call on hookswitch_event (call) where call is not null;
create index hookswitch_event_no_call on hookswitch_event (account) where call is null;
create index hookswitch_event_unsent on hookswitch_event (position) where variants = 0;
create table hookswitch_body (
  event integer not null, variant integer not null, body text not null, primary key (event, variant)
) without rowid;

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

create table hookswitch_open_leg (
  source text not null, call_id text not null, account_id text not null, added_ms integer not null, state text not null,
  primary key (source, call_id)
) without rowid;
create index hookswitch_open_leg_account on hookswitch_open_leg (account_id, call_id);
create index hookswitch_open_leg_added on hookswitch_open_leg (added_ms);
`

/**
 * - A delivery is a row of `hookswitch_waiting` until it ends, and from then on the row of `hookswitch_attempt` that has a
 *   `state` (`state-codes.ts`). Both are identified by webhook and position. The first delivery of an event to a webhook has the
 *   event's position, and then `event` is null; a replay has its own position, and `event` is the position of its original.
 * - `id` of a delivery: the last 8 digits, or `/` and the whole id (`delivery-ids.ts`). `format`: lane kind, method and
 *   encoding (`formats.ts`). `failed_ms`: the first failure of a delivery; null: there was none.
 * - `doc` of an attempt contains what nothing else contains (`attempt-doc.ts`); null: the delivery ended without a record. A
 *   record of a success begins with `[1`. `hookswitch_request` has one row per distinct request of a webhook, apart from what
 *   differs between attempts.
 * - `hookswitch_waiting_webhook` tells whether a delivery that waits is cancelled by its epoch, and `hookswitch_attempt_end` what
 *   an ended delivery counts for, both without the row. `…_original`: the replays of a delivery.
 * - `hookswitch_start`: the starts of a group, with the term of its owner; `deliveries` is a JSON array of webhook key,
 *   position, attempt and epoch, one after the other.
 * - `hookswitch_replay`: the jobs. `doc` is what only the service reads.
 */
const DELIVERIES = `
create table hookswitch_waiting (
  position integer not null, webhook integer not null, event integer, lane integer not null, sequence integer not null,
  epoch integer not null, attempts integer not null, tries integer not null, interruptions integer not null,
  due_ms integer, accepted_ms integer not null, variant integer not null, format integer not null,
  id text not null, reason text, replay_of text, failed_ms integer, primary key (position, webhook)
) without rowid;
create index hookswitch_waiting_event on hookswitch_waiting (event) where event is not null;
create index hookswitch_waiting_webhook on hookswitch_waiting (webhook, position, epoch);
create index hookswitch_waiting_original on hookswitch_waiting (webhook, event, epoch) where event is not null;

create table hookswitch_attempt (
  key integer primary key, position integer not null, webhook integer not null, event integer,
  at_ms integer not null, variant integer not null, format integer not null, state integer, attempts integer,
  tries integer, interruptions integer, epoch integer, lane integer, accepted_ms integer, ended_ms integer,
  request integer, id text not null, doc text, reason text, replay_of text, failed_ms integer
);
create index hookswitch_attempt_delivery on hookswitch_attempt (position, webhook);
create index hookswitch_attempt_event on hookswitch_attempt (event) where event is not null;
create index hookswitch_attempt_webhook on hookswitch_attempt (webhook, key, at_ms) where doc is not null;
create index hookswitch_attempt_failure on hookswitch_attempt (webhook, key, at_ms)
  where doc is not null and substr(doc, 1, 2) <> '[1';
create index hookswitch_attempt_end
  on hookswitch_attempt (webhook, position, accepted_ms, state, event, format, ${COUNTED_ATTEMPTS}) where state is not null;
create index hookswitch_attempt_original on hookswitch_attempt (webhook, event, state)
  where event is not null and state is not null;

create table hookswitch_request (key integer primary key, webhook integer not null, request text not null);
create index hookswitch_request_webhook on hookswitch_request (webhook);
create table hookswitch_delivery_id (
  id_key integer not null, webhook integer not null, position integer not null, primary key (id_key, webhook, position)
) without rowid;
create table hookswitch_start (
  term integer not null, key integer not null, deliveries text not null, primary key (term, key)
) without rowid;

create table hookswitch_replay (
  id text primary key, account_id text, state text not null, created_ms integer not null, ended_ms integer,
  revision integer not null, doc text not null
);
create index hookswitch_replay_created on hookswitch_replay (created_ms, id);
create index hookswitch_replay_account on hookswitch_replay (account_id, created_ms, id) where account_id is not null;
create index hookswitch_replay_unfinished on hookswitch_replay (created_ms, id) where state in ('running', 'paused');
create index hookswitch_replay_ended on hookswitch_replay (ended_ms) where ended_ms is not null;
`

/**
 * - `hookswitch_stat`: counts of the attempts of one slot of time, for a webhook, an account (`webhook_id` empty) or the service
 *   (both empty). `slot`: minutes since 1970. The key begins with the slot, so that a flush writes to the ends of two ranges
 *   and not to a page for each webhook; a series is read by one look-up per slot. `o0` to `o11`: outcomes; `d0` to `d11`:
 *   buckets of durations (`stats/columns`). SQLite stores a 0 without a byte. `causes`: failed attempts by cause, as a JSON
 *   object; null: there are none.
 * - `hookswitch_stat_writer`: the last batch of each instance, so that a repeated one is recognized.
 */
const STATISTICS = `
create table hookswitch_stat (
  step integer not null, slot integer not null, account_id text not null, webhook_id text not null,
  ${COUNT_COLUMNS.map((column) => `${column} integer not null`).join(', ')}, causes text,
  primary key (step, slot, account_id, webhook_id)
) without rowid;
create table hookswitch_stat_writer (
  writer text primary key, number integer not null, slot integer not null
) without rowid;
`

/**
 * The call index. `number`: a keyed hash. Rows are added at the end, and removed from the beginning.
 */
const CALL_INDEX = `
create table hookswitch_unwanted (
  key integer primary key, id_key integer not null, id text not null, account integer not null, call_key integer not null,
  call_id text not null, hook text not null, sequence integer not null, timestamp_ms integer not null,
  accepted_ms integer not null, source text not null, internal integer not null
);
create index hookswitch_unwanted_id on hookswitch_unwanted (id_key);
create index hookswitch_unwanted_call on hookswitch_unwanted (call_key);
create index hookswitch_unwanted_account on hookswitch_unwanted (account);
create table hookswitch_call_number (
  key integer primary key, number integer not null, account integer not null, call_key integer not null,
  call_id text not null, accepted_ms integer not null, source text not null
);
create index hookswitch_call_number_number on hookswitch_call_number (number, account);
create index hookswitch_call_number_call on hookswitch_call_number (call_key);
create index hookswitch_call_number_account on hookswitch_call_number (account);
`

export const SCHEMA_1 = ACCOUNTS + WEBHOOKS + EVENTS + DELIVERIES + STATISTICS + CALL_INDEX
