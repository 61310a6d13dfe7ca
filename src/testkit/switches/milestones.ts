/** What happens to the clients of a fake. */
export type Milestone = 'connected' | 'subscribed' | 'disconnected'

/** How often each has happened, and the means to wait for it. */
export interface Milestones {
  reached(milestone: Milestone): void
  /** Resolves when it has happened `times` times since the fake was made. */
  waitFor(milestone: Milestone, times?: number): Promise<void>
  /** Rejects whoever waits. */
  giveUp(reason: string): void
}

interface Waiter {
  readonly milestone: Milestone
  readonly times: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

export function milestones(): Milestones {
  const counts: Record<Milestone, number> = { connected: 0, subscribed: 0, disconnected: 0 }
  const waiting = new Set<Waiter>()
  return {
    reached(milestone) {
      counts[milestone] += 1
      for (const waiter of waiting) {
        if (waiter.milestone !== milestone || counts[milestone] < waiter.times) continue
        waiting.delete(waiter)
        waiter.resolve()
      }
    },
    waitFor: (milestone, times = 1) =>
      new Promise((resolve, reject) => {
        if (counts[milestone] >= times) return resolve()
        waiting.add({ milestone, times, resolve, reject })
      }),
    giveUp(reason) {
      for (const { milestone, times, reject } of waiting) {
        reject(new Error(`waited for '${milestone}' number ${times} (seen: ${counts[milestone]}): ${reason}`))
      }
      waiting.clear()
    },
  }
}
