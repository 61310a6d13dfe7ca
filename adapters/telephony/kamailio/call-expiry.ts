/**
 * Ends overdue calls while no lines arrive: the mapping's time is the time of the lines, and this timer extends it by the
 * local clock.
 */
import type { Clock } from 'hookswitch'
import type { MappedBatch } from '../source/mapped-events.js'
import type { KamailioMapping } from './mapping.js'

/** The timer of one mapping. */
interface CallExpiry {
  /** To be called after each mapped line. */
  onLine(): void
  close(): void
}

/** @param onExpired called with the ends of overdue calls */
export function createCallExpiry(
  mapping: Pick<KamailioMapping, 'expire' | 'nextDueUs' | 'lastUs'>,
  clock: Clock,
  onExpired: (batch: MappedBatch) => void,
): CallExpiry {
  let isClosed = false
  /** The sleep until the next call is due, and that time. */
  let sleep: AbortController | undefined
  let sleepUntilUs = Number.POSITIVE_INFINITY
  /** The newest time of the stream, and the local clock when it arrived. */
  let lastUs = 0
  let lastLineMs = 0

  const run = async () => {
    for (let dueUs = mapping.nextDueUs(); dueUs < Number.POSITIVE_INFINITY; dueUs = mapping.nextDueUs()) {
      sleep = new AbortController()
      sleepUntilUs = dueUs
      await clock.sleep(Math.max(1, (dueUs - streamTimeUs()) / 1000), sleep.signal)
      if (isClosed) return
      onExpired(mapping.expire(streamTimeUs()))
    }
    sleep = undefined
    sleepUntilUs = Number.POSITIVE_INFINITY
  }
  /** The stream's time now: its newest time plus the local time that has passed since. */
  const streamTimeUs = () => lastUs + Math.max(0, clock.monotonic() - lastLineMs) * 1000

  return {
    onLine() {
      if (mapping.lastUs() !== lastUs) {
        lastUs = mapping.lastUs()
        lastLineMs = clock.monotonic()
      }
      if (isClosed || mapping.nextDueUs() >= sleepUntilUs) return
      if (sleep) sleep.abort()
      else void run()
    },
    close() {
      isClosed = true
      sleep?.abort()
    },
  }
}
