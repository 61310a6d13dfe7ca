/**
 * Virtual time: a queue of tasks by due time. Running a task is the only thing that advances time.
 */

import { type HeapItem, heapPush, heapRemove } from '../values/heap.js'

export interface RunQueue {
  /** True time since the start, ms; node clocks deviate from it. */
  now(): number
  /** Runs `task` after `ms` milliseconds. Tasks of one moment run in the order in which they were added. */
  after(ms: number, task: () => void): Task
  sleep(ms: number): Promise<void>
  /**
   * Runs tasks until `isOver` returns true before one, or none is left. Each task starts when all promise continuations
   * of the previous one have run.
   */
  run(isOver: () => boolean): Promise<void>
  /** Stops running tasks until the returned function is called: for modules that are loaded in real time. */
  hold(): () => void
  /** Number of tasks that have run. */
  steps(): number
}

interface Task {
  /** Removes the task if it has not run. */
  cancel(): void
}

interface Entry extends HeapItem, Task {
  readonly task: () => void
}

/** After this many tasks the event loop gets a turn, for signals and unhandled rejections. */
const STEPS_PER_TURN = 20_000
/** `then` on a settled promise queues a microtask without the resource object that `queueMicrotask` allocates. */
const settled = Promise.resolve()

/**
 * Creates an empty queue at moment 0.
 *
 * Between two tasks all promise continuations run to their end, at the cost of one `nextTick`: Node runs ticks that a
 * microtask schedules when the microtask queue is empty (`processTicksAndRejections`). Turns of the event loop, of which
 * a clock that also awaits `setImmediate` needs several, cost ten times as much.
 */
export function createRunQueue(): RunQueue {
  const heap: Entry[] = []
  let nowMs = 0
  let added = 0
  let holds = 0
  let steps = 0

  function add(ms: number, task: () => void): Task {
    const entry: Entry = {
      dueMs: nowMs + (ms > 0 ? ms : 0),
      position: added++,
      heapIndex: -1,
      task,
      cancel() {
        if (entry.heapIndex >= 0) heapRemove(heap, entry)
      },
    }
    heapPush(heap, entry)
    return entry
  }

  function take(): (() => void) | undefined {
    const first = heap[0]
    if (!first) return undefined
    heapRemove(heap, first)
    nowMs = first.dueMs
    return first.task
  }

  return {
    now: () => nowMs,
    steps: () => steps,
    after: add,
    sleep: (ms) => new Promise((resolve) => void add(ms, resolve)),
    hold() {
      holds += 1
      let isHeld = true
      return () => {
        if (isHeld) holds -= 1
        isHeld = false
      }
    },
    run(isOver) {
      return new Promise((resolve, reject) => {
        const next = () => process.nextTick(step)
        function step(): void {
          if (holds > 0) {
            setImmediate(step)
            return
          }
          try {
            const task = isOver() ? undefined : take()
            if (!task) {
              resolve()
              return
            }
            steps += 1
            task()
          } catch (thrown) {
            reject(thrown)
            return
          }
          if (steps % STEPS_PER_TURN === 0) setImmediate(step)
          else void settled.then(next)
        }
        setImmediate(step)
      })
    },
  }
}
