/**
 * Tells the owners of shards that others changed their deliveries: an edit or an erasure raises the version of the owner in
 * its own transaction. A group of an older version writes nothing, and one that is under way is waited for.
 *
 * The shard comes first: an edit that finds it without an owner is committed before the next owner takes it and loads.
 */
import { SHARDS, shardOf } from 'hookswitch/store'
import { int2Array, int4Array, int8Array, textArray } from './binary-arrays.js'
import type { Transaction } from './session.js'
import { type RaisedRow, versionStatements } from './sql/versions.js'

/** What a raised version covers. */
export interface OwnerChange {
  readonly webhookId: string
  /** Erased deliveries of the webhook. Absent: it was edited. */
  readonly positions?: readonly number[]
}

/** Owners whose version was raised, by shard. */
type RaisedOwners = ReadonlyMap<number, RaisedRow>

export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard)

export function createOwnerVersions(schema: string) {
  const sql = versionStatements(schema)
  return {
    /** Locks these shards and raises the versions of their owners, before anything else of the transaction. */
    async raise(tx: Transaction, shards: readonly number[]): Promise<RaisedOwners> {
      const rows = await tx.query<{ shard: number; owner: string }>(sql.lockShards, [int2Array(shards)])
      const owners = [...new Set(rows.flatMap(({ owner }) => owner ?? []))]
      if (owners.length === 0) return new Map()
      await tx.query(sql.lockNodes, [textArray(owners)])
      const raised = await tx.query<RaisedRow>(sql.raise, [textArray(owners)])
      const byOwner = new Map(raised.map((node) => [node.owner, node]))
      return new Map(
        rows.flatMap(({ shard, owner }) => {
          const node = byOwner.get(owner)
          return node ? [[shard, node] as const] : []
        }),
      )
    },
    /** Lists the changes. A version that covers nothing of its node is listed too: otherwise it would load everything. */
    async record(tx: Transaction, raised: RaisedOwners, changes: readonly OwnerChange[]): Promise<void> {
      const unlisted = new Set(raised.values())
      const rows: { node: RaisedRow; webhookId: string | null; positions: readonly number[] | null }[] = []
      for (const { webhookId, positions = null } of changes) {
        const node = raised.get(shardOf(webhookId))
        if (!node) continue
        unlisted.delete(node)
        rows.push({ node, webhookId, positions })
      }
      for (const node of unlisted) rows.push({ node, webhookId: null, positions: null })
      if (rows.length === 0) return
      await tx.query(sql.record, [
        int4Array(rows.map(({ node }) => node.fence)),
        int8Array(rows.map(({ node }) => node.version)),
        textArray(rows.map(({ webhookId }) => webhookId)),
        textArray(rows.map(({ positions }) => positions && `{${positions.join()}}`)),
      ])
    },
  }
}
