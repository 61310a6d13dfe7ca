import { setMaxListeners } from 'node:events'
import type { Clock } from '../ports.js'

/** 2026-01-01T00:00:00Z. */
const START_MS = 1_767_225_600_000

/** So many turns of the event loop without a sleep, a wake or a yield mean rest. */
const QUIET_TURNS = 5

/** So many turns at one moment of virtual time are no work but a loop that never sleeps. */
const MOST_TURNS = 100_000

/** Time that moves only when a test says so. */
export interface ManualClock extends Clock {
  /**
   * Moves both clocks on by `ms`. Sleepers that become due wake in the order of their due times (those of equal
   * time in the order in which they fell asleep), each at its own moment, and after each one everything that is
   * ready runs before the clock moves on: what it starts and how long that sleeps counts too.
   */
  advance(ms: number): Promise<void>
  /** Moves the wall clock alone, forward or (negative) back, as an administrator or NTP does. Wakes nobody. */
  jumpWall(ms: number): void
  /** How many are asleep, and when (in `monotonic()` milliseconds) the first of them wakes. */
  sleepers(): { readonly count: number; readonly nextDueMs: number | undefined }
  /** Lets everything that is ready run, without moving time. */
  settle(): Promise<void>
  /**
   * Moves from sleeper to sleeper until `predicate` holds, and resolves to the milliseconds that took. The
   * predicate may read what it likes, but must not wait for this clock.
   *
   * @param options.limitMs virtual milliseconds to try for, default one day; then, or when nobody sleeps any more,
   *   it rejects with a sentence that says which
   */
  runUntil(
    predicate: () => boolean | Promise<boolean>,
    options?: { readonly limitMs?: number },
  ): Promise<number>
}

interface Sleeper {
  readonly dueMs: number
  readonly wake: () => void
}

/**
 * A clock for tests and simulations: it stands still until `advance`, `runUntil` or `jumpWall` move it.
 *
 * "Everything that is ready" is promise continuations, `nextTick`, `setImmediate` and this clock's own `yield`
 * and `sleep(0)`. Real input and output (a socket, a file, a child process) is **not** waited for: a test that
 * uses real sockets waits for what it expects with `until`, or for the receiver's `next`.
 *
 * @param start.nowMs wall clock at the start, Unix milliseconds, default 2026-01-01T00:00:00Z
 * @param start.monotonicMs monotonic clock at the start, default 0
 */
export function manualClock(
  start: { readonly nowMs?: number; readonly monotonicMs?: number } = {},
): ManualClock {
  let monotonicMs = start.monotonicMs ?? 0
  let wallAheadMs = (start.nowMs ?? START_MS) - monotonicMs
  const asleep: Sleeper[] = []
  let yielding = 0
  let stirs = 0
  let moving: Promise<unknown> = Promise.resolve()

  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

  const clock: ManualClock = {
    now: () => Math.floor(monotonicMs + wallAheadMs),
    monotonic: () => monotonicMs,
    async yield() {
      stirs += 1
      yielding += 1
      await turn()
      yielding -= 1
    },
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve()
      if (!(ms > 0)) return clock.yield()
      return new Promise((resolve) => {
        const fallen: Sleeper = {
          dueMs: monotonicMs + ms,
          wake() {
            const place = asleep.indexOf(fallen)
            if (place >= 0) asleep.splice(place, 1)
            signal?.removeEventListener('abort', fallen.wake)
            stirs += 1
            resolve()
          },
        }
        asleep.splice(placeOf(asleep, fallen.dueMs), 0, fallen)
        if (signal) {
          setMaxListeners(0, signal)
          signal.addEventListener('abort', fallen.wake, { once: true })
        }
        stirs += 1
      })
    },
    advance(ms) {
      if (!(ms >= 0 && ms < Infinity)) {
        throw new RangeError(`advance takes a number of milliseconds from 0 up, not ${ms}`)
      }
      return inTurn(async () => {
        const endMs = monotonicMs + ms
        await settle()
        while (await wakeNext(endMs)) {}
        monotonicMs = endMs
        await settle()
      })
    },
    jumpWall(ms) {
      if (!Number.isFinite(ms)) throw new RangeError(`jumpWall takes a number of milliseconds, not ${ms}`)
      wallAheadMs += ms
    },
    sleepers: () => ({ count: asleep.length, nextDueMs: asleep[0]?.dueMs }),
    settle: () => inTurn(settle),
    runUntil(predicate, { limitMs = 86_400_000 } = {}) {
      return inTurn(async () => {
        const startMs = monotonicMs
        await settle()
        while (!(await predicate())) {
          if (asleep.length === 0) {
            throw new Error(
              `nobody sleeps any more, ${monotonicMs - startMs} ms in, and the condition does not hold`,
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

  /** Two movements at once would make the order of wakes depend on their race: the second waits for the first. */
  function inTurn<T>(move: () => Promise<T>): Promise<T> {
    const result = moving.then(move)
    moving = result.catch(() => undefined)
    return result
  }

  /** Wakes the first sleeper if it is due by `endMs`, and lets run what that makes ready. */
  async function wakeNext(endMs: number): Promise<boolean> {
    const next = asleep[0]
    if (!next || next.dueMs > endMs) return false
    monotonicMs = Math.max(monotonicMs, next.dueMs)
    next.wake()
    await settle()
    return true
  }

  async function settle(): Promise<void> {
    let seen = stirs
    for (let turns = 0, quiet = 0; quiet < QUIET_TURNS; turns += 1) {
      if (turns > MOST_TURNS) {
        throw new Error(`no rest after ${MOST_TURNS} turns at ${monotonicMs} ms: something yields in a loop`)
      }
      await turn()
      quiet = stirs === seen && yielding === 0 ? quiet + 1 : 0
      seen = stirs
    }
  }
}

/** Where a sleeper due at `dueMs` belongs: behind all that are due by then. */
function placeOf(asleep: readonly Sleeper[], dueMs: number): number {
  let low = 0
  let high = asleep.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (asleep[middle]!.dueMs <= dueMs) low = middle + 1
    else high = middle
  }
  return low
}
