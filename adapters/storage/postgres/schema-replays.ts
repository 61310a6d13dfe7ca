/**
 * Replays, and history that is kept.
 *
 * A replay has the event of its original, and the original has the position of that event: `event` of a replay is the position
 * of its original. The indexes by which a delivery finds its replays contain only replays.
 *
 * Each ended delivery is in one of three indexes by webhook and position (`sql/ended.ts`), and each attempt in one of three by
 * time. So a search for rows to remove does not read the rows that are kept for longer. Each of these indexes is partial: a
 * delivered event writes as many index entries as before.
 *
 * @param s name of the schema, quoted
 */
export const replayTables = (s: string): string => `
drop index ${s}.attempt_ended, ${s}.attempt_undelivered, ${s}.attempt_at;
create index attempt_delivered on ${s}.attempt (webhook_key, delivery) include (attempts, n)
  where state = 2 and replay_of is null;
create index attempt_undelivered on ${s}.attempt (webhook_key, delivery) include (state, accepted_ms, form, replay_of)
  where state > 2;
create index attempt_replayed on ${s}.attempt (webhook_key, delivery) where state = 2 and replay_of is not null;
create index attempt_at_delivered on ${s}.attempt (at_ms) where state = 2 and replay_of is null;
create index attempt_at_ended on ${s}.attempt (at_ms) where state > 2 or state = 2 and replay_of is not null;
create index attempt_at_failed on ${s}.attempt (at_ms, position) where state < 2;

create index attempt_of_original on ${s}.attempt (webhook_key, event, delivery) include (state)
  where state >= 2 and replay_of is not null;
create index waiting_replay_lane on ${s}.waiting (webhook_key, lane, position) where replay_of is not null;

-- Rows are removed at any rate: VACUUM frees their space before the table has grown by a fifth.
alter table ${s}.attempt set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);

-- Replay jobs. \`doc\`: what only the service reads.
create table ${s}.replay (
  created_ms double precision not null,
  ended_ms   double precision,
  revision   integer not null,
  id         text collate "C" primary key,
  account_id text collate "C",
  state      text not null,
  doc        text not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index replay_created on ${s}.replay (created_ms, id);
create index replay_account on ${s}.replay (account_id, created_ms, id) where account_id is not null;
create index replay_unfinished on ${s}.replay (created_ms, id) where state in ('running', 'paused');
create index replay_ended on ${s}.replay (ended_ms) where ended_ms is not null;
`
