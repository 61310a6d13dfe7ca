/**
 * The oracle's own state of deliveries and leases, tracked from the store operations that were executed. Written without
 * the service's lifecycle table.
 */

export type TrackedDeliveryState =
  | 'waiting'
  | 'in_flight'
  | 'delivered'
  | 'exhausted'
  | 'expired'
  | 'cancelled'
  | 'quarantined'

export interface TrackedDelivery {
  readonly id: string
  readonly webhook: string
  readonly call: string
  readonly lane: string
  /** Epoch of the webhook at accept. */
  readonly epoch: number
  readonly acceptedMs: number
  /** Whether its lane was empty at accept. */
  readonly isHead: boolean
  state: TrackedDeliveryState
  /** Attempts recorded. */
  attempts: number
  /** Tries that were charged. */
  charged: number
  /** Due time: store time, ms. */
  dueMs: number
  /** Its webhook and position. */
  readonly key: string
  /** The node that started it last. */
  owner: string
  /** The stored start that this was: lease and key. */
  start: string
  /** Whether its node has sent the attempt of the last start. */
  isSent: boolean
  /**
   * The group of the last start has accepted it, with a result after which earlier deliveries of its lane have to be read
   * before it is sent.
   */
  isStartedAfterGap: boolean
  /** Time of the last start: true time, ms. */
  startedMs: number
  /** Time of the last start: store time as its node knew it, ms. */
  startedStoreMs: number
  /** When its last settlement was written: true time, ms. */
  settledMs: number
  /** When it failed first, as its node says: store time, ms. */
  failedStoreMs: number | undefined
  /** Later ones of its lane have been sent because it failed. */
  isOvertaken: boolean
  /** Its last settlement was that of a probe that found that no connection can be made. */
  wasCheck: boolean
  /** The last attempt was sent while an earlier delivery of its lane had not ended. */
  isOutOfOrder: boolean
  /** An attempt was sent in this way. */
  hasOvertaken: boolean
  endedMs: number
  /** When a success was recorded. */
  successMs: number
}

export interface TrackedLease {
  /** The term that was granted last. */
  readonly fence: number
  /** Store time, ms. */
  aliveUntilMs: number
  isReleased: boolean
  readonly shards: number
  /** Since when it was renewed in time without losing a shard: true time, ms. */
  readonly sinceMs: number
}

/** The pause of a webhook, as far as settlements tell. */
export interface TrackedEndpoint {
  /** The kind of the pause; `undefined`: it is not paused. */
  pause: 'unavailable' | 'rejected' | undefined
  /** The first failure of its receiver since its last success: store time, ms. */
  failingSinceMs: number | undefined
  /** Its owner may have ended the pause. */
  isUncertain: boolean
  /** Nothing is sent before this: store time, ms. */
  pausedUntilMs: number
  /** When this was written: true time, ms. */
  writtenMs: number
  /** When the pause began: true time, ms. */
  pausedSinceMs: number
  /** When it was paused last, perhaps: true time, ms. */
  heldMs: number
  /** When its receiver may have sent `Retry-After` last: true time, ms. */
  askedMs: number
}

export interface TrackedState {
  readonly deliveries: Map<string, TrackedDelivery>
  /** The same by webhook and position. */
  readonly byKey: Map<string, TrackedDelivery>
  /** Pending deliveries by webhook and lane, in order. */
  readonly lanes: Map<string, TrackedDelivery[]>
  /** Deliveries by the lease and the key under which their starts are stored, until those are forgotten. */
  readonly starts: Map<string, readonly TrackedDelivery[]>
  /** Every start so far: node, delivery and attempt. */
  readonly started: Set<string>
  /** Ids of the attempt records that were written. */
  readonly records: Set<string>
  /** Ids of accepted events, without duplicates. */
  readonly events: Set<string>
  /** By owner. */
  readonly leases: Map<string, TrackedLease>
  /** Current epochs of webhooks, where above 1. */
  readonly epochs: Map<string, number>
  /** Failing webhooks: since when, and how many deliveries were exhausted since. */
  readonly health: Map<string, { readonly failingSinceMs: number; readonly exhausted: number }>
  /** By webhook. */
  readonly endpoints: Map<string, TrackedEndpoint>
  /** The last success of each receiver: true time, ms. */
  readonly successes: Map<string, number>
}

export function createTrackedState(): TrackedState {
  return {
    deliveries: new Map(),
    byKey: new Map(),
    lanes: new Map(),
    starts: new Map(),
    started: new Set(),
    records: new Set(),
    events: new Set(),
    leases: new Map(),
    epochs: new Map(),
    health: new Map(),
    endpoints: new Map(),
    successes: new Map(),
  }
}

/** Permitted transitions. */
const TRANSITIONS: Readonly<Record<TrackedDeliveryState, readonly TrackedDeliveryState[]>> = {
  waiting: ['in_flight', 'expired', 'cancelled'],
  in_flight: ['waiting', 'delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'],
  delivered: [],
  exhausted: [],
  expired: [],
  cancelled: [],
  quarantined: [],
}

export const canFollow = (from: TrackedDeliveryState, to: TrackedDeliveryState) =>
  TRANSITIONS[from].includes(to)
export const hasEnded = (state: TrackedDeliveryState) => TRANSITIONS[state].length === 0
