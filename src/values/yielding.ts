/**
 * Splits long work into slices of 10 ms, between which the event loop turns: one account's long request must not hold up
 * the others.
 *
 * Everything that uses one clock shares one slice per turn. When it is used up, long work waits, and in each turn one of
 * those that wait continues: many long requests at once hold up a turn no longer than one does. Accounts take turns, so
 * that one with many requests delays those of the others by one slice each time; of one account, the first goes first.
 */
import { createFifoQueue, type FifoQueue } from './fifo-queue.js'

/** Longest time that long work takes without a turn of the event loop, ms. @internal */
export const SLICE_MS = 10

/** The parts of the clock that are needed. */
interface YieldingClock {
  monotonic(): number
  yield(): Promise<void>
}

/** What long work calls between its steps: `undefined` means that it may continue, otherwise when the promise resolves. */
export interface Yielding {
  /**
   * Called by work that may take several milliseconds; anything shorter would wait behind it.
   *
   * @param owner the account whose work it is, or where it comes from
   */
  whenDue(owner: string): Promise<void> | undefined
  /** Called by work that others wait for: it continues in the next turn, whoever else waits. */
  briefly(): Promise<void> | undefined
}

const byClock = new WeakMap<YieldingClock, Yielding>()

/** The slices of everything that uses this clock. */
export function yieldingOf(clock: YieldingClock): Yielding {
  const known = byClock.get(clock)
  if (known) return known
  const created = createYielding(clock)
  byClock.set(clock, created)
  return created
}

function createYielding(clock: YieldingClock): Yielding {
  /** When the slice of this turn began, monotonic ms; `undefined`: nothing has used this turn. */
  let startedMs: number | undefined
  /** By owner, in the order of their turns. */
  const waiting = new Map<string, FifoQueue<() => void>>()

  function begin(): void {
    startedMs = clock.monotonic()
    void clock.yield().then(endTurn)
  }

  function endTurn(): void {
    startedMs = undefined
    for (const [owner, queue] of waiting) {
      const next = queue.shift()!
      waiting.delete(owner)
      if (queue.length > 0) waiting.set(owner, queue)
      begin()
      next()
      return
    }
  }

  function isUsedUp(): boolean {
    if (startedMs !== undefined) return clock.monotonic() - startedMs >= SLICE_MS
    begin()
    return false
  }

  return {
    whenDue(owner) {
      if (!isUsedUp()) return undefined
      return new Promise((resolve) => {
        const queue = waiting.get(owner) ?? createFifoQueue()
        queue.push(resolve)
        waiting.set(owner, queue)
      })
    },
    briefly: () => (isUsedUp() ? clock.yield() : undefined),
  }
}
