/** Ownership of the file by one node, and the deliveries that only the owner sees: orphans, stale, ready. */
import { type Delivery, type Ownership, type ReadyEndpoint, SHARDS } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import { prepareQuery } from './query.js'
import { COLUMNS, type DeliveryRow } from './rows.js'
import { WAITING_WEBHOOKS } from './stale.js'

const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard)

export const ORPHANS_SQL = `select ${COLUMNS}
  from hookswitch_delivery d indexed by hookswitch_delivery_term join hookswitch_event e on e.key = d.event
  where d.term is not null and d.term < ? order by d.term, d.position limit ? + 0`

export const STALE_SQL = `select ${COLUMNS}
  from hookswitch_delivery d indexed by hookswitch_delivery_queue join hookswitch_event e on e.key = d.event
  where d.webhook = ? and d.epoch < ? and d.state <= 1 limit ? + 0`

/** The owner's lease never expires: it ends when another node claims ownership, or when it is released. */
export function createLeases(context: EngineContext) {
  const { db, state, endpoints, rows, stale } = context
  const orphans = prepareQuery<DeliveryRow>(db, ORPHANS_SQL)
  const staleOf = prepareQuery<DeliveryRow>(db, STALE_SQL)
  const waiting = prepareQuery<{ readonly key: number }>(
    db,
    `${WAITING_WEBHOOKS} select key from waiting where key is not null`,
  )

  function ownership(owner: string, machineMs: number): Ownership {
    const storeMs = state.startTime(machineMs)
    state.storeMs = storeMs
    const shards = state.owner === owner ? ALL_SHARDS : []
    return { shards, aliveUntilMs: Number.POSITIVE_INFINITY, storeMs }
  }

  return {
    /**
     * The last node to call this is the owner. Opening the file clears the owner, so the first call after it starts a new
     * term.
     */
    own(owner: string, _leaseMs: number, machineMs: number): Ownership {
      if (state.owner !== owner) state.nextTerm()
      state.owner = owner
      return ownership(owner, machineMs)
    },
    renew: (owner: string, _leaseMs: number, machineMs: number): Ownership => ownership(owner, machineMs),
    release(owner: string): void {
      if (state.owner === owner) state.owner = undefined
    },
    orphans(owner: string, limit: number): readonly Delivery[] {
      if (state.owner !== owner) return []
      return orphans.all(state.term, limit).map((stored) => rows.fromRow(stored).delivery)
    },
    stale(owner: string, limit: number): readonly Delivery[] {
      const found: Delivery[] = []
      if (state.owner !== owner) return found
      for (const key of stale.webhooks()) {
        if (found.length >= limit) return found
        const endpoint = endpoints.byKey(key)
        const left = endpoint ? staleOf.all(key, endpoint.webhook.epoch, limit - found.length) : []
        for (const stored of left) found.push(rows.fromRow(stored, endpoint).delivery)
        if (left.length === 0) stale.remove(key)
      }
      return found
    },
    ready(owner: string): readonly ReadyEndpoint[] {
      const found: ReadyEndpoint[] = []
      if (state.owner !== owner) return found
      for (const { key } of waiting.all()) {
        const endpoint = endpoints.readiness(endpoints.byKey(key)!)
        if (endpoint.dueMs !== undefined) found.push(endpoint)
      }
      return found
    },
  }
}
