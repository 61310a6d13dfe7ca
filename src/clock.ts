import { setMaxListeners } from 'node:events'
import type { Clock } from './ports.js'

/** Node fires a timer with a longer delay at once (`setTimeout`: "when delay is larger than 2147483647"). */
const LONGEST_TIMER_MS = 2_147_483_647

/**
 * The machine's own time: the wall clock is `Date.now`, the monotonic one `performance.now`.
 *
 * A sleep takes at least its milliseconds on the monotonic clock and at least one turn of the event loop, may be
 * longer than the longest timer of Node (about 24.8 days), and holds no process open.
 */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep,
    yield: () => new Promise((resolve) => setImmediate(resolve)),
  }
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = performance.now() + ms
    let timer: NodeJS.Timeout

    const wake = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const arm = (leftMs: number) => {
      const delayMs = leftMs > 0 ? Math.ceil(Math.min(leftMs, LONGEST_TIMER_MS)) : 0
      timer = setTimeout(fire, delayMs).unref()
    }
    // A timer may fire a fraction of a millisecond early: what is left is slept too.
    const fire = () => {
      const leftMs = end - performance.now()
      if (leftMs > 0) arm(leftMs)
      else wake()
    }
    if (signal) {
      // While a store is out all that is to be written waits with one signal: Node would call the eleventh a leak.
      setMaxListeners(0, signal)
      signal.addEventListener('abort', wake, { once: true })
    }
    arm(ms)
  })
}
