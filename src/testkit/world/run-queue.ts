/** Tasks in virtual time: the one thing that moves a simulated world. */
export interface RunQueue {
  /** True time since the start, ms: what no node sees of its own clocks. */
  now(): number
  /** Runs `task` after `ms` milliseconds; tasks of one moment run in the order in which they came. */
  after(ms: number, task: () => void): Task
  sleep(ms: number): Promise<void>
  /**
   * Runs task after task, each when all that the one before made ready has run, until `isOver` holds before a task, or
   * nothing is left to do.
   */
  run(isOver: () => boolean): Promise<void>
  /** While held, no task runs: for code that is loaded in real time. Returns the way to go on. */
  hold(): () => void
  /** How many tasks have run. */
  steps(): number
}

/** A task that may be taken back. */
export interface Task {
  cancel(): void
}

interface Entry extends Task {
  readonly atMs: number
  readonly number: number
  task: (() => void) | undefined
}

/** So many tasks, then the process gets a turn of its own: signals, unhandled rejections. */
const STEPS_OF_A_TURN = 20_000
/** Its `then` is a microtask, without the resource that `queueMicrotask` makes for each. */
const settled = Promise.resolve()

/**
 * An empty queue at moment 0.
 *
 * Between two tasks all promise continuations run to their end, at the price of one `nextTick`: Node runs the ticks
 * that a microtask asks for when no microtask is left (`processTicksAndRejections`). Turns of the event loop, of which
 * a clock that also waits for `setImmediate` needs several, cost ten times as much.
 */
export function runQueue(): RunQueue {
  const heap: Entry[] = []
  let nowMs = 0
  let added = 0
  let cancelled = 0
  let holds = 0
  let steps = 0

  function add(ms: number, task: () => void): Task {
    const entry: Entry = {
      atMs: nowMs + (ms > 0 ? ms : 0),
      number: added++,
      task,
      cancel() {
        if (!entry.task) return
        entry.task = undefined
        cancelled += 1
        if (cancelled > 1000 && cancelled > heap.length / 2) compact()
      },
    }
    lift(entry, heap.length)
    return entry
  }

  function lift(entry: Entry, from: number): void {
    let place = from
    for (let above = (place - 1) >> 1; place > 0 && isBefore(entry, heap[above]!); above = (place - 1) >> 1) {
      heap[place] = heap[above]!
      place = above
    }
    heap[place] = entry
  }

  function sink(entry: Entry): void {
    let place = 0
    for (let below = 1; below < heap.length; below = 2 * place + 1) {
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below += 1
      if (!isBefore(heap[below]!, entry)) break
      heap[place] = heap[below]!
      place = below
    }
    heap[place] = entry
  }

  /** Sleeps that were ended early would otherwise stay until their time. */
  function compact(): void {
    const live = heap.filter(({ task }) => task !== undefined)
    heap.length = 0
    cancelled = 0
    for (const entry of live) lift(entry, heap.length)
  }

  function take(): (() => void) | undefined {
    for (;;) {
      const first = heap[0]
      if (!first) return undefined
      const last = heap.pop()!
      if (heap.length > 0) sink(last)
      const { task } = first
      if (!task) {
        cancelled -= 1
        continue
      }
      first.task = undefined
      nowMs = first.atMs
      return task
    }
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
          if (steps % STEPS_OF_A_TURN === 0) setImmediate(step)
          else void settled.then(next)
        }
        setImmediate(step)
      })
    },
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.number < b.number)
}
