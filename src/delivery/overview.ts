/** What operators see of the service as a whole. */

/** The state of the service. */
export interface Overview {
  /** Deliveries that wait or are in flight, on all nodes. */
  readonly pending: number
  /** How long the oldest delivery of this node is due, in milliseconds; 0: none is. */
  readonly oldestDueMs: number
  /** Requests of this node in flight. */
  readonly inFlight: number
  /**
   * Attempts of all nodes in each of the last 60 minutes, oldest first; the last one has just begun. Each node adds
   * its own every 10 s. Absent with the option `statistics: false`.
   */
  readonly attemptsPerMinute?: readonly number[]
  /** Paused webhooks: those that wait for their next try, and those whose next try is due or under way. */
  readonly paused: { readonly waiting: number; readonly probing: number }
  /** Webhooks whose last attempt failed, and that are not paused. */
  readonly failing: number
  /** Accounts that have webhooks that fail or are paused. */
  readonly accountsAffected: number
  /**
   * Failed attempts of all nodes in the last hour by status (`'503'`), or else by their cause; those beyond the 20 most frequent
   * ones under `other`. Absent with the option `statistics: false`.
   */
  readonly causes?: Readonly<Record<string, number>>
  /** Webhooks that the service disabled. */
  readonly disabled: number
  /** True: more than 10,000 webhooks fail or were disabled, and only these are counted. */
  readonly isCapped: boolean
  /** The nodes with a lease, this one included. */
  readonly nodes: readonly {
    /** Opaque name of one run of one process. */
    readonly node: string
    /** Until when it may work without a renewal, in Unix milliseconds. Absent: the store is not shared. */
    readonly aliveUntilMs?: number
    /** Number of its shards, of 64 in all. */
    readonly shards: number
    /** Number of those that it is handing over. */
    readonly leaving: number
  }[]
  /** What the store can do. */
  readonly store: { readonly durable: boolean; readonly sharedBetweenNodes: boolean }
  /** Version of this package. */
  readonly version: string
}
