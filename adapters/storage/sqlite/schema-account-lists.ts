/**
 * Migration 4: sorted pages of accounts and users, search by realm, and ids of removed users, which are never assigned
 * again. The sort keys are computed from the documents, as `userSortKey` computes them.
 */
export const SCHEMA_4 = `
alter table hookswitch_account add column sort_key text generated always as (json_extract(doc, '$.name')) virtual;
alter table hookswitch_account add column realm_search text
  generated always as (replace(replace(replace(realm_key, '.', ''), '-', ''), '_', '')) virtual;
create index hookswitch_account_children on hookswitch_account (parent_id, sort_key, id) where parent_id is not null;
create index hookswitch_account_sorted on hookswitch_account (sort_key, id);
alter table hookswitch_user add column sort_key text generated always as (
  ifnull(json_extract(doc, '$.lastName'), '-') || ' ' ||
  coalesce(json_extract(doc, '$.firstName'), json_extract(doc, '$.username'), id)
) virtual;
create index hookswitch_user_sorted on hookswitch_user (account_id, sort_key, id);
create table hookswitch_gone_user (
  account_id text not null, id text not null, primary key (account_id, id)
) without rowid;
`
