/**
 * Migration 12: replays, and history that is kept.
 *
 * - A replay belongs to the event of its original, whose position both have: `event` of a replay is the position of its
 *   original, and null in all other rows.
 * - `hookswitch_waiting_webhook` tells whether a delivery that waits is cancelled by its epoch, without its row.
 * - `hookswitch_attempt_end` tells what an ended delivery counts for, without its row.
 * - `hookswitch_attempt_original` and `hookswitch_waiting_original`: the replays of a delivery.
 * - `hookswitch_replay`: the jobs. `doc` is what only the service reads.
 */
import { COUNTED_ATTEMPTS } from './attempt-counts.js'

export const SCHEMA_12 = `
drop index hookswitch_waiting_webhook;
create index hookswitch_waiting_webhook on hookswitch_waiting (webhook, position, epoch);
drop index hookswitch_attempt_end;
create index hookswitch_attempt_end
  on hookswitch_attempt (webhook, position, accepted_ms, state, event, format, ${COUNTED_ATTEMPTS}) where state is not null;
create index hookswitch_attempt_original on hookswitch_attempt (webhook, event, state)
  where event is not null and state is not null;
create index hookswitch_waiting_original on hookswitch_waiting (webhook, event, epoch) where event is not null;

create table hookswitch_replay (
  id text primary key, account_id text, state text not null, created_ms integer not null, ended_ms integer,
  revision integer not null, doc text not null
);
create index hookswitch_replay_created on hookswitch_replay (created_ms, id);
create index hookswitch_replay_account on hookswitch_replay (account_id, created_ms, id) where account_id is not null;
create index hookswitch_replay_unfinished on hookswitch_replay (created_ms, id) where state in ('running', 'paused');
create index hookswitch_replay_ended on hookswitch_replay (ended_ms) where ended_ms is not null;
`
