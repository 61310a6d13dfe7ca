import type { Clock } from '../../ports.js'

/** Counts work in progress, and waits until it has ended. */
interface WaitGroup {
  readonly count: number
  /** Adds to the count; negative when work has ended. */
  add(count: number): void
  /** Resolves when the count is 0. */
  wait(): Promise<void>
}

export function createWaitGroup(): WaitGroup {
  let count = 0
  let waiters: (() => void)[] = []
  return {
    get count() {
      return count
    },
    add(change) {
      count += change
      if (count > 0) return
      for (const resolve of waiters) resolve()
      waiters = []
    },
    wait: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiters.push(resolve))),
  }
}

/** Waits until `work` settles, at most `ms` milliseconds; does not stop the work. Never rejects. */
export async function waitAtMost(
  ms: number,
  clock: Pick<Clock, 'sleep'>,
  work: Promise<unknown>,
): Promise<void> {
  const settled = new AbortController()
  const stopWaiting = () => settled.abort()
  work.then(stopWaiting, stopWaiting)
  await clock.sleep(ms, settled.signal)
}
