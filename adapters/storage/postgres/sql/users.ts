import type { Statement } from '../statement.js'

export const userStatements = (s: string) =>
  ({
    put: {
      name: 'user_put',
      text: `insert into ${s}.account_user (account_id, id, name_key, doc) values ($1, $2, $3, $4)
        on conflict (account_id, id) do update set name_key = excluded.name_key, doc = excluded.doc
        returning 1`,
    },
    /** Nothing where the id is taken. */
    insert: {
      name: 'user_insert',
      text: `insert into ${s}.account_user (account_id, id, name_key, doc) values ($1, $2, $3, $4)
        on conflict (account_id, id) do nothing returning 1`,
    },
    removeCredentials: {
      name: 'user_forget_credentials',
      text: `delete from ${s}.credential where account_id = $1 and user_id = $2`,
    },
    putCredentials: {
      name: 'user_put_credentials',
      text: `insert into ${s}.credential (account_id, key, user_id)
        select $1, key, $2 from (select distinct key from unnest($3::text[]) key order by key) k
        on conflict (account_id, key) do update set user_id = excluded.user_id`,
    },
    /** Users of new accounts, and their credentials. */
    insertAll: {
      name: 'user_insert_all',
      text: `with u as (
        insert into ${s}.account_user (account_id, id, name_key, doc)
        select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])
      ) insert into ${s}.credential (account_id, key, user_id)
        select distinct on (account_id, key) account_id, key, user_id
        from unnest($5::text[], $6::text[], $7::text[]) with ordinality c (account_id, key, user_id, place)
        order by account_id, key, place desc`,
    },
    remove: {
      name: 'user_remove',
      text: `with c as (delete from ${s}.credential where account_id = $1 and user_id = $2),
        u as (delete from ${s}.account_user where account_id = $1 and id = $2)
      insert into ${s}.gone_user (account_id, id) values ($1, $2) on conflict do nothing`,
    },
    lock: {
      name: 'user_lock',
      text: `select doc from ${s}.account_user where account_id = $1 and id = $2 for update`,
    },
    wasRemoved: {
      name: 'user_gone',
      text: `select id from ${s}.gone_user where account_id = $1 and id = $2`,
    },
    byName: {
      name: 'user_by_name',
      text: `select doc from ${s}.account_user where account_id = $1 and name_key = $2`,
    },
    /** The users of accounts, each with the place of its account, from 1. One index lookup per account. */
    lists: {
      name: 'user_lists',
      text: `select k.place::int as place, u.doc from unnest($1::text[]) with ordinality k (id, place)
        cross join lateral (select doc from ${s}.account_user where account_id = k.id offset 0) u`,
    },
    read: { name: 'user_read', text: `select doc from ${s}.account_user where account_id = $1 and id = $2` },
    /** The first match, in the order of the given accounts and then of the given keys. */
    byCredential: {
      name: 'user_by_credential',
      text: `select u.doc from unnest($1::text[]) with ordinality a (id, place)
        cross join unnest($2::text[]) with ordinality k (key, place)
        cross join lateral (
          select c.user_id from ${s}.credential c where c.account_id = a.id and c.key = k.key offset 0
        ) c
        join ${s}.account_user u on u.account_id = a.id and u.id = c.user_id
        order by a.place, k.place limit 1`,
    },
  }) satisfies Record<string, Statement>
