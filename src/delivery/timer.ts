import type { Clock } from '../ports.js'

/** A timer for one moment, on an injected clock. */
interface Timer {
  /** Sets the timer to a moment, in place of the previous one; `undefined`: stops it. */
  set(dueMs: number | undefined): void
}

/** The abort reason. Without one, an abort creates an exception with a stack: most of the cost of `set`. */
const MOVED = 'set to another moment'

/** @param now the clock that `dueMs` refers to, ms */
export function createTimer(clock: Clock, now: () => number, onDue: () => void): Timer {
  let armed: { readonly dueMs: number; readonly abort: AbortController } | undefined
  return {
    set(dueMs) {
      if (dueMs === armed?.dueMs) return
      armed?.abort.abort(MOVED)
      armed = undefined
      if (dueMs === undefined) return
      const current = { dueMs, abort: new AbortController() }
      armed = current
      void clock.sleep(Math.max(0, dueMs - now()), current.abort.signal).then(() => {
        if (armed !== current) return
        armed = undefined
        onDue()
      })
    },
  }
}
