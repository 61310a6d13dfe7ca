import type { Statement } from '../statement.js'

/** A row that is one JSON document. */
export interface DocRow {
  readonly doc: string
}

/** A document of what was requested at this place, from 1. */
export interface PlacedDocRow extends DocRow {
  readonly place: number
}

export const accountStatements = (s: string) =>
  ({
    insert: {
      name: 'account_insert',
      text: `insert into ${s}.account (id, realm_key, name_key, parent_id, doc)
      values ($1, $2, $3, $4, $5) on conflict do nothing returning id`,
    },
    /**
     * As `insert` and `putApiKey`, for several accounts, none of which may exist. Faster than `on conflict`, which looks up each
     * unique key twice.
     */
    insertAll: {
      name: 'account_insert_all',
      text: `with a as (
        insert into ${s}.account (id, realm_key, name_key, parent_id, doc)
        select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
      ) insert into ${s}.api_key (account_id, hash, doc)
        select * from unnest($1::text[], $6::text[], $7::text[])`,
    },
    /** As `lockParent`, in the order of the ids, so that transactions do not wait for each other in a circle. */
    lockParents: {
      name: 'account_hold_all',
      text: `select a.id from (select id from unnest($1::text[]) id order by id) k
        cross join lateral (select id from ${s}.account a where a.id = k.id for key share) a`,
    },
    wereRemoved: {
      name: 'account_gone_all',
      text: `select id from ${s}.gone_account where id = any ($1::text[])`,
    },
    /** Locks a parent until the commit: its removal sees the child, or the child comes after the removal. */
    lockParent: {
      name: 'account_hold',
      text: `select id from ${s}.account where id = $1 for key share`,
    },
    exists: { name: 'account_exists', text: `select id from ${s}.account where id = $1` },
    wasRemoved: { name: 'account_gone', text: `select id from ${s}.gone_account where id = $1` },
    update: {
      name: 'account_update',
      text: `update ${s}.account set realm_key = $2, name_key = $3, parent_id = $4, doc = $5
      where id = $1 returning id`,
    },
    /** Serializes the transactions that give an account this name; there is no constraint, for hosts may share names. */
    lockName: {
      name: 'account_lock_name',
      text: 'select pg_advisory_xact_lock(hashtextextended($1, 0)) is null as held',
    },
    /** Serializes the updates that move accounts; the inserts below a maximum depth share it. */
    lockTree: {
      name: 'account_lock_tree',
      text: 'select pg_advisory_xact_lock(hashtextextended($1, 0)) is null as held',
    },
    shareTree: {
      name: 'account_share_tree',
      text: 'select pg_advisory_xact_lock_shared(hashtextextended($1, 0)) is null as held',
    },
    /** The place of account `$1` below `$2`; counts at most `$3` + 1 levels of its subtree. */
    placement: {
      name: 'account_placement',
      text: `with recursive up as (
        select id, parent_id from ${s}.account where id = $2
        union
        select a.id, a.parent_id from up
        cross join lateral (select id, parent_id from ${s}.account a where a.id = up.parent_id offset 0) a
      ), down as (
        select $1::text collate "C" as id, 1 as level
        union
        select a.id, d.level + 1 from down d
        cross join lateral (select id from ${s}.account a where a.parent_id = d.id offset 0) a
        where d.level <= $3::int
      ) select (select count(*) from up)::int as "parentDepth",
        exists (select 1 from up where id = $1) as "isBelowItself",
        (select max(level) from down)::int as height`,
    },
    /** Materialized: where many accounts share names, a limit of one row would favor reading the whole table. */
    otherWithName: {
      name: 'account_other_with_name',
      text: `with named as materialized (select id from ${s}.account where name_key = $1)
        select id from named where id <> $2 limit 1`,
    },
    lock: { name: 'account_lock', text: `select doc from ${s}.account where id = $1 for update` },
    child: { name: 'account_child', text: `select id from ${s}.account where parent_id = $1 limit 1` },
    remove: {
      name: 'account_remove',
      text: `with a as (delete from ${s}.account where id = $1),
        k as (delete from ${s}.api_key where account_id = $1),
        u as (delete from ${s}.account_user where account_id = $1),
        c as (delete from ${s}.credential where account_id = $1),
        g as (delete from ${s}.gone_user where account_id = $1)
      insert into ${s}.gone_account (id) values ($1) on conflict do nothing`,
    },
    /**
     * Lineages of `$1`, each account with the place of its lineage, from 1. The lateral subqueries force one index
     * lookup per row, even while the table has no statistics.
     */
    lineages: {
      name: 'account_lineages',
      text: `with recursive line as (
        select k.place, a.id, a.parent_id, a.doc, array[a.id] as path
        from unnest($1::text[]) with ordinality k (id, place)
        cross join lateral (select * from ${s}.account a where a.id = k.id offset 0) a
        union all
        select l.place, a.id, a.parent_id, a.doc, l.path || a.id
        from line l cross join lateral (select * from ${s}.account a where a.id = l.parent_id offset 0) a
        where a.id <> all (l.path)
      ) select place::int, doc from line order by place, cardinality(path)`,
    },
    descendants: {
      name: 'account_descendants',
      text: `with recursive below as (
        select id from ${s}.account where parent_id = $1
        union
        select a.id from below b
        cross join lateral (select id from ${s}.account a where a.parent_id = b.id offset 0) a
      ) select id from below where id <> $1`,
    },
    byRealm: { name: 'account_by_realm', text: `select doc from ${s}.account where realm_key = $1` },
    byName: { name: 'account_by_name', text: `select doc from ${s}.account where name_key = $1` },
    list: { name: 'account_list', text: `select doc from ${s}.account order by id` },
    apiKey: { name: 'api_key', text: `select doc from ${s}.api_key where account_id = $1` },
    apiKeyByHash: { name: 'api_key_by_hash', text: `select doc from ${s}.api_key where hash = $1` },
    putApiKey: {
      name: 'api_key_put',
      text: `insert into ${s}.api_key (account_id, hash, doc) values ($1, $2, $3)
      on conflict (account_id) do update set hash = excluded.hash, doc = excluded.doc`,
    },
  }) satisfies Record<string, Statement>
