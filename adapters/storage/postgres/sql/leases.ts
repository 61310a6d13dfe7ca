import type { Statement } from '../statement.js'
import { OF_ALL_WEBHOOKS } from './ended.js'
import { heldKeys, isGone, storeKey } from './session-keys.js'

export interface ShardRow {
  readonly shard: number
  readonly owner: string | null
  readonly leaving: boolean
}

export interface NodeRow {
  readonly owner: string
  readonly fence: number
  readonly number: number
  readonly version: number
  readonly aliveUntilMs: number
  readonly pending: number
  /** The key of its session in decimal digits, and the identity of its process; null: none is stored. */
  readonly key: string | null
  readonly process: string | null
  /** Whether that session is gone. */
  readonly isGone: boolean
}

export const leaseStatements = (s: string) =>
  ({
    /** Nodes plan one after the other. */
    lock: {
      name: 'lease_lock',
      text: `select pg_advisory_xact_lock(hashtextextended('${s} leases', 0)) is null as locked`,
    },
    nodes: {
      name: 'lease_nodes',
      text: `with ${heldKeys}
        select n.owner, n.fence, n.number, n.version, n.alive_until_ms as "aliveUntilMs", n.pending,
          k.key::text, k.process, coalesce(${isGone}, false) as "isGone"
        from ${s}.node n left join ${s}.node_session k on k.fence = n.fence`,
    },
    /** The nodes with the number of their shards, and of those that are to be given up. */
    overview: {
      name: 'lease_overview',
      text: `select n.owner, n.alive_until_ms as "aliveUntilMs", count(s.id)::int as shards,
          (count(s.id) filter (where s.leaving))::int as leaving
        from ${s}.node n left join ${s}.shard s on s.owner = n.owner group by n.owner, n.alive_until_ms`,
    },
    shards: {
      name: 'lease_shards',
      text: `select id as shard, owner, leaving from ${s}.shard order by id`,
    },
    shardsOf: { name: 'lease_shards_of', text: `select id as shard from ${s}.shard where owner = $1` },
    /** Waits for edits of webhooks in these shards, which raise the version of the owner that they find. */
    lockShards: {
      name: 'lease_hold',
      text: `select id from ${s}.shard where id = any ($1::smallint[]) order by id for update`,
    },
    /** Frees the shards of leases that have ended, and leaves their starts there to the next owners. */
    freeShards: {
      name: 'lease_free',
      text: `with ended as (
          select s.id, n.fence from ${s}.shard s join ${s}.node n on n.owner = s.owner where n.fence = any ($1::int[])
        ), freed as (
          update ${s}.shard set owner = null, leaving = false where id in (select id from ended)
        )
        insert into ${s}.takeover (shard, fence) select id, fence from ended on conflict do nothing`,
    },
    giveBack: {
      name: 'lease_give_back',
      text: `update ${s}.shard set leaving = true where id = any ($1::smallint[])`,
    },
    take: {
      name: 'lease_take',
      text: `update ${s}.shard set owner = $2, leaving = false where id = any ($1::smallint[])`,
    },
    handOver: {
      name: 'lease_hand_over',
      text: `update ${s}.shard set owner = null, leaving = false
        where id = any ($1::smallint[]) and owner = $2 and exists (
          select from ${s}.node where owner = $2 and fence = $3
        ) returning id`,
    },
    /** Waits for the running group of each of these nodes. Later ones find no row. */
    removeNodes: {
      name: 'lease_remove',
      text: `with keys as (delete from ${s}.node_session where fence = any ($1::int[]))
        delete from ${s}.node where fence = any ($1::int[])`,
    },
    newFence: { name: 'lease_fence', text: `select nextval('${s}.fence')::int as fence` },
    /**
     * Grants a lease until `$5`; `$6`, `$7`: offset and time of the store clock; `$8`: pending deliveries of the node; `$9`,
     * `$10`: the key of its session, and its process.
     */
    grant: {
      name: 'lease_grant',
      text: `with clock as (
          insert into ${s}.store_clock (id, offset_ms, last_ms) values (0, $6, $7)
          on conflict (id) do update set offset_ms = excluded.offset_ms, last_ms = excluded.last_ms
        ), keys as (
          ${storeKey(s, 'select $2::int', '$9', '$10')}
        )
        insert into ${s}.node (owner, fence, number, version, alive_until_ms, pending) values ($1, $2, $3, $4, $5, $8)
        on conflict (owner) do update set alive_until_ms = excluded.alive_until_ms, pending = excluded.pending`,
    },
    /** The highest position of a delivery or an event. */
    position: {
      name: 'lease_position',
      text: `select greatest(
          (select max(position) from ${s}.event),
          (select max(position) from ${s}.waiting where replay_of is not null),
          (select max(delivery) from ${s}.attempt where replay_of is not null and state >= 2 and ${OF_ALL_WEBHOOKS}),
          0
        ) as position`,
    },
    lockShardsOf: {
      name: 'lease_of_owner',
      text: `select id from ${s}.shard where owner = $1 order by id for update`,
    },
    /** The owner has nothing in flight. */
    release: {
      name: 'lease_release',
      text: `with gone as (delete from ${s}.node where owner = $1 returning fence),
          starts as (delete from ${s}.start where fence in (select fence from gone)),
          keys as (delete from ${s}.node_session where fence in (select fence from gone))
        update ${s}.shard set owner = null, leaving = false where owner = $1`,
    },
    /** The owner of these shards has settled what earlier leases left in flight there. */
    completeTakeover: {
      name: 'lease_complete',
      text: `delete from ${s}.takeover t using ${s}.shard m, ${s}.node n
        where t.shard = any ($1::smallint[]) and m.id = t.shard and n.owner = m.owner and n.owner = $2 and n.fence = $3`,
    },
    /** Starts of leases that have ended and left no shard to take over. */
    removeStarts: {
      name: 'lease_remove_starts',
      text: `delete from ${s}.start where fence in (
          select fence from ${s}.start except select fence from ${s}.node except select fence from ${s}.takeover
        )`,
    },
  }) satisfies Record<string, Statement>
