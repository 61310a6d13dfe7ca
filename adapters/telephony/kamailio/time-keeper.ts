/** Ends calls whose time is up also when the stream is silent: the clock goes on where the stream stopped. */
import type { Clock } from 'hookswitch'
import type { Mapped } from '../source/leg-news.js'
import type { KamailioMapping } from './mapping.js'

/**
 * @param take what became of calls whose time was up
 * @returns `heard` is to be called after each line
 */
export function timeKeeper(
  mapping: Pick<KamailioMapping, 'expire' | 'nextDueUs' | 'lastUs'>,
  clock: Clock,
  take: (mapped: Mapped) => void,
): { heard(): void; close(): void } {
  let isClosed = false
  /** The sleep until the next call's time is up, and when that is. */
  let sleep: AbortController | undefined
  let untilUs = Number.POSITIVE_INFINITY
  /** The clock when the stream's newest time came. */
  let heardMs = 0
  let lastUs = 0

  const watch = async () => {
    for (let dueUs = mapping.nextDueUs(); dueUs < Number.POSITIVE_INFINITY; dueUs = mapping.nextDueUs()) {
      sleep = new AbortController()
      untilUs = dueUs
      await clock.sleep(Math.max(1, (dueUs - streamUs()) / 1000), sleep.signal)
      if (isClosed) return
      take(mapping.expire(streamUs()))
    }
    sleep = undefined
    untilUs = Number.POSITIVE_INFINITY
  }
  /** The stream's time now, as if it had gone on with the clock. */
  const streamUs = () => lastUs + Math.max(0, clock.monotonic() - heardMs) * 1000

  return {
    heard() {
      if (mapping.lastUs() !== lastUs) {
        lastUs = mapping.lastUs()
        heardMs = clock.monotonic()
      }
      if (isClosed || mapping.nextDueUs() >= untilUs) return
      if (sleep) sleep.abort()
      else void watch()
    },
    close() {
      isClosed = true
      sleep?.abort()
    },
  }
}
