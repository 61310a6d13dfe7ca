import { setMaxListeners } from 'node:events'
import type { Clock } from '../ports.js'

/** Node fires a timer with a longer delay at once (`setTimeout`: "when delay is larger than 2147483647"). */
const LONGEST_TIMER_MS = 2_147_483_647

/**
 * The machine's clocks: `Date.now` for the wall clock, `performance.now` for the monotonic one.
 *
 * A sleep takes at least the given milliseconds of the monotonic clock and at least one turn of the event loop. It may
 * exceed Node's longest timer (about 24.8 days) and does not keep the process alive.
 */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep,
    yield: () => new Promise((resolve) => setImmediate(resolve)),
  }
}

/** Keeps the process alive until the returned function is called. */
export function keepAlive(): () => void {
  const timer = setInterval(() => {}, LONGEST_TIMER_MS)
  return () => clearInterval(timer)
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
    // A timer may fire a fraction of a millisecond early; then sleep for the remainder.
    const fire = () => {
      const leftMs = end - performance.now()
      if (leftMs > 0) arm(leftMs)
      else wake()
    }
    if (signal) {
      // During a store outage every pending write sleeps on one signal; Node would report the eleventh listener as a leak.
      setMaxListeners(0, signal)
      signal.addEventListener('abort', wake, { once: true })
    }
    arm(ms)
  })
}
