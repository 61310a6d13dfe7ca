/**
 * Theory of operation of the memory store.
 *
 * Every method is one synchronous run over this state, so it is atomic and needs no locks. A method that can reject
 * checks everything first and writes afterwards.
 *
 * Ownership: `rows` has every delivery by id; an `Endpoint` (a webhook as a receiver) owns its deliveries by position, its
 * lanes and its attempts; a `Shard` has its owner, its handoffs and the starts of earlier owners; a `Node` has its lease,
 * its starts and the changes of others. A `Row` is one object from its acceptance until retention removes it; its
 * state changes in place, and readers get copies.
 *
 * Invariants:
 * - A waiting delivery in an ordered lane is linked between its neighbours there, in lane order; `Endpoint.lanes` has the
 *   last one. A delivery that has ended is in no lane.
 * - An attempt record belongs to a stored delivery. An ended delivery is in exactly one of `Endpoint.delivered`,
 *   `deliveredWithoutRecords` and `otherEnds`, and leaves with all its records.
 * - Originals are marked by their replays: `Endpoint.replays` has every stored replay of the webhook.
 * - An event lives as long as a delivery of it. One without deliveries is remembered for a while, so that a repeated group
 *   finds its number.
 * - Fences are unique over all nodes, so a lease that has ended never matches again.
 *
 * A crash leaves nothing: the state ends with the process (`durable: false`). When a node of a shared store ends
 * without `release`, the first other node that finds its lease expired frees its shards and leaves its starts there.
 */

import type { AttemptRecord } from '../../delivery/attempt-record.js'
import { fillIn } from '../../delivery/body-variants.js'
import type { NewDelivery, NewEvent } from '../../delivery/delivery-store.js'
import type { DeliveryState } from '../../delivery/lifecycle.js'
import type { DeliveryKey, Start } from '../../delivery/queue-store.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { CallNumbers, StoredEventFact, StoredKey } from '../engine/acceptance.js'
import { SHARDS, shardOf } from '../shards.js'
import { createPositionLog, type PositionLog } from './position-log.js'

const NO_BODIES: readonly string[] = []

function bodiesOf({ bodies }: NewEvent, sequence: number): readonly string[] {
  return bodies.length === 1 ? [fillIn(bodies[0]!, sequence)] : bodies.map((body) => fillIn(body, sequence))
}

/** An accepted event. */
export class StoredEvent implements StoredEventFact {
  readonly id: string
  readonly accountId: string
  readonly callId: string | undefined
  readonly hook: string
  /** That of its first deliveries. */
  readonly position: number
  readonly sequence: number
  readonly bodies: readonly string[]
  readonly traceparent: string | undefined
  /** Number of stored deliveries. */
  rows = 0

  constructor(event: NewEvent, sequence: number, hasDeliveries: boolean) {
    this.id = event.id
    this.accountId = event.accountId
    this.callId = event.callId
    this.hook = event.hook
    this.position = event.position!
    this.sequence = sequence
    this.bodies = hasDeliveries ? bodiesOf(event, sequence) : NO_BODIES
    this.traceparent = hasDeliveries ? event.traceparent : undefined
  }

  get variants(): number {
    return this.bodies.length
  }
}

/** A point in time, shared by everything that one group writes: a number in each row would be an object of its own. */
export interface Moment {
  /** Store time, ms. */
  readonly ms: number
}

/** A stored attempt record. */
interface StoredRecord {
  /** Its position in `Endpoint.attempts`. */
  readonly position: number
  readonly record: AttemptRecord
}

/** A delivery with its state and its links. */
export class Row {
  /** As it was accepted. */
  readonly source: NewDelivery
  readonly event: StoredEvent
  readonly endpoint: Endpoint
  /** Its call in the webhook's account. */
  readonly call: Call | undefined
  /** Grows in order of acceptance. */
  readonly ordinal: number
  readonly accepted: Moment
  state: DeliveryState = 'waiting'
  /** When its next retry is due. */
  due: Moment | undefined = undefined
  ended: Moment | undefined = undefined
  attempts = 0
  tries = 0
  interruptions = 0
  reason: string | undefined = undefined
  /** Its first failure. */
  failed: Moment | undefined = undefined
  /** Its newest attempt record, if it is stored, and its position in `Endpoint.attempts`. */
  record: AttemptRecord | undefined = undefined
  recordPosition = 0
  /** Its older records, oldest first. */
  olderRecords: StoredRecord[] | undefined = undefined
  /** False: it was removed. Handoffs may still refer to it. */
  isStored = true
  /** Its neighbours in its lane, while it waits. */
  laneBefore: Row | undefined = undefined
  laneAfter: Row | undefined = undefined

