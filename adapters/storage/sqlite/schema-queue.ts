/**
 * Migrations 5 and 6: the log of a queue in memory replaces the queue in tables. Migration 5 creates the new tables and sets
 * the old ones aside, `migrate-queue.ts` then moves the rows in steps, and migration 6 removes the old tables.
 *
 * - A delivery is a row of `hookswitch_waiting` until it ends, and from then on the row of `hookswitch_attempt` that has a
 *   `state`. Both are identified by webhook and position. The first delivery of an event to a webhook has the event's
 *   position, and then `event` is null; a replay has a position to itself.
 * - Positions grow with time. So rows are added to the end of a table and of the indexes that begin with a position, on
 *   pages that are written anyway.
 * - `hookswitch_event` is indexed by a key of the first 24 digits of its id, with which the ids of its deliveries begin.
 *   Deliveries with other ids are in `hookswitch_delivery_id`.
 * - `id` of a delivery: the last 8 digits, or `/` and the whole id (`delivery-ids.ts`). `format`: lane kind, method and
 *   encoding (`formats.ts`). `state`: `state-codes.ts`.
 * - `doc` of an attempt contains what nothing else contains (`attempt-doc.ts`); null: the delivery ended without a record.
 *   `hookswitch_request` has one row per distinct request of a webhook, apart from what differs between attempts.
 * - `hookswitch_start`: the starts of a group, with the term of its owner; `deliveries` is a JSON array of webhook key,
 *   position, attempt and epoch, one after the other.
 */
export const SCHEMA_5 = `
drop index hookswitch_event_no_call;
drop index hookswitch_delivery_id;
drop index hookswitch_delivery_webhook;
drop index hookswitch_delivery_queue;
drop index hookswitch_delivery_lane;
drop index hookswitch_delivery_term;
drop index hookswitch_delivery_ended;
drop index hookswitch_delivery_call;
drop index hookswitch_attempt_webhook;
drop index hookswitch_attempt_call;
alter table hookswitch_event rename to hookswitch_old_event;
alter table hookswitch_attempt rename to hookswitch_old_attempt;
drop index hookswitch_call_id;
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

create table hookswitch_waiting (
  position integer not null, webhook integer not null, event integer, lane integer not null, sequence integer not null,
  epoch integer not null, attempts integer not null, tries integer not null, interruptions integer not null,
  due_ms integer, accepted_ms integer not null, variant integer not null, format integer not null,
  id text not null, reason text, replay_of text, primary key (position, webhook)
) without rowid;
create index hookswitch_waiting_webhook on hookswitch_waiting (webhook, position);
create index hookswitch_waiting_event on hookswitch_waiting (event) where event is not null;
create index hookswitch_waiting_replay on hookswitch_waiting (webhook, lane) where event is not null;

create table hookswitch_attempt (
  key integer primary key, position integer not null, webhook integer not null, event integer,
  at_ms integer not null, variant integer not null, format integer not null, state integer, attempts integer,
  tries integer, interruptions integer, epoch integer, lane integer, accepted_ms integer, ended_ms integer,
  request integer, id text not null, doc text, reason text, replay_of text
);
create index hookswitch_attempt_delivery on hookswitch_attempt (position, webhook);
create index hookswitch_attempt_event on hookswitch_attempt (event) where event is not null;
create index hookswitch_attempt_webhook on hookswitch_attempt (webhook, key, at_ms) where doc is not null;
create index hookswitch_attempt_end on hookswitch_attempt (webhook, position, accepted_ms, state) where state is not null;

create table hookswitch_request (key integer primary key, webhook integer not null, request text not null);
create index hookswitch_request_webhook on hookswitch_request (webhook);
create table hookswitch_delivery_id (
  id_key integer not null, webhook integer not null, position integer not null, primary key (id_key, webhook, position)
) without rowid;
create table hookswitch_start (
  term integer not null, key integer not null, deliveries text not null, primary key (term, key)
) without rowid;
`

/** All rows of the old tables have been moved. */
export const SCHEMA_6 = `
drop table hookswitch_delivery;
drop table hookswitch_old_event;
drop table hookswitch_old_attempt;
`
