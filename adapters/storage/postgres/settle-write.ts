/** Writes the next states and the attempt records of a locked batch. */
import { isTerminal } from 'hookswitch/store'
import { float8Array, int2Array, int4Array, textArray, tidArray } from './binary-arrays.js'
import type { createLanes } from './lanes.js'
import { attemptDoc, stateNumberOf } from './rows.js'
import type { Transaction } from './session.js'
import type { LocatedEntry } from './settle-locate.js'
import { type SettledRow, settleStatements } from './sql/settle.js'

export function createWriter(schema: string, { locate }: Pick<ReturnType<typeof createLanes>, 'locate'>) {
  const sql = settleStatements(schema)

  /** Returns the entries that were not written. */
  async function write(
    tx: Transaction,
    entries: readonly LocatedEntry[],
    epochs: Map<LocatedEntry, number>,
  ): Promise<readonly LocatedEntry[]> {
    const rows = await tx.query<SettledRow>(sql.write, writeValues(entries))
    for (const { place, epoch } of rows) epochs.set(entries[place - 1]!, epoch)
    return rows.length === entries.length ? [] : entries.filter((entry) => !epochs.has(entry))
  }

  /** Returns the written entries with the epochs of their deliveries; the others were not in the expected state. */
  return async (
    tx: Transaction,
    entries: readonly LocatedEntry[],
  ): Promise<ReadonlyMap<LocatedEntry, number>> => {
    const epochs = new Map<LocatedEntry, number>()
    const missed = entries.length === 0 ? [] : await write(tx, entries, epochs)
    if (missed.length === 0) return epochs
    // The row was moved by a rewrite of the table, or the delivery is in another state.
    const ids = missed.map(({ settlement }) => settlement.deliveryId)
    const locations = await locate(tx, ids)
    const moved = missed.filter(({ settlement, ctid }) => {
      const location = locations.get(settlement.deliveryId)
      return location !== undefined && location.ctid !== ctid
    })
    for (const entry of moved) entry.ctid = locations.get(entry.settlement.deliveryId)!.ctid
    if (moved.length > 0) await write(tx, moved, epochs)
    return epochs
  }
}

/** Values of the statement `write`. */
function writeValues(entries: readonly LocatedEntry[]): readonly unknown[] {
  const settlements = entries.map(({ settlement }) => settlement)
  const next = settlements.map((settlement) => settlement.next)
  const records = settlements.map(({ record }) => record)
  const ends = next.map(({ state }) => isTerminal(state))
  return [
    tidArray(entries.map(({ ctid }) => ctid)),
    textArray(settlements.map(({ deliveryId }) => deliveryId)),
    int4Array(entries.map(({ key }) => key)),
    int2Array(settlements.map(({ expect }) => stateNumberOf(expect.state))),
    int4Array(settlements.map(({ expect }) => expect.fence)),
    int2Array(next.map(({ state }) => stateNumberOf(state))),
    float8Array(next.map(({ dueMs }, index) => (ends[index] ? null : (dueMs ?? entries[index]!.now)))),
    float8Array(entries.map(({ now }, index) => (ends[index] ? now : null))),
    int4Array(next.map(({ attempts }) => attempts)),
    int4Array(next.map(({ tries }) => tries)),
    int4Array(next.map(({ interruptions }) => interruptions)),
    textArray(next.map(({ reason }) => reason ?? null)),
    float8Array(records.map((record) => record?.atMs ?? null)),
    textArray(records.map((record) => record?.accountId ?? null)),
    textArray(records.map((record) => record?.callId ?? null)),
    textArray(records.map((record) => (record ? attemptDoc(record) : null))),
  ]
}
