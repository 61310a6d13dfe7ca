/**
 * One timer for the deadlines of all requests, true to 20 ms.
 *
 * A timer of its own for each request costs more than signing it. Here a deadline is put in the bucket of its
 * 20 ms; the one timer is set to the earliest bucket. What ended in time only leaves its bucket.
 */
export interface Expiring {
  /** Called once when the deadline has passed, unless removed before. Must not throw. */
  expire(): void
}

/** A deadline that is set; give it back to `clear`. */
export type Deadline = Set<Expiring>

export interface Deadlines {
  set(item: Expiring, ms: number): Deadline
  clear(item: Expiring, deadline: Deadline): void
  /** Drops everything; nothing expires any more. */
  close(): void
}

const STEP_MS = 20
// setTimeout fires at once above 2^31 - 1 ms
const LONGEST_MS = 2 ** 31 - 1 - STEP_MS

export function createDeadlines(now: () => number = () => performance.now()): Deadlines {
  const buckets = new Map<number, Set<Expiring>>()
  let timer: NodeJS.Timeout | undefined
  let check: NodeJS.Immediate | undefined
  let armedFor = Number.POSITIVE_INFINITY
  let count = 0

  function arm(bucket: number): void {
    clearTimeout(timer)
    armedFor = bucket
    timer = setTimeout(ring, Math.max(0, Math.ceil(bucket * STEP_MS - now())))
    if (count === 0) timer.unref()
  }

  // When the process was blocked, answers wait in the sockets: they are read (poll) before anything expires (check).
  function ring(): void {
    timer = undefined
    check = setImmediate(expireDue)
  }

  function expireDue(): void {
    check = undefined
    const current = now() / STEP_MS
    const due: Expiring[] = []
    for (const [bucket, items] of buckets) {
      if (bucket > current) continue
      buckets.delete(bucket)
      due.push(...items)
      items.clear()
    }
    count -= due.length
    for (const item of due) item.expire()
    armedFor = Number.POSITIVE_INFINITY
    let next = Number.POSITIVE_INFINITY
    for (const [bucket, items] of buckets) {
      if (items.size === 0) buckets.delete(bucket)
      else next = Math.min(next, bucket)
    }
    if (next !== Number.POSITIVE_INFINITY) arm(next)
  }

  return {
    set(item, ms) {
      const bucket = Math.ceil((now() + Math.min(Math.max(ms, 0), LONGEST_MS)) / STEP_MS)
      const items = buckets.get(bucket) ?? new Set()
      if (items.size === 0) buckets.set(bucket, items)
      items.add(item)
      if (count++ === 0) timer?.ref()
      if (bucket < armedFor) arm(bucket)
      return items
    },
    clear(item, deadline) {
      if (!deadline.delete(item)) return
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
