/**
 * Statistics, and webhooks in the order of their names.
 *
 * `stat`: counts of the attempts of one slot of time, for a webhook, an account (`webhook_id` empty) or the service (both empty).
 * `slot`: minutes since 1970. The key begins with the slot, so that a flush changes pages that are in memory, and not one for
 * each webhook; a series is read by one look-up per slot. `o0` to `o11`: outcomes; `d0` to `d11`: buckets of durations
 * (`stats/columns`). A row is updated with each flush of its slot: the free space on its page keeps that out of the index.
 *
 * `stat_writer`: the last batch of each instance, so that a repeated one is recognized.
 *
 * `webhook.sort_key` is the name. It is no generated column, because a document may contain a NUL, which no JSON function
 * of the server accepts.
 */
import { COUNT_COLUMNS } from './stats-columns.js'

const counts = COUNT_COLUMNS.map(
  (column) => `${column} ${column === 'sum_ms' ? 'bigint' : 'integer'} not null`,
)

/** @param s name of the schema, quoted */
export const statsTables = (s: string): string => `
create table ${s}.stat (
  step       smallint not null,
  slot       integer not null,
  account_id text collate "C" not null,
  webhook_id text collate "C" not null,
  ${counts.join(',\n  ')},
  primary key (step, slot, account_id, webhook_id)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create table ${s}.stat_writer (
  writer text collate "C" primary key,
  number integer not null,
  slot   integer not null
) with (fillfactor = 50);

create or replace function pg_temp.webhook_name(doc text) returns text language plpgsql as $$
begin
  return doc::json #>> '{settings,name}';
exception when others then
  return substring(doc from '"settings":\\{"name":"([^"\\\\]*)"');
end $$;
alter table ${s}.webhook add column sort_key text collate "C" not null default '';
update ${s}.webhook set sort_key = coalesce(pg_temp.webhook_name(doc), '');
create index webhook_sorted on ${s}.webhook (account_id, sort_key, id) where deleted_ms is null;
`
