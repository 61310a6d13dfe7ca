/** Work that many may wish for, of which one run is under way at a time. */
export interface OneAtATime {
  /** Runs soon; wishes that come before or during a run are one more run together, not one each. */
  soon(): void
  /** Resolves when nothing runs. */
  rest(): Promise<void>
}

/**
 * @param work must not reject
 * @param later when a run that was wished for begins, so that wishes can gather before it; default: next of all
 */
export function oneAtATime(
  work: () => Promise<void>,
  later: (begin: () => void) => void = queueMicrotask,
): OneAtATime {
  let wished = false
  let scheduled = false
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    do {
      wished = false
      await work()
    } while (wished)
  }

  function begin(): void {
    scheduled = false
    running = run().finally(() => {
      running = undefined
      if (wished) soon()
    })
  }

  function soon(): void {
    wished = true
    if (scheduled || running) return
    scheduled = true
    later(begin)
  }

  return {
    soon,
    rest: async () => {
      while (running) await running
    },
  }
}
