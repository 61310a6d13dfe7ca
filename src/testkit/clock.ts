/** Virtual time for tests. */
import { setMaxListeners } from 'node:events'
import type { Clock } from 'hookswitch'

/** 2026-01-01T00:00:00Z. */
const START_MS = 1_767_225_600_000

/** Turns of the event loop without a sleep, wake or yield after which all work counts as settled. */
const IDLE_TURNS = 5

/** More turns than this at one virtual time mean a loop that never sleeps. */
const MAX_TURNS = 100_000

/** A clock that moves only when a test moves it. */
export interface ManualClock extends Clock {
  /**
   * Advances both clocks by `ms` milliseconds. Sleepers that become due wake one at a time in order of their due times
   * (equal times in the order in which they fell asleep). After each, all ready work runs before the clock moves on,
   * and sleeps that it starts are included.
   *
   * @throws RangeError for a negative or infinite number
   */
  advance(ms: number): Promise<void>
  /**
   * Moves only the wall clock by `ms` milliseconds, forward or (negative) back, as an administrator or NTP does. Wakes
   * no sleeper.
   *
   * @throws RangeError for a number that is not finite
   */
  jumpWall(ms: number): void
  /** Number of sleepers, and when the first is due (in `monotonic()` milliseconds; undefined without sleepers). */
  sleepers(): { readonly count: number; readonly nextDueMs: number | undefined }
  /**
   * Runs all ready work without moving time.
   *
   * @throws Error if work yields in an endless loop
   */
  settle(): Promise<void>
  /**
   * Advances from sleeper to sleeper until `predicate` holds. Resolves to the virtual milliseconds that it took. The
   * predicate must not wait for this clock.
   *
   * @param options.limitMs limit in virtual milliseconds. Default is one day.
   * @throws Error if the limit is reached, or no sleeper is left
   */
  runUntil(
    predicate: () => boolean | Promise<boolean>,
    options?: { readonly limitMs?: number | undefined },
  ): Promise<number>
}

interface Sleeper {
  readonly dueMs: number
  readonly wake: () => void
}

/**
 * Creates a clock for tests and simulations that only `advance`, `runUntil` and `jumpWall` move.
 *
 * Ready work is promise continuations, `nextTick`, `setImmediate`, and this clock's `yield` and `sleep(0)`. Real I/O (a
 * socket, a file, a child process) is **not** awaited: a test with real sockets waits with `until`, or with the
 * receiver's `next`.
 *
 * @param start.nowMs initial wall clock, Unix milliseconds. Default is 2026-01-01T00:00:00Z.
 * @param start.monotonicMs initial monotonic clock, milliseconds. Default is 0.
 */
export function manualClock(
  start: { readonly nowMs?: number | undefined; readonly monotonicMs?: number | undefined } = {},
): ManualClock {
  let monotonicMs = start.monotonicMs ?? 0
  let wallOffsetMs = (start.nowMs ?? START_MS) - monotonicMs
  const sleepers: Sleeper[] = []
  let yielding = 0
  /** Counts sleeps, wakes and yields. */
  let activity = 0
  let movement: Promise<unknown> = Promise.resolve()

  const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

  const clock: ManualClock = {
    now: () => Math.floor(monotonicMs + wallOffsetMs),
    monotonic: () => monotonicMs,
    async yield() {
      activity += 1
      yielding += 1
      await nextTurn()
      yielding -= 1
    },
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve()
      if (!(ms > 0)) return clock.yield()
      return new Promise((resolve) => {
        const sleeper: Sleeper = {
          dueMs: monotonicMs + ms,
          wake() {
            const index = sleepers.indexOf(sleeper)
            if (index >= 0) sleepers.splice(index, 1)
            signal?.removeEventListener('abort', sleeper.wake)
            activity += 1
            resolve()
          },
        }
        sleepers.splice(insertionIndex(sleepers, sleeper.dueMs), 0, sleeper)
        if (signal) {
          setMaxListeners(0, signal)
          signal.addEventListener('abort', sleeper.wake, { once: true })
        }
        activity += 1
      })
    },
    advance(ms) {
      if (!(ms >= 0 && ms < Infinity)) {
        throw new RangeError(`advance requires a number of milliseconds of at least 0, not ${ms}`)
      }
      return serialize(async () => {
        const endMs = monotonicMs + ms
        await settle()
        while (await wakeNext(endMs)) {}
        monotonicMs = endMs
        await settle()
      })
    },
    jumpWall(ms) {
      if (!Number.isFinite(ms)) throw new RangeError(`jumpWall requires a number of milliseconds, not ${ms}`)
      wallOffsetMs += ms
    },
    sleepers: () => ({ count: sleepers.length, nextDueMs: sleepers[0]?.dueMs }),
    settle: () => serialize(settle),
    runUntil(predicate, { limitMs = 86_400_000 } = {}) {
      return serialize(async () => {
        const startMs = monotonicMs
        await settle()
        while (!(await predicate())) {
          if (sleepers.length === 0) {
            throw new Error(
              `no sleeper is left after ${monotonicMs - startMs} ms, and the condition does not hold`,
            )
          }
          if (!(await wakeNext(startMs + limitMs))) {
            throw new Error(`the condition did not hold within ${limitMs} ms of virtual time`)
          }
        }
        return monotonicMs - startMs
      })
    },
  }
  return clock

  /** Runs movements one at a time: the order of wakes must not depend on a race of two movements. */
  function serialize<T>(move: () => Promise<T>): Promise<T> {
    const result = movement.then(move)
    movement = result.catch(() => undefined)
    return result
  }

  /** Wakes the first sleeper if it is due by `endMs`, then runs all ready work. Resolves to whether it woke one. */
  async function wakeNext(endMs: number): Promise<boolean> {
    const next = sleepers[0]
    if (!next || next.dueMs > endMs) return false
    monotonicMs = Math.max(monotonicMs, next.dueMs)
    next.wake()
    await settle()
    return true
  }

  async function settle(): Promise<void> {
    let lastActivity = activity
    for (let turns = 0, idle = 0; idle < IDLE_TURNS; turns += 1) {
      if (turns > MAX_TURNS) {
        throw new Error(
          `work did not settle after ${MAX_TURNS} turns at ${monotonicMs} ms: something yields in a loop`,
        )
      }
      await nextTurn()
      idle = activity === lastActivity && yielding === 0 ? idle + 1 : 0
      lastActivity = activity
    }
  }
}

/** Index for a sleeper due at `dueMs`: after all that are due by then. */
function insertionIndex(sleepers: readonly Sleeper[], dueMs: number): number {
  let low = 0
  let high = sleepers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sleepers[middle]!.dueMs <= dueMs) low = middle + 1
    else high = middle
  }
  return low
}
