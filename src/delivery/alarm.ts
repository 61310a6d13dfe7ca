import type { Clock } from '../ports.js'

/** One timer, set to one moment. */
export interface Alarm {
  /** Rings at this moment and not at the one set before; `undefined`: at none. */
  set(dueMs: number | undefined): void
}

/** Given as the reason, since an abort without one makes an exception with its stack: most of what setting costs. */
const MOVED = 'set to another moment'

/** @param now the time that moments are in, ms */
export function createAlarm(clock: Clock, now: () => number, ring: () => void): Alarm {
  let armed: { readonly dueMs: number; readonly abort: AbortController } | undefined
  return {
    set(dueMs) {
      if (dueMs === armed?.dueMs) return
      armed?.abort.abort(MOVED)
      armed = undefined
      if (dueMs === undefined) return
      const mine = { dueMs, abort: new AbortController() }
      armed = mine
      void clock.sleep(Math.max(0, dueMs - now()), mine.abort.signal).then(() => {
        if (armed !== mine) return
        armed = undefined
        ring()
      })
    },
  }
}
