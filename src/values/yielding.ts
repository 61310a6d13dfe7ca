/**
 * Splits long work into slices of 10 ms, between which the event loop turns: one tenant's long request must not hold up
 * the others.
 *
 * Everything that uses one clock shares one slice per turn. When it is used up, long work waits, and one of those that wait
 * continues in each turn, in the order in which they began to wait: many long requests at once hold up a turn no longer
 * than one does.
 */
import { createFifoQueue } from './fifo-queue.js'

/** Longest time that long work takes without a turn of the event loop, ms. */
export const SLICE_MS = 10

/** The parts of the clock that are needed. */
export interface YieldingClock {
  monotonic(): number
  yield(): Promise<void>
}

/** `undefined`: the work may continue. Otherwise it continues when the promise resolves. */
export type YieldWhenDue = () => Promise<void> | undefined

const byClock = new WeakMap<YieldingClock, YieldWhenDue>()

/**
 * Returns the function that long work calls between its steps. Work that takes less than a fraction of a millisecond should
 * not call it: it would wait behind long work.
 */
export function yieldingOf(clock: YieldingClock): YieldWhenDue {
  const known = byClock.get(clock)
  if (known) return known
  const created = createYielding(clock)
  byClock.set(clock, created)
  return created
}

function createYielding(clock: YieldingClock): YieldWhenDue {
  /** When the slice of this turn began, monotonic ms; `undefined`: nothing has used this turn. */
  let startedMs: number | undefined
  const waiting = createFifoQueue<() => void>()

  function begin(): void {
    startedMs = clock.monotonic()
    void clock.yield().then(endTurn)
  }

  function endTurn(): void {
    startedMs = undefined
    const next = waiting.shift()
    if (!next) return
    begin()
    next()
  }

  return () => {
    if (startedMs === undefined) begin()
    else if (clock.monotonic() - startedMs >= SLICE_MS) return new Promise((resolve) => waiting.push(resolve))
    return undefined
  }
}
