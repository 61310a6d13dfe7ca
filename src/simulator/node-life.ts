import { setMaxListeners } from 'node:events'
import type { Clock } from 'hookswitch'
import type { RunQueue } from './run-queue.js'

/** One life of a simulated process, from its start to its crash or close: its clocks, and the gate for everything from outside. */
export interface NodeLife {
  /** Number of the node: 1, 2, … */
  readonly node: number
  /** Number of this life of the node: 1, 2, … */
  readonly generation: number
  /** `node.generation`, for instance `2.1`. */
  readonly name: string
  /** The process's clocks, with their errors. */
  readonly clock: Clock
  /** False once it has crashed or closed. */
  isAlive(): boolean
  /** Whether the process is paused. */
  isPaused(): boolean
  /**
   * Runs a callback from outside (a response, a timer, a notification): now, when the process resumes, or never if it is
   * dead.
   */
  deliver(run: () => void): void
  /** Ends the process: cancels its timers and drops whatever is delivered later. */
  kill(): void
  /** Pauses the process. Its clocks go on; `isFrozen` also stops the monotonic one, as in a suspended machine. */
  pause(isFrozen: boolean): void
  /** Ends a pause: runs everything that was delivered meanwhile, each in its own task. */
  resume(): void
  /** Changes its wall clock by `ms`. */
  jumpWall(ms: number): void
  /** Number of pending sleeps. */
  sleepers(): number
}

/** The error of a process's clocks. */
export interface ClockErrors {
  /** Offset of the wall clock, ms ahead of true time. */
  readonly aheadMs: number
  /** Relative speed error of both clocks: 0.0001 is 100 ppm fast. */
  readonly drift: number
}

/** Precision of a sleep, ms. */
const PRECISION_MS = 0.001

/** @param startMs wall clock at moment 0 of the run, Unix ms */
export function createNodeLife(
  queue: RunQueue,
  startMs: number,
  ids: { readonly node: number; readonly generation: number },
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
      let cancelTimer = () => {}
      // An abort signal that depends on others lives as long as it has a listener.
      const cancel = () => {
        cancelTimer()
        signal?.removeEventListener('abort', end)
      }
      const sleeper = { cancel }
      const end = () => {
        cancel()
        asleep.delete(sleeper)
        resolve()
      }
      const arm = (leftMs: number) => {
        const lastsMs = leftMs / rate
        // So short that rounding leaves the time as it is: its caller would sleep again forever.
        const isLost = lastsMs > 0 && queue.now() + lastsMs === queue.now()
        cancelTimer = queue.after(isLost ? PRECISION_MS : lastsMs, () => deliver(wake)).cancel
      }
      const wake = () => {
        // Time while the clock was frozen extends the sleep.
        const leftMs = dueMs - monotonic()
        if (leftMs > PRECISION_MS) arm(leftMs)
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
    name: `${ids.node}.${ids.generation}`,
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
      // One task each, as an event loop processes what arrived during the pause.
      for (const run of runs) queue.after(0, () => deliver(run))
    },
    jumpWall(ms) {
      aheadMs += ms
    },
    sleepers: () => asleep.size,
  }
}