  constructor(
    source: NewDelivery,
    event: StoredEvent,
    endpoint: Endpoint,
    call: Call | undefined,
    ordinal: number,
    accepted: Moment,
  ) {
    this.source = source
    this.event = event
    this.endpoint = endpoint
    this.call = call
    this.ordinal = ordinal
    this.accepted = accepted
  }

  get position(): number {
    return this.source.position!
  }

  /** Its order in its lane; 0: that is its position. Replays are in the order of their request, over all calls. */
  get sequence(): number {
    return this.source.replayOf === undefined ? this.event.sequence : 0
  }

  get epoch(): number {
    return this.source.epoch
  }

  /** Number of its stored records. */
  get recordCount(): number {
    return (this.record === undefined ? 0 : 1) + (this.olderRecords?.length ?? 0)
  }

  /** The record at this position of `Endpoint.attempts`. */
  recordAt(position: number): AttemptRecord {
    if (position === this.recordPosition) return this.record!
    return this.olderRecords!.find((older) => older.position === position)!.record
  }
}

/** A webhook and its deliveries. */
export interface Endpoint {
  webhook: Webhook
  /** Grows in order of insertion. */
  readonly ordinal: number
  readonly shard: number
  /** The last waiting delivery of each ordered lane. */
  readonly lanes: Map<string, Row>
  waitingCount: number
  /** All deliveries, waiting or ended, by position. */
  readonly deliveries: PositionLog<Row>
  /** The delivery of each attempt record, once per record. */
  readonly attempts: PositionLog<Row>
  /** Deliveries that were delivered and are no replays, by position: those with attempt records. */
  readonly delivered: PositionLog<Row>
  /** Number of their records. */
  deliveredAttempts: number
  /** The same without records. */
  readonly deliveredWithoutRecords: PositionLog<Row>
  /** Deliveries that ended otherwise, and replays that ended, by position. */
  readonly otherEnds: PositionLog<Row>
  /** Replays, lowest position first, by the position of their original. Undefined: there are none. */
  replays: Map<number, Row[]> | undefined
}

/** One node, as long as it has a lease, and for a while after. */
export interface Node {
  readonly owner: string
  /** 0: it has no lease. */
  fence: number
  /** Number of the node; -1 without a lease. */
  number: number
  aliveUntilMs: number
  version: number
  /** What others changed, by version; none up to `changesFrom`. */
  changes: Change[]
  changesFrom: number
  /** By key. No map: a map that changes all the time keeps what was in it alive until a full garbage collection. */
  starts: PositionLog<readonly Start[]>
  /** As it reported last. */
  pending: number
}

/** A webhook that was edited, or a delivery that was removed. */
type Change =
  | { readonly version: number; readonly webhookId: string }
  | { readonly version: number; readonly removed: DeliveryKey }

interface Shard {
  owner: Node | undefined
  /** The owner should hand it over. */
  leaving: boolean
  /** Deliveries that were accepted for whoever owns it. */
  handoffs: Row[]
  /** Starts of earlier owners. */
  left: Start[]
}

/** A call of one account: its last sequence number and its legs. */
export interface Call extends CallNumbers {
  readonly accountId: string
  readonly callId: string
  lastMs: number
  /** Call ids of the other legs, in the order in which they appeared. */
  others: Set<string> | undefined
  /** Number of stored deliveries of this call. */
  rows: number
}

export interface IdempotencyKey extends StoredKey {
  readonly callId: string | undefined
}

interface Limits {
  readonly attemptsPerWebhook: number
  readonly attemptsInAll: number
}

