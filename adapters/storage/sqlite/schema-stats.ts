/**
 * Migration 7: statistics, and webhooks in the order of their names.
 *
 * - `hookswitch_stat`: counts of the attempts of one slot of time, for a webhook, an account (`webhook` empty) or the service
 *   (both empty). `slot`: minutes since 1970. The key begins with the slot, so that a flush writes to the ends of two ranges
 *   and not to a page for each webhook; a series is read by one look-up per slot. `o0` to `o11`: outcomes; `d0` to `d11`:
 *   buckets of durations (`stats/columns`). SQLite stores a 0 without a byte.
 * - `hookswitch_stat_writer`: the last batch of each instance, so that a repeated one is recognized.
 */
import { COUNT_COLUMNS } from './stats-columns.js'

const counts = COUNT_COLUMNS.map((column) => `${column} integer not null`).join(', ')

export const SCHEMA_7 = `
create table hookswitch_stat (
  step integer not null, slot integer not null, account_id text not null, webhook_id text not null,
  ${counts}, primary key (step, slot, account_id, webhook_id)
) without rowid;
create table hookswitch_stat_writer (
  writer text primary key, number integer not null, slot integer not null
) without rowid;
alter table hookswitch_webhook add column sort_key text generated always as (json_extract(doc, '$.settings.name')) virtual;
create index hookswitch_webhook_sorted on hookswitch_webhook (account, sort_key, id) where deleted_ms is null;
`
