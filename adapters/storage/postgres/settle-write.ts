import { isTerminal } from 'hookswitch/store'
import { attemptDoc, numberOf } from './rows.js'
import type { PlacedEntry } from './settle-place.js'

/** Values of the statement `write`. */
export function writeValues(entries: readonly PlacedEntry[]): readonly unknown[] {
  const column = (read: (entry: PlacedEntry) => unknown) => entries.map(read)
  return [
    column(({ ctid }) => ctid),
    column(({ settlement }) => settlement.deliveryId),
    column(({ key }) => key),
    column(({ settlement }) => numberOf(settlement.expect.state)),
    column(({ settlement }) => settlement.expect.fence),
    column(({ settlement }) => numberOf(settlement.next.state)),
    column(({ settlement: { next }, now }) => (isTerminal(next.state) ? null : (next.dueMs ?? now))),
    column(({ settlement: { next }, now }) => (isTerminal(next.state) ? now : null)),
    column(({ settlement }) => settlement.next.attempts),
    column(({ settlement }) => settlement.next.tries),
    column(({ settlement }) => settlement.next.interruptions),
    column(({ settlement }) => settlement.next.reason ?? null),
    column(({ settlement }) => settlement.record?.atMs ?? null),
    column(({ settlement }) => settlement.record?.accountId ?? null),
    column(({ settlement }) => settlement.record?.callId ?? null),
    column(({ settlement }) => (settlement.record ? attemptDoc(settlement.record) : null)),
  ]
}
