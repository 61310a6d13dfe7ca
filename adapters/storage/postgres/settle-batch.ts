/**
 * Settles a batch with at most one settlement per claim. Locks shards, webhooks, lanes, deliveries, in this order. What
 * the rows become is decided as in the other stores (`applyEndpointChange` of `hookswitch/store`, the scheduler's next
 * state).
 */
import { type SettlementResult, shardOf } from 'hookswitch/store'
import type { InFlightCache } from './in-flight-cache.js'
import { createLanes } from './lanes.js'
import { endpointOf } from './rows.js'
import type { Transaction } from './session.js'
import { createWebhookUpdates } from './settle-change.js'
import { type Entry, endedDeliveryOf } from './settle-locate.js'
import { createLocker } from './settle-lock.js'
import { createWriter } from './settle-write.js'
import { orphanStatements } from './sql/orphans.js'

export function createBatchSettler(schema: string, slot: number, inFlight: InFlightCache) {
  const lanes = createLanes(schema)
  const webhookUpdates = createWebhookUpdates(schema)
  const lock = createLocker(schema, inFlight, webhookUpdates)
  const write = createWriter(schema, lanes)
  const { mark } = orphanStatements(schema)

  /** Adds the results of what is settled to `settled`, and the shards of newly stale deliveries to `shardsToScan`. */
  async function settleBatch(
    tx: Transaction,
    batch: readonly Entry[],
    settled: Map<Entry, SettlementResult>,
    shardsToScan: Set<number>,
  ): Promise<void> {
    const { entries, lanes: lockedLanes, webhooks } = await lock(tx, batch)
    const epochs = await write(tx, entries)
    const written = entries.filter((entry) => epochs.has(entry))
    if (written.length === 0) return
    const disabled = await webhookUpdates.write(tx, webhooks, written)
    const keys = [...new Set(written.map(({ key }) => key))]
    const rows = await lanes.leave(tx, written.flatMap(endedDeliveryOf), lockedLanes, slot, keys)
    const endpoints = new Map(rows.map((row) => [row.key, row]))
    const stale = written.filter(
      (entry) =>
        entry.settlement.next.state === 'waiting' && epochs.get(entry)! < endpoints.get(entry.key)!.epoch,
    )
    if (stale.length > 0) await tx.query(mark, [stale.map(({ key }) => key)])
    for (const { settlement } of [...stale, ...disabled.keys()]) {
      shardsToScan.add(shardOf(settlement.webhookId))
    }
    for (const entry of written) {
      const row = endpoints.get(entry.key)!
      const endpoint = endpointOf(row, row.headMs)
      const webhook = disabled.get(entry)
      settled.set(
        entry.entry,
        webhook ? { kind: 'settled', endpoint, disabled: webhook } : { kind: 'settled', endpoint },
      )
    }
  }

  return settleBatch
}
