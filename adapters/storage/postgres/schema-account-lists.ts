/**
 * Sorted pages of accounts and users, search by realm, and ids of removed users, which are never assigned again. The
 * sort keys are computed from the documents, as `userSortKey` computes them.
 *
 * @param s name of the schema, quoted
 */
export const accountLists = (s: string): string => `
alter table ${s}.account
  add column sort_key text collate "C" generated always as (doc::json ->> 'name') stored,
  add column realm_search text collate "C" generated always as (translate(realm_key, '.-_', '')) stored;
create index account_children on ${s}.account (parent_id, sort_key, id) where parent_id is not null;
create index account_sorted on ${s}.account (sort_key, id);

alter table ${s}.account_user
  add column sort_key text collate "C" generated always as (
    coalesce(doc::json ->> 'lastName', '-') || ' ' || coalesce(doc::json ->> 'firstName', doc::json ->> 'username', id)
  ) stored;
create index account_user_sorted on ${s}.account_user (account_id, sort_key, id);

create table ${s}.gone_user (
  account_id text collate "C" not null,
  id         text collate "C" not null,
  primary key (account_id, id)
);
`
