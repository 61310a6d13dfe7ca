import { type Settled, type Settlement, shardOf } from 'hookswitch/store'
import { lanes } from './lanes.js'
import type { Flights } from './lanes-flights.js'
import { endpointOf } from './rows.js'
import type { Transaction } from './session.js'
import { changesIn } from './settle-change.js'
import { endedOf, laneLocked, type PlacedEntry, placed } from './settle-place.js'
import { writeValues } from './settle-write.js'
import { orphanStatements } from './sql/orphans.js'
import { type HoldRow, type SettledRow, settleStatements } from './sql/settle.js'

/** One settlement of a group. */
export interface Entry {
  readonly settlement: Settlement
  /** Store time, ms. */
  readonly now: number
}

/** One whose node owns the shard. */
export interface OwnedEntry extends Entry {
  readonly of: Entry
  /** Of its webhook. */
  readonly key: number
}

/**
 * Settles a round: settlements of one delivery each. Locks shards, webhooks, lanes, deliveries, in this order; what the
 * rows become is what `settledAs`, `webhookAfter` and `promoted` say.
 */
export function settlingIn(schema: string, slot: number, flights: Flights) {
  const sql = settleStatements(schema)
  const laneDoors = lanes(schema)
  const changes = changesIn(schema)
  const { mark } = orphanStatements(schema)

  async function settleRound(
    tx: Transaction,
    round: readonly Entry[],
    settled: Map<Entry, Settled>,
    looks: Set<number>,
  ): Promise<void> {
    const owned = await hold(tx, round)
    if (owned.length === 0) return
    const webhooks = await changes.lock(tx, owned)
    const found = await placed(tx, laneDoors, flights, owned)
    const { locked, entries } = await laneLocked(tx, laneDoors, found)
    const epochs = await write(tx, entries)
    const done = entries.filter(({ settlement }) => epochs.has(settlement.deliveryId))
    if (done.length === 0) return
    const disabled = await changes.write(tx, webhooks, done)
    const keys = [...new Set(done.map(({ key }) => key))]
    const left = await laneDoors.leave(tx, done.flatMap(endedOf), locked, slot, keys)
    const standing = new Map(left.map((row) => [row.key, row]))
    const late = done.filter(
      ({ settlement, key }) =>
        settlement.next.state === 'waiting' && epochs.get(settlement.deliveryId)! < standing.get(key)!.epoch,
    )
    if (late.length > 0) await tx.query(mark, [late.map(({ key }) => key)])
    for (const { settlement } of [...late, ...disabled.keys()]) looks.add(shardOf(settlement.webhookId))
    for (const entry of done) {
      const row = standing.get(entry.key)!
      const endpoint = endpointOf(row, row.headMs)
      const webhook = disabled.get(entry)
      settled.set(
        entry.of,
        webhook ? { kind: 'settled', endpoint, disabled: webhook } : { kind: 'settled', endpoint },
      )
    }
  }

  async function hold(tx: Transaction, entries: readonly Entry[]): Promise<readonly OwnedEntry[]> {
    const ids = [...new Set(entries.map(({ settlement }) => settlement.webhookId))]
    const shards = [...new Set(ids.map(shardOf))]
    const keys = new Map<string, number>()
    const leases = new Map<number, HoldRow>()
    for (const row of await tx.query<HoldRow>(sql.hold, [ids, shards])) {
      if (row.id === null) leases.set(row.key, row)
      else keys.set(row.id, row.key)
    }
    return entries.flatMap((entry): OwnedEntry[] => {
      const { settlement, now } = entry
      const key = keys.get(settlement.webhookId)
      const lease = leases.get(shardOf(settlement.webhookId))
      const owns = lease?.owner === settlement.owner && now < lease.aliveUntilMs!
      return owns && key !== undefined ? [{ of: entry, settlement, now, key }] : []
    })
  }

  /** The epochs of those that were what was expected. */
  async function write(
    tx: Transaction,
    entries: readonly PlacedEntry[],
  ): Promise<ReadonlyMap<string, number>> {
    const rows = await tx.query<SettledRow>(sql.write, writeValues(entries))
    const epochs = new Map(rows.map(({ id, epoch }) => [id, epoch]))
    if (rows.length === entries.length) return epochs
    // Moved, by whoever rewrote the table; or gone on.
    const missed = entries.filter(({ settlement }) => !epochs.has(settlement.deliveryId))
    const places = await laneDoors.locate(
      tx,
      missed.map(({ settlement }) => settlement.deliveryId),
    )
    const moved = missed.flatMap((entry) => {
      const place = places.get(entry.settlement.deliveryId)
      return place && place.ctid !== entry.ctid ? [Object.assign({}, entry, { ctid: place.ctid })] : []
    })
    if (moved.length === 0) return epochs
    for (const { id, epoch } of await tx.query<SettledRow>(sql.write, writeValues(moved)))
      epochs.set(id, epoch)
    return epochs
  }

  return settleRound
}
