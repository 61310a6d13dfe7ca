/**
 * Values that are cached in memory, since the file has one owner: owner, term, counters. A rollback restores the values
 * of the last commit.
 */
import type { SqliteHandle } from './driver.js'
import { prepareChange, prepareQuery } from './query.js'

export interface EngineState {
  /** The node that owns the file; `undefined`: none. */
  owner: string | undefined
  /** Incremented with every new owner: a claim of an earlier term is an orphan. */
  term: number
  /** Number of deliveries that are waiting or in flight. */
  pending: number
  /** Store time of the last call that passed it, ms. */
  storeMs: number
  /**
   * Returns store time for this time of the machine's clock, ms: never before what an earlier call returned or noted,
   * whoever wrote it, while a delivery waits or an endpoint is paused.
   */
  startTime(machineMs: number): number
  /** Notes the store time of a call that writes, ms. It is stored once a second. */
  noteTime(now: number): void
  /** Returns the next position in the order of the whole store. Positions never decrease, not even after a restart. */
  nextPosition(): number
  /** Increments and stores the term. */
  nextTerm(): number
  committed(): void
  /** Does not query the database: its transaction may not have been rolled back yet. */
  rolledBack(): void
}

/** Positions are reserved in blocks of this size, so that the counter's row is written once per block. */
const BLOCK_SIZE = 100_000

/** Store time is stored when it has advanced by this, ms. */
const TIME_STEP_MS = 1_000

/** The newest time in a file that does not contain store time: the clock of its last writer was not before it. */
const NEWEST_TIME_SQL = `select max(
    ifnull((select accepted_ms from hookswitch_delivery order by position desc limit 1), 0),
    ifnull((select max(ended_ms) from hookswitch_delivery indexed by hookswitch_delivery_ended
      where ended_ms is not null), 0),
    ifnull((select at_ms from hookswitch_attempt order by position desc limit 1), 0)
  ) as value`

const PAUSED_SQL = `select 1 from hookswitch_webhook
  where health is not null and deleted_ms is null and json_extract(health, '$.pausedUntilMs') > ? limit 1`

export function createEngineState(db: SqliteHandle): EngineState {
  const read = prepareQuery<{ readonly value: number }>(
    db,
    'select value from hookswitch_meta where name = ?',
  )
  const write = prepareChange(db, 'update hookswitch_meta set value = ? where name = ?')
  const put = prepareChange(db, 'insert or replace into hookswitch_meta (name, value) values (?, ?)')
  const anyPaused = prepareQuery<object>(db, PAUSED_SQL)
  const pending = prepareQuery<{ readonly count: number }>(
    db,
    `select (select count(*) from hookswitch_delivery indexed by hookswitch_delivery_queue where state <= 1)
      + (select count(*) from hookswitch_delivery indexed by hookswitch_delivery_term where term is not null)
      as count`,
  )
  // The rest of the last block is skipped: its positions may have been used by rows that were erased.
  let position = read.get('position')!.value
  let blockEnd = position
  let timeMs = read.get('store_time')?.value ?? newestTime(db)
  /** Store time is the machine's clock plus this, ms. It grows where that clock went back. */
  let offsetMs = read.get('store_time_offset')?.value ?? 0

  const state: EngineState = {
    owner: undefined,
    term: read.get('term')!.value,
    pending: pending.get()!.count,
    storeMs: 0,
    startTime(machineMs) {
      const storeMs = Math.max(machineMs + offsetMs, timeMs)
      const canReset = storeMs > machineMs && state.pending === 0 && !anyPaused.get(machineMs)
      timeMs = canReset ? machineMs : storeMs
      offsetMs = timeMs - machineMs
      put('store_time', timeMs)
      put('store_time_offset', offsetMs)
      return timeMs
    },
    noteTime(now) {
      state.storeMs = now
      if (now < timeMs + TIME_STEP_MS) return
      timeMs = now
      put('store_time', timeMs)
    },
    nextPosition() {
      if (position === blockEnd) {
        blockEnd += BLOCK_SIZE
        write(blockEnd, 'position')
      }
      position += 1
      return position
    },
    nextTerm() {
      state.term += 1
      write(state.term, 'term')
      return state.term
    },
    committed() {
      saved.owner = state.owner
      saved.term = state.term
      saved.pending = state.pending
      saved.blockEnd = blockEnd
      saved.timeMs = timeMs
      saved.offsetMs = offsetMs
    },
    rolledBack() {
      state.owner = saved.owner
      state.term = saved.term
      state.pending = saved.pending
      // Positions of a block whose reservation was rolled back were rolled back too, and may be used again.
      blockEnd = saved.blockEnd
      timeMs = saved.timeMs
      offsetMs = saved.offsetMs
      position = Math.min(position, blockEnd)
    },
  }
  const saved = { owner: state.owner, term: state.term, pending: state.pending, blockEnd, timeMs, offsetMs }
  return state
}

function newestTime(db: SqliteHandle): number {
  return prepareQuery<{ readonly value: number }>(db, NEWEST_TIME_SQL).get()!.value
}
