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

export function createEngineState(db: SqliteHandle): EngineState {
  const read = prepareQuery<{ readonly value: number }>(
    db,
    'select value from hookswitch_meta where name = ?',
  )
  const write = prepareChange(db, 'update hookswitch_meta set value = ? where name = ?')
  const pending = prepareQuery<{ readonly count: number }>(
    db,
    `select (select count(*) from hookswitch_delivery indexed by hookswitch_delivery_queue where state <= 1)
      + (select count(*) from hookswitch_delivery indexed by hookswitch_delivery_term where term is not null)
      as count`,
  )
  // The rest of the last block is skipped: its positions may have been used by rows that were erased.
  let position = read.get('position')!.value
  let blockEnd = position

  const state: EngineState = {
    owner: undefined,
    term: read.get('term')!.value,
    pending: pending.get()!.count,
    storeMs: 0,
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
    },
    rolledBack() {
      state.owner = saved.owner
      state.term = saved.term
      state.pending = saved.pending
      // Positions of a block whose reservation was rolled back were rolled back too, and may be used again.
      blockEnd = saved.blockEnd
      position = Math.min(position, blockEnd)
    },
  }
  const saved = { owner: state.owner, term: state.term, pending: state.pending, blockEnd }
  return state
}
