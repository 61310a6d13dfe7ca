/**
 * Open legs of event sources. A row is written when its call begins, replaced when it changes, and removed at its end, so
 * VACUUM runs early, whatever the size of the table. `added_ms` never changes: an update of `state` touches no index.
 *
 * @param s name of the schema, quoted
 */
export const openLegTable = (s: string): string => `
create table ${s}.open_leg (
  added_ms   double precision not null,
  source     text collate "C" not null,
  call_id    text collate "C" not null,
  account_id text collate "C" not null,
  state      text not null,
  primary key (source, call_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index open_leg_account on ${s}.open_leg (account_id, call_id);
create index open_leg_added on ${s}.open_leg (added_ms);
`
