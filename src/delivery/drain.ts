import type { Clock } from '../ports.js'

/** How much of something runs. */
export interface Tally {
  readonly count: number
  add(count: number): void
  /** Resolves when nothing runs. */
  none(): Promise<void>
}

export function createTally(): Tally {
  let count = 0
  let waiting: (() => void)[] = []
  return {
    get count() {
      return count
    },
    add(more) {
      count += more
      if (count > 0) return
      for (const resolve of waiting) resolve()
      waiting = []
    },
    none: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  }
}

/** Waits for work, at most `ms` milliseconds; the work goes on. Never rejects. */
export async function waitAtMost(
  ms: number,
  clock: Pick<Clock, 'sleep'>,
  work: Promise<unknown>,
): Promise<void> {
  const over = new AbortController()
  const end = () => over.abort()
  work.then(end, end)
  await clock.sleep(ms, over.signal)
}
