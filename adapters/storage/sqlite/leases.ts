import { type Delivery, type Ownership, type ReadyEndpoint, SHARDS } from 'hookswitch/store'
import { query } from './query.js'
import { COLUMNS, type StoredRow } from './rows.js'
import { WAITING_WEBHOOKS } from './stale.js'
import type { Tools } from './tools.js'

const ALL: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard)

export const ORPHANS_SQL = `select ${COLUMNS}
  from hookswitch_delivery d indexed by hookswitch_delivery_term join hookswitch_event e on e.key = d.event
  where d.term is not null and d.term < ? order by d.term, d.position limit ? + 0`

export const STALE_SQL = `select ${COLUMNS}
  from hookswitch_delivery d indexed by hookswitch_delivery_queue join hookswitch_event e on e.key = d.event
  where d.webhook = ? and d.epoch < ? and d.state <= 1 limit ? + 0`

/** Who works on the file: one node, whose lease never ends, until another asks or it gives back. */
export function leases(tools: Tools) {
  const { db, memory, endpoints, rows, stale } = tools
  const orphans = query<StoredRow>(db, ORPHANS_SQL)
  const staleOf = query<StoredRow>(db, STALE_SQL)
  const waiting = query<{ readonly key: number }>(
    db,
    `${WAITING_WEBHOOKS} select key from waiting where key is not null`,
  )

  function ownership(owner: string, storeMs: number): Ownership {
    memory.storeMs = storeMs
    const shards = memory.owner === owner ? ALL : []
    return { shards, aliveUntilMs: Number.POSITIVE_INFINITY, storeMs }
  }

  return {
    /** Whoever comes last is the one that lives. After the file was opened nobody does: that is a new life. */
    own(owner: string, _leaseMs: number, storeMs: number): Ownership {
      if (memory.owner !== owner) memory.nextTerm()
      memory.owner = owner
      return ownership(owner, storeMs)
    },
    renew: (owner: string, _leaseMs: number, storeMs: number): Ownership => ownership(owner, storeMs),
    release(owner: string): void {
      if (memory.owner === owner) memory.owner = undefined
    },
    orphans(owner: string, limit: number): readonly Delivery[] {
      if (memory.owner !== owner) return []
      return orphans.all(memory.term, limit).map((stored) => rows.of(stored).delivery)
    },
    stale(owner: string, limit: number): readonly Delivery[] {
      const found: Delivery[] = []
      if (memory.owner !== owner) return found
      for (const key of stale.webhooks()) {
        if (found.length >= limit) return found
        const endpoint = endpoints.byKey(key)
        const left = endpoint ? staleOf.all(key, endpoint.webhook.epoch, limit - found.length) : []
        for (const stored of left) found.push(rows.of(stored, endpoint).delivery)
        if (left.length === 0) stale.cleared(key)
      }
      return found
    },
    ready(owner: string): readonly ReadyEndpoint[] {
      const found: ReadyEndpoint[] = []
      if (memory.owner !== owner) return found
      for (const { key } of waiting.all()) {
        const standing = endpoints.readiness(endpoints.byKey(key)!)
        if (standing.dueMs !== undefined) found.push(standing)
      }
      return found
    },
  }
}
