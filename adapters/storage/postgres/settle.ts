/**
 * Settles deliveries, many calls of `settle` in one transaction; each settlement is fenced on its own. The batches of a
 * group are written by `settle-batch.ts`.
 */
import type { Settlement, SettlementResult } from 'hookswitch/store'
import { isOutcomeUnknown } from './errors.js'
import { type CallResult, createGroupCommit } from './group-commit.js'
import type { InFlightCache } from './in-flight-cache.js'
import type { Notifier } from './notifications.js'
import type { Deps } from './session-deps.js'
import { createBatchSettler } from './settle-batch.js'
import type { Entry } from './settle-locate.js'
import { createUnknownCommits } from './settle-unknown-commit.js'

export interface SettleDeps extends Pick<Deps, 'session' | 'schema'> {
  readonly notifier: Pick<Notifier, 'requestScan'>
  readonly inFlight: InFlightCache
  /** Slot (row) of the pending count that this store subtracts from. */
  readonly slot: number
}

interface SettleCall {
  readonly settlements: readonly Settlement[]
  /** Store time, ms. */
  readonly now: number
}

/** Limit of settlements in a group. */
const MAX_SETTLEMENTS = 200

export function createSettler({ session, schema, notifier, inFlight, slot }: SettleDeps) {
  const settleBatch = createBatchSettler(schema, slot, inFlight)
  const unknownCommits = createUnknownCommits(schema)

  async function write(
    calls: readonly SettleCall[],
  ): Promise<readonly CallResult<readonly SettlementResult[]>[]> {
    const entries = calls.flatMap(({ settlements, now }) =>
      settlements.map((settlement): Entry => ({ settlement, now })),
    )
    const { settled, shardsToScan } = await session
      .transaction(async (tx) => {
        const settled = new Map<Entry, SettlementResult>()
        const shardsToScan = new Set<number>()
        for (const batch of batchesOf(entries)) await settleBatch(tx, batch, settled, shardsToScan)
        await unknownCommits.resolve(tx, entries, settled)
        return { settled, shardsToScan }
      })
      .catch((thrown: unknown) => {
        if (isOutcomeUnknown(thrown)) unknownCommits.add(entries)
        throw thrown
      })
    unknownCommits.remove(entries)
    for (const { settlement } of entries) inFlight.remove(settlement.deliveryId)
    for (const shard of shardsToScan) notifier.requestScan(shard)
    let next = 0
    return calls.map(({ settlements }) => ({
      value: settlements.map(() => settled.get(entries[next++]!) ?? FENCED),
    }))
  }

  const group = createGroupCommit(write, {
    maxWeight: MAX_SETTLEMENTS,
    weightOf: ({ settlements }) => settlements.length,
  })
  return {
    settle: (settlements: readonly Settlement[], now: number): Promise<readonly SettlementResult[]> =>
      settlements.length === 0 ? Promise.resolve([]) : group.run({ settlements, now }),
    /** Resolves when no group is being written. */
    idle: group.idle,
  }
}

const FENCED: SettlementResult = Object.freeze({ kind: 'fenced' })

/** Splits a group so that each batch has a claim once: a second settlement of it is checked against the first. */
function batchesOf(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const batches: Entry[][] = []
  const counts = new Map<string, number>()
  for (const entry of entries) {
    const { deliveryId, expect } = entry.settlement
    const name = `${deliveryId} ${expect.fence}`
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    const batch = batches[count]
    if (batch) batch.push(entry)
    else batches[count] = [entry]
  }
  return batches
}
