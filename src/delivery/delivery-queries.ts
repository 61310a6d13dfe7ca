/** The read queries of the delivery store. */
import type { AttemptRecord, StoredAttempt } from './attempt-record.js'
import { type Delivery, type DeliveryState, isTerminal } from './lifecycle.js'

/** Selects attempts of one account. All given conditions must hold. */
export interface AttemptQuery {
  /** Only attempts of webhooks of this account. */
  readonly accountId: string
  /** Only attempts of this webhook. Default: all webhooks of the account. */
  readonly webhookId?: string
  /** Only attempts of this delivery. Default: all deliveries. */
  readonly deliveryId?: string
  /** Only attempts for any of these calls. Default: all calls. */
  readonly callIds?: readonly string[]
  /** Only attempts for events of these kinds. Default: all kinds. */
  readonly hooks?: readonly string[]
  /** True: only failures; the cost must not grow with the successes of a webhook. Default false. */
  readonly onlyFailures?: boolean
  /** True: the store may leave out the headers and bodies of requests and responses. Default false. */
  readonly slim?: boolean
  /** Earliest time of the record (`AttemptRecord.atMs`), Unix ms, inclusive. Default: no limit. */
  readonly fromMs?: number
  /** Latest time of the record (`AttemptRecord.atMs`), Unix ms, inclusive. Default: no limit. */
  readonly toMs?: number
  /** Only positions before (descending) or after (ascending) this one. */
  readonly cursor?: number
  /** Only positions down to (descending) or up to (ascending) this one, inclusive. Default: no limit. */
  readonly end?: number
  /** True: oldest first. Default false. */
  readonly ascending?: boolean
  /** Maximum number of attempts to return. */
  readonly limit: number
}

/** Reads the log of attempts onwards from a position. */
export interface AttemptLogQuery {
  /** Only attempts of webhooks of these accounts. */
  readonly accountIds: readonly string[]
  /** Only positions after this one. Absent: no attempt is read, only the position. */
  readonly after?: number
  /** Maximum number of attempts to return. */
  readonly limit: number
}

/** A record of the log. It may lack request and response headers and bodies. */
export interface LoggedAttempt extends AttemptRecord {
  /** As in lists of attempts. */
  readonly position: number
  /** As in lists of attempts. */
  readonly call?: StoredAttempt['call']
}

/** A part of the log of attempts. */
export interface AttemptLogPage {
  /** Lowest position first. */
  readonly attempts: readonly LoggedAttempt[]
  /**
   * Where the next part begins (`after`): the position of the last attempt if there are as many as the limit, otherwise at
   * least that of every record that was stored before the call.
   */
  readonly position: number
}

/** Selects deliveries of one webhook. All given conditions must hold. */
export interface DeliveryQuery {
  /** Account of the webhook; the result is empty when the webhook belongs to another one. */
  readonly accountId: string
  /** Id of the webhook. */
  readonly webhookId: string
  /** Only deliveries in these states, as `effectiveState` returns them. Default: all states. */
  readonly states?: readonly DeliveryState[]
  /** Earliest time of acceptance (`Delivery.acceptedMs`), ms, inclusive. Default: no limit. */
  readonly fromMs?: number
  /** Latest time of acceptance (`Delivery.acceptedMs`), ms, inclusive. Default: no limit. */
  readonly toMs?: number
  /** True: only deliveries that are no replays. Default false. */
  readonly onlyOriginals?: boolean
  /** Only positions before (descending) or after (ascending) this one. */
  readonly cursor?: number
  /** Only positions down to (descending) or up to (ascending) this one, inclusive. Default: no limit. */
  readonly end?: number
  /** True: oldest first. Default false. */
  readonly ascending?: boolean
  /** Maximum number of deliveries to return. */
  readonly limit: number
}

/**
 * Selects ended deliveries of some webhooks that a replay would repeat: never replays or tests. All given conditions must
 * hold.
 */
export interface ReplayableQuery {
  /** Ids of webhooks, at most 1,000; unknown ones have no deliveries. */
  readonly webhookIds: readonly string[]
  /** Only deliveries that ended in these states, as `effectiveState` returns them. */
  readonly states: readonly DeliveryState[]
  /** Earliest time of acceptance (`Delivery.acceptedMs`), ms, inclusive. Default: no limit. */
  readonly fromMs?: number
  /** Latest time of acceptance (`Delivery.acceptedMs`), ms, inclusive. Default: no limit. */
  readonly toMs?: number
  /** Only events of these kinds. Default: all kinds. */
  readonly hooks?: readonly string[]
  /** Only deliveries that ended for exactly this reason (`Delivery.reason`). Default: any. */
  readonly reason?: string
  /** False: without deliveries with a replay that waits, is in flight or was delivered (`DeliveryReplays.hasRecovered`). */
  readonly includeRecovered: boolean
}

