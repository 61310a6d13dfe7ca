/** A change of a client's connection to a fake. */
export type Milestone = 'connected' | 'subscribed' | 'disconnected'

/** Counts milestones, and lets tests wait for them. */
interface Milestones {
  record(milestone: Milestone): void
  /** Resolves when the milestone has occurred `times` times (default 1) since the fake was created. */
  waitFor(milestone: Milestone, times?: number): Promise<void>
  /** Rejects all pending `waitFor`. */
  rejectAll(reason: string): void
}

interface Waiter {
  readonly milestone: Milestone
  readonly times: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

export function createMilestones(): Milestones {
  const counts: Record<Milestone, number> = { connected: 0, subscribed: 0, disconnected: 0 }
  const waiters = new Set<Waiter>()
  return {
    record(milestone) {
      counts[milestone] += 1
      for (const waiter of waiters) {
        if (waiter.milestone !== milestone || counts[milestone] < waiter.times) continue
        waiters.delete(waiter)
        waiter.resolve()
      }
    },
    waitFor: (milestone, times = 1) =>
      new Promise((resolve, reject) => {
        if (counts[milestone] >= times) return resolve()
        waiters.add({ milestone, times, resolve, reject })
      }),
    rejectAll(reason) {
      for (const { milestone, times, reject } of waiters) {
        reject(new Error(`waited for '${milestone}' number ${times} (seen: ${counts[milestone]}): ${reason}`))
      }
      waiters.clear()
    },
  }
}
