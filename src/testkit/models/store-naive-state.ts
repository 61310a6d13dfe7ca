import type { AccountCall, DeliveryCall, EventCall, HookRow, TokenCall } from './store-calls.js'

export type NaiveRow = Omit<DeliveryCall, 'eventId'> & {
  state: string
  fence: number
  attempts: number
  due?: number | undefined
  term?: number
  reason?: string | undefined
  endedMs?: number
}

/** All that a naive store knows: lists, in the order in which things came. */
export interface NaiveStore {
  readonly shared: boolean
  readonly leaseMs: number
  lease: { owner: string; untilMs: number; term: number }
  hooks: HookRow[]
  rows: NaiveRow[]
  records: { id: string; webhookId: string; callId: string; atMs: number }[]
  /** Of all records that ever were: where a reader stands whose record is gone. */
  recorded: string[]
  keys: (EventCall & { sequence: number })[]
  numbers: Record<string, number>
  tokens: TokenCall[]
  accounts: (AccountCall & { users: { id: string; username: string }[] })[]
  /** Ids of accounts that were removed: never given again. */
  removed: string[]
}

export function naiveStore(shared: boolean, leaseMs: number): NaiveStore {
  const lease = { owner: '', untilMs: 0, term: 0 }
  const empty = { hooks: [], rows: [], records: [], recorded: [], keys: [], numbers: {} }
  return { shared, leaseMs, lease, ...empty, tokens: [], accounts: [], removed: [] }
}

export const isPending = ({ state }: NaiveRow) => state === 'waiting' || state === 'in_flight'

/** What of its lane must end before it. */
export function before(m: NaiveStore, row: NaiveRow): NaiveRow[] {
  const earlier = m.rows.slice(0, m.rows.indexOf(row))
  return earlier.filter((one) => one.webhookId === row.webhookId && one.lane === row.lane && isPending(one))
}

/** Gives the first of each lane its due time. */
export function promote(m: NaiveStore, now: number): void {
  for (const row of m.rows) {
    if (row.state === 'waiting' && row.due === undefined && before(m, row).length === 0) row.due = now
  }
}
