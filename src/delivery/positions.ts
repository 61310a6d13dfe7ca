/**
 * Positions: the order in which one node accepted and recorded things, and the cursors of lists. A position is an integer
 * below 2^53: 40 bits of milliseconds since 2020, 7 bits of the node, 6 bits of a counter. Positions of one node are
 * strictly increasing; those of several nodes are different, and as close in order as the nodes' store time.
 */

/** 2020-01-01T00:00:00Z, Unix ms. */
const EPOCH_MS = 1_577_836_800_000
const COUNTER = 2 ** 6
/** Numbers of nodes. */
export const MAX_NODES = 2 ** 7
const MILLISECOND = COUNTER * MAX_NODES

/** The lowest position of a moment. @param now store time, ms */
export function positionAt(now: number): number {
  return Math.max(0, Math.floor(now) - EPOCH_MS) * MILLISECOND
}

/** The moment of a position: the inverse of `positionAt`. Store time, ms. */
export function positionMs(position: number): number {
  return EPOCH_MS + Math.floor(position / MILLISECOND)
}

/** Makes the positions of one node. */
export interface Positions {
  /** The next position, above all earlier ones and those passed to `raise`. */
  next(now: number): number
  /** Positions that are made from now on are above this one. */
  raise(position: number): void
}

/**
 * Creates the positions of a node.
 *
 * @param node number of the node, 0–127
 */
export function createPositions(node: number): Positions {
  /** In counter steps of this node: milliseconds × 64 + counter. */
  let last = 0
  return {
    next(now) {
      last = Math.max(last + 1, Math.max(0, Math.floor(now) - EPOCH_MS) * COUNTER)
      return Math.floor(last / COUNTER) * MILLISECOND + node * COUNTER + (last % COUNTER)
    },
    raise(position) {
      // The whole millisecond: the counters of other nodes say nothing about this one's.
      last = Math.max(last, (Math.floor(position / MILLISECOND) + 1) * COUNTER - 1)
    },
  }
}
