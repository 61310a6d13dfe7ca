/**
 * One timer for the deadlines of all requests, with a resolution of 20 ms.
 *
 * A timer per request would cost more than signing the request. Instead, a deadline is put into the bucket of its 20 ms,
 * and the one timer is set to the earliest bucket. A request that ends in time is only removed from its bucket.
 */
export interface Expirable {
  /** Called once when the deadline has passed, unless it was cleared before. Must not throw. */
  expire(): void
}

/** The bucket that a deadline was put into; pass it to `clear`. */
export type TimerBucket = Set<Expirable>

export interface TimerBuckets {
  /** Sets a deadline. `dueMs`: by the monotonic clock, ms. */
  set(item: Expirable, dueMs: number): TimerBucket
  clear(item: Expirable, bucket: TimerBucket): void
  /** Drops all deadlines; nothing expires afterwards. */
  close(): void
}

const STEP_MS = 20
// setTimeout fires immediately above 2^31 - 1 ms
const MAX_DELAY_MS = 2 ** 31 - 1

/** @param now monotonic clock, ms */
export function createTimerBuckets(now: () => number = () => performance.now()): TimerBuckets {
  const buckets = new Map<number, TimerBucket>()
  let timer: NodeJS.Timeout | undefined
  let check: NodeJS.Immediate | undefined
  let armedFor = Number.POSITIVE_INFINITY
  let count = 0

  function arm(step: number): void {
    clearTimeout(timer)
    armedFor = step
    timer = setTimeout(onTimer, Math.min(Math.max(0, Math.ceil(step * STEP_MS - now())), MAX_DELAY_MS))
    if (count === 0) timer.unref()
  }

  // After the process was blocked, responses may wait in the sockets. They are read (poll phase) before deadlines expire
  // (check phase).
  function onTimer(): void {
    timer = undefined
    check = setImmediate(expireDue)
  }

  function expireDue(): void {
    check = undefined
    const current = now() / STEP_MS
    const due: Expirable[] = []
    for (const [step, items] of buckets) {
      if (step > current) continue
      buckets.delete(step)
      due.push(...items)
      items.clear()
    }
    count -= due.length
    for (const item of due) item.expire()
    armedFor = Number.POSITIVE_INFINITY
    let next = Number.POSITIVE_INFINITY
    for (const [step, items] of buckets) {
      if (items.size === 0) buckets.delete(step)
      else next = Math.min(next, step)
    }
    if (next !== Number.POSITIVE_INFINITY) arm(next)
  }

  return {
    set(item, dueMs) {
      const step = Math.ceil(dueMs / STEP_MS)
      const items = buckets.get(step) ?? new Set()
      if (items.size === 0) buckets.set(step, items)
      items.add(item)
      if (count++ === 0) timer?.ref()
      if (step < armedFor) arm(step)
      return items
    },
    clear(item, bucket) {
      if (!bucket.delete(item)) return
      if (--count === 0) timer?.unref()
    },
    close() {
      clearTimeout(timer)
      clearImmediate(check)
      timer = undefined
      check = undefined
      buckets.clear()
      armedFor = Number.POSITIVE_INFINITY
      count = 0
    },
  }
}
