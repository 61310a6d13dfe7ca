/** A task that runs once for any number of triggers; one run at a time. */
interface CoalescingTask {
  /** Requests a run. Triggers before or during a run share one further run. */
  trigger(): void
  /** Resolves when no run is in progress. */
  idle(): Promise<void>
}

/**
 * @param task must not reject
 * @param schedule calls `begin` after a delay; triggers during the delay share the run. Default: a microtask
 */
export function createCoalescingTask(
  task: () => Promise<void>,
  schedule: (begin: () => void) => void = queueMicrotask,
): CoalescingTask {
  let isTriggered = false
  let isScheduled = false
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    do {
      isTriggered = false
      await task()
    } while (isTriggered)
  }

  function begin(): void {
    isScheduled = false
    running = run().finally(() => {
      running = undefined
      if (isTriggered) trigger()
    })
  }

  function trigger(): void {
    isTriggered = true
    if (isScheduled || running) return
    isScheduled = true
    schedule(begin)
  }

  return {
    trigger,
    idle: async () => {
      while (running) await running
    },
  }
}
