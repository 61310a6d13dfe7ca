import type { Statement } from '../statement.js'

export interface ShardRow {
  readonly shard: number
  readonly owner: string | null
  readonly aliveUntilMs: number
  readonly leaving: boolean
  readonly busy: boolean
  readonly term: number
}

export interface NodeRow {
  readonly owner: string
  readonly aliveUntilMs: number
}

export const leaseStatements = (s: string) =>
  ({
    /** Nodes plan one after the other. */
    lock: {
      name: 'lease_lock',
      text: `select pg_advisory_xact_lock(hashtextextended('${s} leases', 0)) is null as locked`,
    },
    /** Grants the node `$1` a lease until `$2`, and stores the time `$3` of the grant with the offset `$4`. */
    renewNode: {
      name: 'lease_node',
      text: `with gone as (delete from ${s}.node where alive_until_ms <= $3 and owner <> $1), clock as (
          insert into ${s}.store_clock (id, offset_ms, last_ms) values (0, $4, $3)
          on conflict (id) do update set offset_ms = excluded.offset_ms, last_ms = excluded.last_ms
        )
        insert into ${s}.node (owner, alive_until_ms) values ($1, $2)
        on conflict (owner) do update set alive_until_ms = excluded.alive_until_ms`,
    },
    nodes: {
      name: 'lease_nodes',
      text: `select owner, alive_until_ms as "aliveUntilMs" from ${s}.node`,
    },
    /** `busy`: has a delivery in flight that was claimed under the current term. */
    shards: {
      name: 'lease_shards',
      text: `select s.id as shard, s.owner, s.alive_until_ms as "aliveUntilMs", s.leaving, s.term,
          exists (select from ${s}.delivery d where d.shard = s.id and d.state = 1 and d.term = s.term) as busy
        from ${s}.shard s order by s.id`,
    },
    /** Waits for claims and settlements in progress in shards that change owner; shards that stay are not locked. */
    lockShards: {
      name: 'lease_hold',
      text: `select id from ${s}.shard where id = any ($1::smallint[]) order by id for update`,
    },
    giveBack: {
      name: 'lease_give_back',
      text: `update ${s}.shard set leaving = true where id = any ($1::smallint[])`,
    },
    keep: {
      name: 'lease_keep',
      text: `update ${s}.shard set alive_until_ms = $2 where id = any ($1::smallint[])`,
    },
    /** A leaving shard that this owner still has keeps its term: the deliveries in flight there are its own. */
    take: {
      name: 'lease_take',
      text: `update ${s}.shard
        set term = case when owner = $2 and alive_until_ms > $4 then term else term + 1 end,
          owner = $2, alive_until_ms = $3, leaving = false
        where id = any ($1::smallint[])`,
    },
    lockShardsOf: {
      name: 'lease_of_owner',
      text: `select id from ${s}.shard where owner = $1 order by id for update`,
    },
    release: {
      name: 'lease_release',
      text: `with gone as (delete from ${s}.node where owner = $1)
        update ${s}.shard set owner = null where owner = $1`,
    },
  }) satisfies Record<string, Statement>
