/** The lifecycle of a delivery: its states and the transitions between them, as a table. */

/** The state of a delivery. The last five are terminal: they never change. */
export type DeliveryState = Delivery['state']

/** What can happen to a delivery. */
export type DeliveryStep =
  /** A node is sending it. */
  | 'started'
  /** The receiver answered 2xx. */
  | 'succeeded'
  /** A charged failure with tries left. */
  | 'failed'
  /** A charged failure without tries left, or one that the policy does not retry. */
  | 'retries_exhausted'
  /** Its node crashed, its request was aborted or cancelled, or the attempt failed by an internal fault. */
  | 'returned'
  /** The third interrupted attempt in a row. */
  | 'crash_looped'
  /** Older than the webhook's `maxAgeSeconds` when it is due. */
  | 'expired'
  /** The webhook was disabled or deleted. */
  | 'cancelled'

/**
 * The lifecycle: state × step → state. A step without an entry cannot happen; terminal states have empty
 * rows. A replay is a new delivery.
 *
 * @internal
 */
export const LIFECYCLE: Readonly<
  Record<DeliveryState, Readonly<Partial<Record<DeliveryStep, DeliveryState>>>>
> = Object.freeze({
  waiting: { started: 'in_flight', expired: 'expired', cancelled: 'cancelled' },
  in_flight: {
    succeeded: 'delivered',
    failed: 'waiting',
    retries_exhausted: 'exhausted',
    returned: 'waiting',
    crash_looped: 'quarantined',
    expired: 'expired',
    cancelled: 'cancelled',
  },
  delivered: {},
  exhausted: {},
  expired: {},
  cancelled: {},
  quarantined: {},
})

/** All states of deliveries. */
export const DELIVERY_STATES = Object.keys(LIFECYCLE) as readonly DeliveryState[]

/** The state after a step; `undefined`: the step cannot happen in this state. */
export function transition(state: DeliveryState, step: DeliveryStep): DeliveryState | undefined {
  return LIFECYCLE[state][step]
}

/** Whether a state is terminal: it never changes. */
export function isTerminal(state: DeliveryState): boolean {
  return state !== 'waiting' && state !== 'in_flight'
}

/** The encoding of the frozen body: chosen at accept, the same on every attempt and replay. */
export type BodyEncoding = Delivery['encoding']

/** One event for one webhook, with its state. */
export interface Delivery {
  /** Id of the delivery: the header `webhook-id` of its requests (Standard Webhooks 1.0.0). */
  readonly id: string
  /** The webhook's account, which owns this row. */
  readonly accountId: string
  /** Id of the webhook. */
  readonly webhookId: string
  /** Id of the event. */
  readonly eventId: string
  /** The event's account: the webhook's, or one below it. */
  readonly eventAccountId: string
  /** Id of the call leg of the event. */
  readonly callId?: string | undefined
  /** Kind of the event, as in the catalogue. */
  readonly hook: string
  /** When the event happened: wall clock, Unix ms. */
  readonly eventTimestampMs: number
  /** Index of this webhook's body among the bodies of the event. */
  readonly variant: number
  /** Encoding of its body. */
  readonly encoding: 'json' | 'form'
  /** HTTP method: the webhook's at accept. */
  readonly httpVerb: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /**
   * Deliveries of one webhook with the same lane are sent one after the other, in order of acceptance.
   * `ordering: 'call'`: one lane per event account and call. Otherwise each delivery has its own lane.
   */
  readonly lane: string
  /**
   * The webhook's epoch at accept. Deliveries of an older epoch than the webhook's current one are cancelled.
   */
  readonly epoch: number
  /** Where it is in its lifecycle. */
  readonly state:
    | 'waiting'
    | 'in_flight'
    | 'delivered'
    | 'exhausted'
    | 'expired'
    | 'cancelled'
    | 'quarantined'
  /** When it may be sent (store time, ms). Only lane heads that are `waiting` have a due time. */
  readonly dueMs?: number | undefined
  /** Attempts recorded, 0 at first. */
  readonly attempts: number
  /** Attempts charged to the budget of `1 + retries`. */
  readonly tries: number
  /** Attempts in a row that ended with a crash of the node, not with an outcome. */
  readonly interruptions: number
  /** Why it ended, or why the last attempt failed. */
  readonly reason?: string | undefined
  /** Store time of its first failure that its receiver had a part in, ms; absent: there was none. */
  readonly failedMs?: number | undefined
  /** Id of the delivery that this one repeats; never that of a replay: a replay of a replay repeats the original. */
  readonly replayOf?: string | undefined
  /** Position of that delivery, which belongs to the same webhook. Present iff `replayOf` is. */
  readonly originalPosition?: number | undefined
  /** When it was accepted: store time, ms. */
  readonly acceptedMs: number
  /** When it reached a terminal state: store time, ms. Absent before. */
  readonly endedMs?: number | undefined
}
