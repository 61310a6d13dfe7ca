import { isTerminal } from 'hookswitch/store'
import type { lanes } from './lanes.js'
import { attemptDoc, numberOf } from './rows.js'
import { float8Array, int2Array, int4Array, textArray, tidArray } from './rows-arrays.js'
import type { Transaction } from './session.js'
import type { PlacedEntry } from './settle-place.js'
import { type SettledRow, settleStatements } from './sql/settle.js'

/** Writes how deliveries go on. */
export function writingIn(schema: string, { locate }: Pick<ReturnType<typeof lanes>, 'locate'>) {
  const sql = settleStatements(schema)

  async function write(
    tx: Transaction,
    entries: readonly PlacedEntry[],
    epochs: Map<PlacedEntry, number>,
  ): Promise<readonly PlacedEntry[]> {
    const rows = await tx.query<SettledRow>(sql.write, writeValues(entries))
    for (const { place, epoch } of rows) epochs.set(entries[place - 1]!, epoch)
    return rows.length === entries.length ? [] : entries.filter((entry) => !epochs.has(entry))
  }

  /** The epochs of those that were what was expected. */
  return async (
    tx: Transaction,
    entries: readonly PlacedEntry[],
  ): Promise<ReadonlyMap<PlacedEntry, number>> => {
    const epochs = new Map<PlacedEntry, number>()
    const missed = entries.length === 0 ? [] : await write(tx, entries, epochs)
    if (missed.length === 0) return epochs
    // Moved by whoever rewrote the table, or gone on.
    const ids = missed.map(({ settlement }) => settlement.deliveryId)
    const places = await locate(tx, ids)
    const moved = missed.filter(({ settlement, ctid }) => {
      const place = places.get(settlement.deliveryId)
      return place !== undefined && place.ctid !== ctid
    })
    for (const entry of moved) entry.ctid = places.get(entry.settlement.deliveryId)!.ctid
    if (moved.length > 0) await write(tx, moved, epochs)
    return epochs
  }
}

/** Values of the statement `write`. */
function writeValues(entries: readonly PlacedEntry[]): readonly unknown[] {
  const settlements = entries.map(({ settlement }) => settlement)
  const next = settlements.map((settlement) => settlement.next)
  const records = settlements.map(({ record }) => record)
  const ends = next.map(({ state }) => isTerminal(state))
  return [
    tidArray(entries.map(({ ctid }) => ctid)),
    textArray(settlements.map(({ deliveryId }) => deliveryId)),
    int4Array(entries.map(({ key }) => key)),
    int2Array(settlements.map(({ expect }) => numberOf(expect.state))),
    int4Array(settlements.map(({ expect }) => expect.fence)),
    int2Array(next.map(({ state }) => numberOf(state))),
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
