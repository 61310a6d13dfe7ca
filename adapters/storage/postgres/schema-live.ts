/**
 * Items of live streams on their way to other nodes (`live.ts`). Both tables are unlogged: no write-ahead log, no replica and
 * no base backup contains them, and after a crash of the server they are empty.
 *
 * The arrays of a batch are parallel. An item is null where its event was erased. Items are not compressed: they are
 * written and read once.
 *
 * @param s name of the schema, quoted
 */
export const liveTables = (s: string): string => `
create unlogged table ${s}.live_watch (
  reader  text collate "C" primary key,
  watches text not null,
  until   timestamptz not null
);
create unlogged table ${s}.live (
  writer      text collate "C" not null,
  number      bigint not null,
  at          timestamptz not null default now(),
  account_ids text[] not null,
  call_ids    text[] not null,
  items       text[] not null,
  primary key (writer, number)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table ${s}.live alter column items set storage external;
`