/** Selects deliveries of all accounts, newest first. All given conditions must hold. */
export interface DeliverySearch {
  /** Only deliveries to webhooks of this account. Default: all accounts. */
  readonly accountId?: string
  /** Only deliveries to this webhook. Default: all webhooks. */
  readonly webhookId?: string
  /** Only deliveries of events of this call leg. Default: all legs. */
  readonly callId?: string
  /** Only deliveries in these states, as `effectiveState` returns them. Default: all states. */
  readonly states?: readonly DeliveryState[]
  /** Earliest time of acceptance (`Delivery.acceptedMs`), ms, inclusive. Default: no limit. */
  readonly fromMs?: number
  /** Latest time of acceptance (`Delivery.acceptedMs`), ms, inclusive. Default: no limit. */
  readonly toMs?: number
  /** Only positions before this one. */
  readonly cursor?: number
  /** Maximum number of deliveries to return, except that those with the same position as the last one are returned with it. */
  readonly limit: number
}

/** One page of a search. */
export interface FoundDeliveries {
  /** The matching deliveries, newest first; possibly none although more follow. */
  readonly deliveries: readonly StoredDelivery[]
  /** Continue before this position; absent: there are no more. */
  readonly cursor?: number
}

/** A delivery as the store returns it. Waiting deliveries of an older epoch have the state `cancelled`. */
export interface StoredDelivery extends Delivery {
  /** Grows in order of acceptance; the stable cursor of lists. The first deliveries of an event share it. */
  readonly position: number
  /**
   * The number of deliveries of the same lane that must end first. A store that only one process uses may leave it at 0, and
   * give every waiting delivery a due time: the queue of that process knows both.
   */
  readonly ahead: number
  /** Number of its event within the call: 1, 2, … per account of the event; 0: not numbered. */
  readonly sequence: number
  /** The replays of this delivery that are stored. Absent: there are none. */
  readonly replays?: {
    /** Id of the newest one: the one with the highest position. */
    readonly lastId: string
    /** When that was accepted (`Delivery.acceptedMs`), store time, ms. */
    readonly lastAcceptedMs: number
    /** Whether any of them was delivered, is in flight, or waits and is not cancelled by the epoch of its webhook. */
    readonly hasRecovered: boolean
  }
}

/** The replays of one delivery. */
export type DeliveryReplays = NonNullable<StoredDelivery['replays']>

/** What the store has of the deliveries of one webhook. */
export interface EndpointActivity {
  /** Deliveries that wait or are in flight, up to the limit; those of an older epoch are cancelled and do not count. */
  readonly pending: number
  /**
   * Earliest due time of the counted deliveries, store time, ms: of a first attempt the time of acceptance. Absent: there are
   * none.
   */
  readonly oldestDueMs?: number
  /** When the first of the counted deliveries was accepted, store time, ms. Absent: there are none. */
  readonly oldestAcceptedMs?: number
  /** The newest recorded attempt among the newest 1,000 records. Absent: there is none. */
  readonly last?: {
    /** When it was sent, in Unix milliseconds. */
    readonly atMs: number
    /** `success`: the receiver responded 2xx. */
    readonly result: 'success' | 'failure'
    /** HTTP status code of the response. Absent without a response. */
    readonly status?: number
    /** Why it failed (`AttemptRecord.cause`). Absent where that is unknown. */
    readonly cause?: string
  }
}

/** Why a request is sent: a first attempt, a retry after one, a replay, or a test. */
type DeliveryKind = 'first' | 'retry' | 'replay' | 'test'

/** Prefix of the lanes of tests: each has one to itself. */
export const TEST_LANE = 'test/'

/** The kind of a delivery: of its next attempt, or of its last one if it has ended. */
export function deliveryKind({ lane, replayOf, state, attempts }: Delivery): DeliveryKind {
  if (replayOf !== undefined) return 'replay'
  if (lane.startsWith(TEST_LANE)) return 'test'
  const earlier = isTerminal(state) ? attempts - 1 : attempts
  return earlier > 0 ? 'retry' : 'first'
}
