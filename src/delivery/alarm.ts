import type { Clock } from '../ports.js'

/** One timer, set to one moment. */
export interface Alarm {
  /** Rings at this moment and not at the one set before; `undefined`: at none. */
  set(dueMs: number | undefined): void
}

/** @param now the time that moments are in, ms */
export function createAlarm(clock: Clock, now: () => number, ring: () => void): Alarm {
  let armed: { readonly dueMs: number; readonly abort: AbortController } | undefined
  return {
    set(dueMs) {
      if (dueMs === armed?.dueMs) return
      armed?.abort.abort()
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
