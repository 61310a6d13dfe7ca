import type { SqliteHandle } from './driver.js'
import { change, query } from './query.js'

/** What the only owner of the file knows without asking. It goes back when the transaction does. */
export interface Memory {
  /** The node that works on it; `undefined`: nobody. */
  owner: string | undefined
  /** Raised whenever it gets an owner: what was claimed in an earlier term is an orphan. */
  term: number
  /** Deliveries that wait or are in flight. */
  pending: number
  /** Store time as a call told it last, ms. */
  storeMs: number
  /** A place in the order of the whole store, which only grows, over restarts too. */
  nextPosition(): number
  /** Raises the term, for good. */
  nextTerm(): number
  committed(): void
  /** Asks the database nothing: it may not have been told yet. */
  rolledBack(): void
}

/** Positions are given out from blocks: one write of a row in so many. */
const BLOCK = 100_000

export function memoryOf(db: SqliteHandle): Memory {
  const read = query<{ readonly value: number }>(db, 'select value from hookswitch_meta where name = ?')
  const write = change(db, 'update hookswitch_meta set value = ? where name = ?')
  const pending = query<{ readonly count: number }>(
    db,
    `select (select count(*) from hookswitch_delivery indexed by hookswitch_delivery_queue where state <= 1)
      + (select count(*) from hookswitch_delivery indexed by hookswitch_delivery_term where term is not null)
      as count`,
  )
  // What is left of the last block is not given out again: rows of it may have been erased.
  let position = read.get('position')!.value
  let block = position

  const memory: Memory = {
    owner: undefined,
    term: read.get('term')!.value,
    pending: pending.get()!.count,
    storeMs: 0,
    nextPosition() {
      if (position === block) {
        block += BLOCK
        write(block, 'position')
      }
      position += 1
      return position
    },
    nextTerm() {
      memory.term += 1
      write(memory.term, 'term')
      return memory.term
    },
    committed() {
      kept.owner = memory.owner
      kept.term = memory.term
      kept.pending = memory.pending
      kept.block = block
    },
    rolledBack() {
      memory.owner = kept.owner
      memory.term = kept.term
      memory.pending = kept.pending
      // What was given out of a block that is not written after all was rolled back with it.
      block = kept.block
      position = Math.min(position, block)
    },
  }
  const kept = { owner: memory.owner, term: memory.term, pending: memory.pending, block }
  return memory
}
