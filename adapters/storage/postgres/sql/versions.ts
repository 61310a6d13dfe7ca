import type { Statement } from '../statement.js'

export interface RaisedRow {
  readonly owner: string
  readonly fence: number
  readonly version: number
}

export const versionStatements = (s: string) =>
  ({
    lockShards: {
      name: 'version_shards',
      text: `select id as shard, owner from ${s}.shard where id = any ($1::smallint[]) order by id for share`,
    },
    /** Waits for their running groups, in one order. */
    lockNodes: {
      name: 'version_nodes',
      text: `select 1 from ${s}.node where owner = any ($1::text[]) order by owner for no key update`,
    },
    raise: {
      name: 'version_raise',
      text: `update ${s}.node set version = version + 1 where owner = any ($1::text[]) returning owner, fence, version`,
    },
    record: {
      name: 'version_record',
      text: `insert into ${s}.change (fence, n, webhook_id, positions)
        select fence, n, webhook_id, positions::bigint[]
        from unnest($1::int[], $2::bigint[], $3::text[], $4::text[]) u (fence, n, webhook_id, positions)`,
    },
  }) satisfies Record<string, Statement>
