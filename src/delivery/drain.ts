import type { Clock } from '../ports.js'

/** Resolves when nothing of a changing set of work runs any more. */
export async function allEnded(running: ReadonlySet<Promise<void>>): Promise<void> {
  while (running.size > 0) await Promise.allSettled(running)
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
