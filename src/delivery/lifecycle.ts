/** Where a delivery stands. The last five are terminal and never change. */
export type DeliveryState =
  | 'waiting'
  | 'in_flight'
  | 'delivered'
  | 'exhausted'
  | 'expired'
  | 'cancelled'
  | 'quarantined'

/** What can happen to a delivery. */
export type DeliveryStep =
  /** A node takes it to send it. */
  | 'claimed'
  /** A 2xx. */
  | 'succeeded'
  /** A charged failure with tries left. */
  | 'failed'
  /** A charged failure without tries left, or one that its policy does not repeat. */
  | 'spent'
  /** The node that had it is gone, or gave it back; or a fault of ours. */
  | 'returned'
  /** The third interrupted claim in a row. */
  | 'poisoned'
  /** Older than the webhook's `maxAgeSeconds` at the moment of sending. */
  | 'aged'
  /** The webhook was disabled or deleted. */
  | 'withdrawn'

/**
 * The whole life of a delivery: state × step → state. What is not in the table cannot happen; terminal states
 * have empty rows and never change. A replay is a new delivery.
 */
export const LIFECYCLE: Readonly<
  Record<DeliveryState, Readonly<Partial<Record<DeliveryStep, DeliveryState>>>>
> = Object.freeze({
  waiting: { claimed: 'in_flight', aged: 'expired', withdrawn: 'cancelled' },
  in_flight: {
    succeeded: 'delivered',
    failed: 'waiting',
    spent: 'exhausted',
    returned: 'waiting',
    poisoned: 'quarantined',
    aged: 'expired',
    withdrawn: 'cancelled',
  },
  delivered: {},
  exhausted: {},
  expired: {},
  cancelled: {},
  quarantined: {},
})

/** The state after a step; `undefined` where the step cannot happen. */
export function after(state: DeliveryState, step: DeliveryStep): DeliveryState | undefined {
  return LIFECYCLE[state][step]
}

/** True for the states that never change. */
export function isTerminal(state: DeliveryState): boolean {
  return state !== 'waiting' && state !== 'in_flight'
}

/** How the frozen body travels: chosen at accept, the same on every attempt and replay. */
export type BodyEncoding = 'json' | 'form'

/** One event on its way to one webhook. */
export interface Delivery {
  readonly id: string
  /** The webhook's account: whose data this is. */
  readonly accountId: string
  readonly webhookId: string
  readonly eventId: string
  /** The event's account, the webhook's own or one below it. */
  readonly eventAccountId: string
  readonly callId?: string
  /** Kind of the event, as in the catalogue. */
  readonly hook: string
  /** When the event happened: Unix ms, wall clock. */
  readonly eventTimestampMs: number
  /** Index of the event's body that this webhook gets. */
  readonly variant: number
  readonly encoding: BodyEncoding
  readonly httpVerb: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /**
   * Deliveries of one webhook with the same lane are sent one after the other, in order of acceptance.
   * Event's account and call for `ordering: 'call'`, unique otherwise.
   */
  readonly lane: string
  /** The webhook's epoch when the event matched: an older one than the webhook's is cancelled. */
  readonly epoch: number
  readonly state: DeliveryState
  /** When it may be sent (store time, ms); only heads of a lane that are `waiting` have one. */
  readonly dueMs?: number
  /** Attempts recorded, 0 at first. */
  readonly attempts: number
  /** Attempts charged to the budget of `1 + retries`. */
  readonly tries: number
  /** Claims in a row that ended with the node, not with an outcome. */
  readonly interruptions: number
  /** Raised by every claim; a settlement with another one is refused. */
  readonly fence: number
  /** Why it ended, or why the last attempt failed. */
  readonly reason?: string
  /** The delivery that this one repeats. */
  readonly replayOf?: string
  readonly acceptedMs: number
  readonly endedMs?: number
}
