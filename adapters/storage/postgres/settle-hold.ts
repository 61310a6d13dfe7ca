import { isTerminal, shardOf, type Webhook } from 'hookswitch/store'
import { type LockedLanes, laneName, lanes } from './lanes.js'
import type { Flight, Flights } from './lanes-flights.js'
import { int2Array, int4Array, textArray } from './rows-arrays.js'
import type { Transaction } from './session.js'
import type { changesIn } from './settle-change.js'
import type { Entry, OwnedEntry } from './settle-entry.js'
import { laneLocked, type PlacedEntry, placed } from './settle-place.js'
import { type BeginRow, type HoldRow, settleStatements } from './sql/settle.js'

/** What is held for a round until it is written. */
export interface Held {
  /** Those of nodes that own their shards, whose deliveries are there. */
  readonly entries: readonly PlacedEntry[]
  readonly lanes: LockedLanes
  /** Those that may change, by key. */
  readonly webhooks: ReadonlyMap<number, Webhook>
}

type Leases = ReadonlyMap<number, Pick<HoldRow, 'owner' | 'aliveUntilMs'>>

const NONE: ReadonlyMap<number, Webhook> = new Map()

/** Locks shards, webhooks and lanes, in this order, and finds the deliveries. */
export function holdingIn(
  schema: string,
  flights: Pick<Flights, 'of'>,
  changes: Pick<ReturnType<typeof changesIn>, 'lock'>,
) {
  const sql = settleStatements(schema)
  const laneDoors = lanes(schema)

  /** What was claimed here and ends, and changes no webhook: most of what is ever settled; one statement locks it all. */
  async function holdPlain(tx: Transaction, flying: ReadonlyMap<Entry, Flight>): Promise<Held> {
    const shards = new Set(Array.from(flying.keys(), ({ settlement }) => shardOf(settlement.webhookId)))
    const left = new Map(Array.from(flying.values(), (flight) => [laneName(flight), flight]))
    const rows = await tx.query<BeginRow>(sql.begin, [
      int2Array([...shards]),
      int4Array(Array.from(left.values(), ({ key }) => key)),
      textArray(Array.from(left.values(), ({ lane }) => lane)),
    ])
    const leases = new Map<number, BeginRow>()
    const locked = new Map<string, number>()
    for (const row of rows) {
      if (row.lane === null) leases.set(row.key, row)
      else locked.set(laneName({ key: row.key, lane: row.lane }), row.open!)
    }
    const entries: PlacedEntry[] = []
    for (const [of, { key, lane, ctid }] of flying) {
      const { settlement, now } = of
      if (isOwned(of, leases)) entries.push({ of, settlement, now, key, lane, head: true, ctid })
    }
    return { entries, lanes: locked, webhooks: NONE }
  }

  async function holdAll(tx: Transaction, round: readonly Entry[]): Promise<Held> {
    const owned = await holdOwned(tx, round)
    const webhooks = await changes.lock(tx, owned)
    const found = await placed(tx, laneDoors, flights, owned)
    const { locked, entries } = await laneLocked(tx, laneDoors, found)
    return { entries, lanes: locked, webhooks }
  }

  async function holdOwned(tx: Transaction, round: readonly Entry[]): Promise<readonly OwnedEntry[]> {
    const ids = [...new Set(round.map(({ settlement }) => settlement.webhookId))]
    const keys = new Map<string, number>()
    const leases = new Map<number, HoldRow>()
    const values = [textArray(ids), int2Array([...new Set(ids.map(shardOf))])]
    for (const row of await tx.query<HoldRow>(sql.hold, values)) {
      if (row.id === null) leases.set(row.key, row)
      else keys.set(row.id, row.key)
    }
    return round.flatMap((of): OwnedEntry[] => {
      const { settlement, now } = of
      const key = keys.get(settlement.webhookId)
      return key !== undefined && isOwned(of, leases) ? [{ of, settlement, now, key }] : []
    })
  }

  return (tx: Transaction, round: readonly Entry[]): Promise<Held> => {
    const flying = new Map<Entry, Flight>()
    for (const entry of round) {
      const { deliveryId, webhookId, expect, next, endpoint } = entry.settlement
      const isPlain = expect.state === 'in_flight' && isTerminal(next.state) && endpoint === undefined
      const flight = isPlain ? flights.of(deliveryId, expect.fence) : undefined
      if (flight?.webhookId !== webhookId) return holdAll(tx, round)
      flying.set(entry, flight)
    }
    return holdPlain(tx, flying)
  }
}

function isOwned({ settlement: { owner, webhookId }, now }: Entry, leases: Leases): boolean {
  const lease = leases.get(shardOf(webhookId))
  return lease?.owner === owner && now < lease.aliveUntilMs!
}
