/**
 * Migration 2: open legs of event sources. A row lives as long as its call, and is read when a source starts, when rows
 * are erased, and by retention.
 */
export const SCHEMA_2 = `
create table hookswitch_open_leg (
  source text not null, call_id text not null, account_id text not null, added_ms integer not null, state text not null,
  primary key (source, call_id)
) without rowid;
create index hookswitch_open_leg_account on hookswitch_open_leg (account_id, call_id);
create index hookswitch_open_leg_added on hookswitch_open_leg (added_ms);
`
