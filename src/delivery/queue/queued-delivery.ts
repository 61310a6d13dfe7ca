import type { NewDelivery } from '../delivery-store.js'
import type { BodyEncoding, Delivery } from '../lifecycle.js'
import type { ScheduledEndpoint } from '../scheduler/endpoint-registry.js'
import type { InFlightRequest } from '../scheduler/priority.js'
import type { QueueEndpoint } from './queue-endpoint.js'

/** What a queued delivery is made of: a new delivery, or one that was read from the store. */
type DeliverySource = NewDelivery &
  Partial<Pick<Delivery, 'attempts' | 'tries' | 'interruptions' | 'reason' | 'failedMs'>>

/**
 * A delivery whose content is in memory. One object is the entry of the queue, what is in flight and the source
 * of the record. The constructor sets all fields, so that every object has the same hidden class.
 */
export class QueuedDelivery implements Delivery {
  readonly id: string
  readonly accountId: string
  readonly webhookId: string
  readonly eventId: string
  readonly eventAccountId: string
  readonly callId: string | undefined
  readonly hook: string
  readonly eventTimestampMs: number
  readonly variant: number
  readonly encoding: BodyEncoding
  readonly httpVerb: Delivery['httpVerb']
  readonly lane: string
  epoch: number
  /** `in_flight` while it is taken, `waiting` before. The queue does not set the end. */
  state: Delivery['state']
  /** Store time, ms: when a retry, or a delivery that was put back, may be sent. Otherwise see `PendingQueue.position`. */
  dueMs: number | undefined
  attempts: number
  tries: number
  interruptions: number
  reason: string | undefined
  failedMs: number | undefined
  readonly replayOf: string | undefined
  acceptedMs: number
  endedMs: number | undefined

  /** Position: unique among the deliveries of its webhook. */
  position: number
  /** Sequence number of its event; 0: not numbered. */
  sequence: number
  /** The whole body. */
  body: string
  /** W3C Trace Context of its event. */
  traceparent: string | undefined
  /** Its endpoint. */
  endpoint: QueueEndpoint
  /** Index of its entry in the queue; -1: none. Written only by the queue. */
  entry: number
  /** Index among the deliveries that are started; -1: it is not. Written only by the dispatcher. */
  activeIndex: number
  /** The slot of the scheduler that it holds while it is started. */
  slot: InFlightRequest<ScheduledEndpoint> | undefined
  /** The key of its stored start; 0: none. */
  startKey: number
  /** The key of its last start that has ended; 0: none. */
  lastStartKey: number
  /** Its start is stored, and it waits for a slot in which it is sent. */
  isPrefetched: boolean
  /** Its attempt was begun: its start is stored, and its request may have been sent. */
  isSent: boolean
  /** It is in the queue before the group that accepts it is committed (`uncommitted-starts`). */
  isUncommitted: boolean
  /** Its outcome is ignored: it was erased, another node has its shard, or it was not accepted. */
  isAbandoned: boolean

  /** @param acceptedMs store time, ms */
  constructor(
    source: DeliverySource,
    endpoint: QueueEndpoint,
    position: number,
    sequence: number,
    acceptedMs: number,
    body: string,
    traceparent: string | undefined,
  ) {
    this.id = source.id
    this.accountId = source.accountId
    this.webhookId = source.webhookId
    this.eventId = source.eventId
    this.eventAccountId = source.eventAccountId
    this.callId = source.callId
    this.hook = source.hook
    this.eventTimestampMs = source.eventTimestampMs
    this.variant = source.variant
    this.encoding = source.encoding
    this.httpVerb = source.httpVerb
    this.lane = source.lane
    this.epoch = source.epoch
    this.state = 'waiting'
    this.dueMs = undefined
    this.attempts = source.attempts ?? 0
    this.tries = source.tries ?? 0
    this.interruptions = source.interruptions ?? 0
    this.reason = source.reason
    this.failedMs = source.failedMs
    this.replayOf = source.replayOf
    this.acceptedMs = acceptedMs
    this.endedMs = undefined
    this.position = position
    this.sequence = sequence
    this.body = body
    this.traceparent = traceparent
    this.endpoint = endpoint
    this.entry = -1
    this.activeIndex = -1
    this.slot = undefined
    this.startKey = 0
    this.lastStartKey = 0
    this.isPrefetched = false
    this.isSent = false
    this.isUncommitted = false
    this.isAbandoned = false
  }
}
