import { type Settled, shardOf } from 'hookswitch/store'
import { lanes } from './lanes.js'
import type { Flights } from './lanes-flights.js'
import { endpointOf } from './rows.js'
import type { Transaction } from './session.js'
import { changesIn } from './settle-change.js'
import type { Entry } from './settle-entry.js'
import { holdingIn } from './settle-hold.js'
import { endedOf } from './settle-place.js'
import { writingIn } from './settle-write.js'
import { orphanStatements } from './sql/orphans.js'

/**
 * Settles a round: of each claim one settlement at most. Locks shards, webhooks, lanes, deliveries, in this order; what the
 * rows become is what `settledAs`, `webhookAfter` and `promoted` say.
 */
export function settlingIn(schema: string, slot: number, flights: Flights) {
  const laneDoors = lanes(schema)
  const changes = changesIn(schema)
  const hold = holdingIn(schema, flights, changes)
  const write = writingIn(schema, laneDoors)
  const { mark } = orphanStatements(schema)

  async function settleRound(
    tx: Transaction,
    round: readonly Entry[],
    settled: Map<Entry, Settled>,
    looks: Set<number>,
  ): Promise<void> {
    const { entries, lanes: locked, webhooks } = await hold(tx, round)
    const epochs = await write(tx, entries)
    const done = entries.filter((entry) => epochs.has(entry))
    if (done.length === 0) return
    const disabled = await changes.write(tx, webhooks, done)
    const keys = [...new Set(done.map(({ key }) => key))]
    const left = await laneDoors.leave(tx, done.flatMap(endedOf), locked, slot, keys)
    const standing = new Map(left.map((row) => [row.key, row]))
    const late = done.filter(
      (entry) =>
        entry.settlement.next.state === 'waiting' && epochs.get(entry)! < standing.get(entry.key)!.epoch,
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

  return settleRound
}
