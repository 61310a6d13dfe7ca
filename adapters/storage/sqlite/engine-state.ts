/**
 * Values that are cached in memory, since the file has one owner: owner, term, counters. A rollback restores the values
 * of the last commit.
 */
import { type DeliveryKey, MAX_AHEAD_MS, positionMs } from 'hookswitch/store'
import type { Statements } from './query.js'

export interface EngineState {
  /** The node that owns the file; `undefined`: none. */
  owner: string | undefined
  /** The fence of the owner's lease: incremented with every new owner. */
  term: number
  /** Deliveries that were accepted without a lease, and that no node has polled yet. */
  readonly incoming: DeliveryKey[]
  takeIncoming(): readonly DeliveryKey[]
  /** Store time of the last call that passed it, ms. */
  storeMs: number
  /** Most by which the moment of a position is after the acceptance, ms: much where store time was set back. */
  aheadMs: number
  /** Notes the highest position, which may be ahead of store time. */
  notePosition(position: number): void
  /**
   * Returns store time for this time of the machine's clock, ms: never before what an earlier call returned or noted,
   * whoever wrote it, while a delivery waits or an endpoint is paused.
   */
  startTime(machineMs: number): number
  /** Notes the store time of a call that writes, ms. It is stored once a second. */
  noteTime(now: number): void
  /** Returns the next key of a webhook or an attempt record. Keys never decrease, not even after a restart. */
  nextKey(): number
  /** Increments and stores the term. */
  nextTerm(): number
  committed(): void
  /** Does not query the database: its transaction may not have been rolled back yet. */
  rolledBack(): void
}

/** Keys are reserved in blocks of this size, so that the counter's row is written once per block. */
const BLOCK_SIZE = 100_000

/** Store time is stored when it has advanced by this, ms. */
const TIME_STEP_MS = 1_000

const PAUSED_SQL = `select 1 from hookswitch_webhook
  where health is not null and deleted_ms is null and json_extract(health, '$.pausedUntilMs') > ? limit 1`

/** Reads values of `hookswitch_meta`, and whether anything waits for a store time. */
export function createTimeReader({ prepareQuery }: Statements) {
  const value = prepareQuery<{ readonly value: number }>('select value from hookswitch_meta where name = ?')
  const anyPaused = prepareQuery<object>(PAUSED_SQL)
  const anyWaiting = prepareQuery<object>('select 1 from hookswitch_waiting limit 1')
  return {
    read: (name: string) => value.get(name)?.value,
    isNeeded: (machineMs: number) => anyWaiting.get() !== undefined || anyPaused.get(machineMs) !== undefined,
  }
}

export function createEngineState(statements: Statements): EngineState {
  const { prepareChange } = statements
  const { read, isNeeded } = createTimeReader(statements)
  const write = prepareChange('update hookswitch_meta set value = ? where name = ?')
  const put = prepareChange('insert or replace into hookswitch_meta (name, value) values (?, ?)')
  // The rest of the last block is skipped: its keys may have been used by rows that were erased.
  let position = read('position')!
  let blockEnd = position
  let timeMs = read('store_time') ?? 0
  /** Store time is the machine's clock plus this, ms. It grows where that clock went back. */
  let offsetMs = read('store_time_offset') ?? 0

  const state: EngineState = {
    owner: undefined,
    term: read('term')!,
    incoming: [],
    takeIncoming: () => state.incoming.splice(0),
    storeMs: 0,
    aheadMs: read('position_ahead') ?? MAX_AHEAD_MS,
    notePosition(position) {
      const aheadMs = positionMs(position) + MAX_AHEAD_MS - state.storeMs
      if (aheadMs < state.aheadMs + TIME_STEP_MS) return
      state.aheadMs = aheadMs
      put('position_ahead', aheadMs)
    },
    startTime(machineMs) {
      const storeMs = Math.max(machineMs + offsetMs, timeMs)
      const canReset = storeMs > machineMs && !isNeeded(machineMs)
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
    nextKey() {
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
      saved.blockEnd = blockEnd
      saved.timeMs = timeMs
      saved.incoming = state.incoming.slice()
      saved.offsetMs = offsetMs
      saved.aheadMs = state.aheadMs
    },
    rolledBack() {
      state.owner = saved.owner
      state.term = saved.term
      // Keys of a block whose reservation was rolled back were rolled back too, and may be used again.
      blockEnd = saved.blockEnd
      timeMs = saved.timeMs
      state.incoming.splice(0, Number.POSITIVE_INFINITY, ...saved.incoming)
      offsetMs = saved.offsetMs
      state.aheadMs = saved.aheadMs
      position = Math.min(position, blockEnd)
    },
  }
  const saved = {
    owner: state.owner,
    term: state.term,
    blockEnd,
    timeMs,
    offsetMs,
    aheadMs: state.aheadMs,
    incoming: [] as DeliveryKey[],
  }
  return state
}
