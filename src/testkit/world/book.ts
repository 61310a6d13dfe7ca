/**
 * What the oracle keeps of each delivery, from what passed through the doors: a life of its own, written without the
 * core's table.
 */
export type KnownState =
  | 'waiting'
  | 'in_flight'
  | 'delivered'
  | 'exhausted'
  | 'expired'
  | 'cancelled'
  | 'quarantined'

export interface KnownDelivery {
  readonly id: string
  readonly webhook: string
  readonly call: string
  readonly lane: string
  /** Of the webhook, when it was accepted. */
  readonly epoch: number
  /** When, and whether nothing was before it in its lane. */
  readonly acceptedMs: number
  readonly isHead: boolean
  state: KnownState
  /** Attempts recorded, and those of them that were answered, or not, by the receiver. */
  attempts: number
  charged: number
  /** Not to be sent before: store time. */
  dueMs: number
  /** While in flight: who has it. */
  owner: string
  claimedMs: number
  /** The same in store time, as its node told. */
  claimedAtMs: number
  endedMs: number
  /** When a 2xx was recorded. */
  successMs: number
}

/** What is known of the lease of a node. */
export interface KnownLease {
  aliveUntilMs: number
  isReleased: boolean
  readonly shards: number
  /** Since when it was renewed in time, and lost no shard: true time. */
  readonly sinceMs: number
}

export interface Book {
  readonly deliveries: Map<string, KnownDelivery>
  /** By lane and webhook: those that have not ended, in order. */
  readonly lanes: Map<string, KnownDelivery[]>
  /** Those that were accepted as new. */
  readonly events: Set<string>
  readonly leases: Map<string, KnownLease>
  /** The newest epoch of a webhook. */
  readonly epochs: Map<string, number>
  /** Webhooks that fail: since when, and how many deliveries were given up since. */
  readonly health: Map<string, { readonly failingSinceMs: number; readonly exhausted: number }>
}

export function newBook(): Book {
  return {
    deliveries: new Map(),
    lanes: new Map(),
    events: new Set(),
    leases: new Map(),
    epochs: new Map(),
    health: new Map(),
  }
}

/** What may follow on what: the oracle's own table. */
const MAY_FOLLOW: Readonly<Record<KnownState, readonly KnownState[]>> = {
  waiting: ['in_flight', 'expired', 'cancelled'],
  in_flight: ['waiting', 'delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'],
  delivered: [],
  exhausted: [],
  expired: [],
  cancelled: [],
  quarantined: [],
}

export const mayFollow = (from: KnownState, to: KnownState) => MAY_FOLLOW[from].includes(to)
export const hasEnded = (state: KnownState) => MAY_FOLLOW[state].length === 0