/** All webhooks, deliveries and nodes of a memory store. */
export interface State {
  readonly limits: Limits
  readonly isShared: boolean
  readonly shards: readonly Shard[]
  readonly nodes: Map<string, Node>
  readonly endpoints: Map<string, Endpoint>
  /** Endpoints of webhooks that are not deleted, by account, then hook. */
  readonly liveByHook: Map<string, Map<string, Set<Endpoint>>>
  /** The same by account, sorted by name, then id: of accounts with a page that was read. */
  readonly liveByName: Map<string, Endpoint[]>
  /** All endpoints by account; an account can read the attempts of deleted webhooks too. */
  readonly endpointsByAccount: Map<string, Endpoint[]>
  /** By delivery id, in order of acceptance. */
  readonly rows: Map<string, Row>
  readonly events: Map<string, StoredEvent>
  /** Events without deliveries, oldest first from `unmatchedStart` on. */
  unmatchedEvents: StoredEvent[]
  unmatchedStart: number
  /** By account, then call. */
  readonly calls: Map<string, Map<string, Call>>
  /** The order in which `pruneCalls` examines calls. */
  readonly callQueue: PositionLog<Call>
  /** By account, then key. */
  readonly keys: Map<string, Map<string, IdempotencyKey>>
  readonly keyQueue: PositionLog<{
    readonly accountId: string
    readonly key: string
    readonly untilMs: number
  }>
  /** Over all endpoints. */
  attemptCount: number
  /** Ended deliveries over all endpoints, except those of `Endpoint.delivered`: their records count. */
  endCount: number
  /** About how many bytes events, deliveries and attempt records take. */
  historyBytes: number
  readonly listeners: Set<() => void>
  /** Number of handoffs that were ever left: whether a group left some. */
  handoffCount: number
  lastFence: number
  lastNodeNumber: number
  lastOrdinal: number
  /** The highest position of an event or a delivery. */
  lastPosition: number
}

export function newState(limits: Limits, isShared: boolean): State {
  const shard = (): Shard => ({ owner: undefined, leaving: false, handoffs: [], left: [] })
  return {
    limits,
    isShared,
    shards: Array.from({ length: SHARDS }, shard),
    nodes: new Map(),
    endpoints: new Map(),
    liveByHook: new Map(),
    liveByName: new Map(),
    endpointsByAccount: new Map(),
    rows: new Map(),
    events: new Map(),
    unmatchedEvents: [],
    unmatchedStart: 0,
    calls: new Map(),
    callQueue: createPositionLog(),
    keys: new Map(),
    keyQueue: createPositionLog(),
    attemptCount: 0,
    endCount: 0,
    historyBytes: 0,
    listeners: new Set(),
    handoffCount: 0,
    lastFence: 0,
    lastNodeNumber: -1,
    lastOrdinal: 0,
    lastPosition: 0,
  }
}

export function newEndpoint(state: State, webhook: Webhook): Endpoint {
  return {
    webhook,
    ordinal: nextOrdinal(state),
    shard: shardOf(webhook.id),
    lanes: new Map(),
    waitingCount: 0,
    deliveries: createPositionLog(),
    attempts: createPositionLog(),
    delivered: createPositionLog(),
    deliveredAttempts: 0,
    deliveredWithoutRecords: createPositionLog(),
    otherEnds: createPositionLog(),
    replays: undefined,
  }
}

/** The next store-wide ordinal: orders everything that is written, except deliveries, which have positions. */
export function nextOrdinal(state: State): number {
  state.lastOrdinal += 1
  return state.lastOrdinal
}

/** The inner map of a key, created if absent. */
export function innerMap<A, B, T>(outer: Map<A, Map<B, T>>, key: A): Map<B, T> {
  let map = outer.get(key)
  if (!map) {
    map = new Map()
    outer.set(key, map)
  }
  return map
}

/** Deletes an entry of an inner map, and the inner map with its last entry. */
export function deleteInner<A, B, T>(outer: Map<A, Map<B, T>>, key: A, innerKey: B): void {
  const map = outer.get(key)
  if (map?.delete(innerKey) && map.size === 0) outer.delete(key)
}
