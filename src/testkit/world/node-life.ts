import { setMaxListeners } from 'node:events'
import type { Clock } from '../../ports.js'
import type { RunQueue } from './run-queue.js'

/** One life of a simulated process: from its start to its crash or its end. */
export interface NodeLife {
  /** Which node: 1, 2, … */
  readonly node: number
  /** Which life of that node: 1, 2, … */
  readonly life: number
  readonly name: string
  readonly clock: Clock
  isAlive(): boolean
  isPaused(): boolean
  /**
   * What comes in from outside (an answer, a timer, a notice): runs now, when the process goes on, or never if it is
   * dead.
   */
  deliver(run: () => void): void
  /** The process is gone: nothing of it goes on, its sleepers are taken away. */
  kill(): void
  /** It stands still; its clocks go on, unless `frozen`: then the monotonic one stands too, as in a suspended machine. */
  pause(isFrozen: boolean): void
  resume(): void
  /** Moves its wall clock. */
  jumpWall(ms: number): void
  /** How many of its sleeps are not over. */
  sleepers(): number
}

/** How far the clocks of a process are from the truth. */
export interface ClockErrors {
  /** Wall clock, ms ahead. */
  readonly aheadMs: number
  /** Both clocks run this much faster than true time: 0.0001 is 100 ppm. */
  readonly drift: number
}

/** @param startMs wall clock at moment 0 of the world, Unix ms */
export function nodeLife(
  queue: RunQueue,
  startMs: number,
  ids: { readonly node: number; readonly life: number },
  errors: ClockErrors,
): NodeLife {
  const rate = 1 + errors.drift
  const asleep = new Set<{ cancel(): void }>()
  let waiting: (() => void)[] = []
  let isAlive = true
  let isPaused = false
  let aheadMs = errors.aheadMs
  let frozenMs = 0
  let frozenSince: number | undefined

  const monotonic = () => ((frozenSince ?? queue.now()) - frozenMs) * rate

  function deliver(run: () => void): void {
    if (!isAlive) return
    if (isPaused) waiting.push(run)
    else run()
  }

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve()
    if (!isAlive) return new Promise(() => {})
    return new Promise((resolve) => {
      const dueMs = monotonic() + ms
      const sleeper = { cancel: () => {} }
      const end = () => {
        sleeper.cancel()
        asleep.delete(sleeper)
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const arm = (leftMs: number) => {
        sleeper.cancel = queue.after(leftMs / rate, () => deliver(wake)).cancel
      }
      const wake = () => {
        // A frozen clock makes every sleep longer.
        const leftMs = dueMs - monotonic()
        if (leftMs > 0.001) arm(leftMs)
        else end()
      }
      asleep.add(sleeper)
      if (signal) {
        setMaxListeners(0, signal)
        signal.addEventListener('abort', end, { once: true })
      }
      arm(ms)
    })
  }

  return {
    ...ids,
    name: `${ids.node}.${ids.life}`,
    clock: {
      now: () => Math.floor(startMs + queue.now() * rate + aheadMs),
      monotonic,
      sleep,
      yield: () => new Promise((resolve) => void queue.after(0, () => deliver(resolve))),
    },
    deliver,
    isAlive: () => isAlive,
    isPaused: () => isPaused,
    kill() {
      isAlive = false
      waiting = []
      for (const { cancel } of asleep) cancel()
      asleep.clear()
    },
    pause(isFrozen) {
      isPaused = true
      if (isFrozen) frozenSince ??= queue.now()
    },
    resume() {
      if (frozenSince !== undefined) frozenMs += queue.now() - frozenSince
      frozenSince = undefined
      isPaused = false
      const runs = waiting
      waiting = []
      // Each in a turn of its own, as an event loop takes up what came meanwhile.
      for (const run of runs) queue.after(0, () => deliver(run))
    },
    jumpWall(ms) {
      aheadMs += ms
    },
    sleepers: () => asleep.size,
  }
}
