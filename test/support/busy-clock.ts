import type { Clock } from '../../src/ports.js'

export interface BusyClock extends Clock {
  /** How often work has yielded. */
  readonly yields: number
}

/** A clock for work that takes long: each look at the monotonic time costs 12 ms, more than a slice. */
export function busyClock(): BusyClock {
  let ms = 0
  let yields = 0
  return {
    now: () => 1_767_225_600_000 + ms,
    monotonic() {
      ms += 12
      return ms
    },
    sleep: async () => {},
    yield() {
      yields += 1
      return new Promise((resolve) => setImmediate(resolve))
    },
    get yields() {
      return yields
    },
  }
}
