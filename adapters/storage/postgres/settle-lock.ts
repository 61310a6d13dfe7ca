/** Locks the shards, webhooks and lanes of a batch, in this order, and finds its deliveries. */
import { isTerminal, shardOf, type Webhook } from 'hookswitch/store'
import { int2Array, int4Array, textArray } from './binary-arrays.js'
import type { InFlightCache, InFlightDelivery } from './in-flight-cache.js'
import { createLanes, type LockedLanes, laneName } from './lanes.js'
import type { Transaction } from './session.js'
import type { createWebhookUpdates } from './settle-change.js'
import { type Entry, type LocatedEntry, locateEntries, lockLanes, type OwnedEntry } from './settle-locate.js'
import { type LeaseOrLaneRow, type OwnerRow, settleStatements } from './sql/settle.js'

export interface LockedBatch {
  /** Entries whose node owns the shard and whose delivery exists. */
  readonly entries: readonly LocatedEntry[]
  readonly lanes: LockedLanes
  /** Webhooks that may change, by key. */
  readonly webhooks: ReadonlyMap<number, Webhook>
}

type Leases = ReadonlyMap<number, Pick<OwnerRow, 'owner' | 'aliveUntilMs'>>

const NO_WEBHOOKS: ReadonlyMap<number, Webhook> = new Map()

export function createLocker(
  schema: string,
  inFlight: Pick<InFlightCache, 'get'>,
  webhookUpdates: Pick<ReturnType<typeof createWebhookUpdates>, 'lock'>,
) {
  const sql = settleStatements(schema)
  const lanes = createLanes(schema)

  /**
   * The common case: deliveries that were claimed here and end, and whose webhooks do not change. One statement locks
   * everything.
   */
  async function lockEnding(
    tx: Transaction,
    deliveries: ReadonlyMap<Entry, InFlightDelivery>,
  ): Promise<LockedBatch> {
    const shards = new Set(Array.from(deliveries.keys(), ({ settlement }) => shardOf(settlement.webhookId)))
    const distinct = new Map(Array.from(deliveries.values(), (delivery) => [laneName(delivery), delivery]))
    const rows = await tx.query<LeaseOrLaneRow>(sql.lockEnding, [
      int2Array([...shards]),
      int4Array(Array.from(distinct.values(), ({ key }) => key)),
      textArray(Array.from(distinct.values(), ({ lane }) => lane)),
    ])
    const leases = new Map<number, LeaseOrLaneRow>()
    const locked = new Map<string, number>()
    for (const row of rows) {
      if (row.lane === null) leases.set(row.key, row)
      else locked.set(laneName({ key: row.key, lane: row.lane }), row.open!)
    }
    const entries: LocatedEntry[] = []
    for (const [entry, { key, lane, ctid }] of deliveries) {
      const { settlement, now } = entry
      if (isOwned(entry, leases)) entries.push({ entry, settlement, now, key, lane, head: true, ctid })
    }
    return { entries, lanes: locked, webhooks: NO_WEBHOOKS }
  }

  async function lockAny(tx: Transaction, batch: readonly Entry[]): Promise<LockedBatch> {
    const owned = await lockShards(tx, batch)
    const webhooks = await webhookUpdates.lock(tx, owned)
    const located = await locateEntries(tx, lanes, inFlight, owned)
    const { locked, entries } = await lockLanes(tx, lanes, located)
    return { entries, lanes: locked, webhooks }
  }

  async function lockShards(tx: Transaction, batch: readonly Entry[]): Promise<readonly OwnedEntry[]> {
    const ids = [...new Set(batch.map(({ settlement }) => settlement.webhookId))]
    const keys = new Map<string, number>()
    const leases = new Map<number, OwnerRow>()
    const values = [textArray(ids), int2Array([...new Set(ids.map(shardOf))])]
    for (const row of await tx.query<OwnerRow>(sql.lockShards, values)) {
      if (row.id === null) leases.set(row.key, row)
      else keys.set(row.id, row.key)
    }
    return batch.flatMap((entry): OwnedEntry[] => {
      const { settlement, now } = entry
      const key = keys.get(settlement.webhookId)
      return key !== undefined && isOwned(entry, leases) ? [{ entry, settlement, now, key }] : []
    })
  }

  return (tx: Transaction, batch: readonly Entry[]): Promise<LockedBatch> => {
    const ending = new Map<Entry, InFlightDelivery>()
    for (const entry of batch) {
      const { deliveryId, webhookId, expect, next, endpoint } = entry.settlement
      const isEnding = expect.state === 'in_flight' && isTerminal(next.state) && endpoint === undefined
      const delivery = isEnding ? inFlight.get(deliveryId, expect.fence) : undefined
      if (delivery?.webhookId !== webhookId) return lockAny(tx, batch)
      ending.set(entry, delivery)
    }
    return lockEnding(tx, ending)
  }
}

function isOwned({ settlement: { owner, webhookId }, now }: Entry, leases: Leases): boolean {
  const lease = leases.get(shardOf(webhookId))
  return lease?.owner === owner && now < lease.aliveUntilMs!
}
