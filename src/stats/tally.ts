/**
 * Counts of attempts in memory, until they are written.
 *
 * Exactly the attempts that got a number count, once each, when the store has written their settlement: that is, the records
 * with `attempt`, whatever their result. `interrupted` ones count as such and have no duration. An end without a request
 * (`expired`, `cancelled`, `quarantined`) is no attempt and does not count, nor does a start that was given up unsent.
 * Successes count with `recordSuccesses: false` too. The slot is that of `AttemptRecord.atMs`, the time of sending, so
 * that a slot can be compared with the list of attempts of that time.
 */
import type { AttemptRecord } from '../delivery/attempt-record.js'
import {
  addCauses,
  addCounts,
  type CauseCounts,
  causeOf,
  countAttempt,
  newCounts,
  OTHER_CAUSE,
} from './columns.js'
import { STATS_STEPS, type StatsStep, slotOf } from './slots.js'
import type { StatsRow } from './stats-store.js'

/** Slots of webhooks that are counted at most, some 250 bytes each. More than that waits only while the store is out. */
const MAX_CELLS = 50_000

/** Causes of failures that one slot of a webhook counts between two flushes; further ones count as `other`. */
const MAX_CAUSES = 20

/** Rows that one slot of one webhook can add to a batch: of the webhook, its account and the service, for each step. */
const ROWS_PER_CELL = 6

/** Counts attempts. */
export interface Tally {
  /** Counts an attempt whose settlement is written. Costs well below a microsecond. */
  count(record: AttemptRecord): void
  /** Removes counts and returns them as up to `limit` rows; empty: nothing is left. `limit`: at least 6. */
  take(limit: number): readonly StatsRow[]
  readonly isEmpty: boolean
  /** Start of the oldest minute with counts, Unix ms; `undefined`: there are none. */
  oldestMs(): number | undefined
  /** Attempts that were not counted since the last call, because memory for counts is bounded. */
  takeDropped(): number
}

/** One minute of one webhook. */
interface Cell {
  readonly accountId: string
  readonly startMs: number
  readonly counts: number[]
  /** Undefined: no attempt failed. */
  causes: Record<string, number> | undefined
  /** Another minute of the same webhook. */
  readonly next: Cell | undefined
}

const MINUTE_MS = 60_000

type MutableRow = Omit<StatsRow, 'counts' | 'causes'> & {
  readonly counts: number[]
  causes?: Record<string, number>
}

/** @param maxCells default 50,000 */
export function createTally(maxCells = MAX_CELLS): Tally {
  const cells = new Map<string, Cell>()
  let size = 0
  let dropped = 0

  function cellOf({ webhookId, accountId, atMs }: AttemptRecord): Cell | undefined {
    const newest = cells.get(webhookId)
    for (let cell = newest; cell; cell = cell.next)
      if (atMs >= cell.startMs && atMs < cell.startMs + MINUTE_MS) return cell
    if (size >= maxCells) return undefined
    const startMs = slotOf(60, atMs)
    const added: Cell = { accountId, startMs, counts: newCounts(), causes: undefined, next: newest }
    cells.set(webhookId, added)
    size += 1
    return added
  }

  return {
    count(record) {
      const cell = cellOf(record)
      if (!cell) {
        dropped += 1
        return
      }
      countAttempt(cell.counts, record)
      if (record.result === 'failure') countCause(cell, causeOf(record))
    },
    take(limit) {
      const rows = new Map<string, MutableRow>()
      for (const [webhookId, newest] of cells) {
        let cell: Cell | undefined = newest
        for (; cell && rows.size + ROWS_PER_CELL <= limit; cell = cell.next) {
          addToRows(rows, webhookId, cell)
          size -= 1
        }
        if (cell) {
          if (cell !== newest) cells.set(webhookId, cell)
          break
        }
        cells.delete(webhookId)
      }
      return [...rows.values()]
    },
    get isEmpty() {
      return size === 0
    },
    oldestMs() {
      let oldest: number | undefined
      for (const newest of cells.values())
        for (let cell: Cell | undefined = newest; cell; cell = cell.next)
          if (oldest === undefined || cell.startMs < oldest) oldest = cell.startMs
      return oldest
    },
    takeDropped() {
      const count = dropped
      dropped = 0
      return count
    },
  }
}

function countCause(cell: Cell, cause: string): void {
  cell.causes ??= {}
  const { causes } = cell
  const isNew = causes[cause] === undefined && Object.keys(causes).length >= MAX_CAUSES
  const counted = isNew ? OTHER_CAUSE : cause
  causes[counted] = (causes[counted] ?? 0) + 1
}

/** Adds the minute of a webhook to the rows of the webhook, its account and the service, for each step. */
function addToRows(rows: Map<string, MutableRow>, webhookId: string, cell: Cell): void {
  const { accountId, startMs } = cell
  for (const step of STATS_STEPS) {
    const slot = slotOf(step, startMs)
    addToRow(rows, accountId, webhookId, step, slot, cell)
    addToRow(rows, accountId, '', step, slot, cell)
    addToRow(rows, '', '', step, slot, cell)
  }
}

function addToRow(
  rows: Map<string, MutableRow>,
  accountId: string,
  webhookId: string,
  step: StatsStep,
  startMs: number,
  { counts, causes }: { readonly counts: readonly number[]; readonly causes: CauseCounts | undefined },
): void {
  const key = `${step}/${startMs}/${accountId}\0${webhookId}`
  let row = rows.get(key)
  if (row) addCounts(row.counts, counts)
  else {
    row = { accountId, webhookId, step, startMs, counts: counts.slice() }
    rows.set(key, row)
  }
  if (causes) row.causes = addCauses(row.causes, causes)!
}
